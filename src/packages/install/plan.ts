/**
 * What an install would do, before anything is done: shown to the operator, who then says yes or no to this very thing.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { DocumentIssue } from "../../core/documents/document_report.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { type InstallRecord, readLocalConfig } from "../../core/project/local_config.ts";
import { verifyTree } from "../../core/files/verify_tree.ts";
import { hashTree } from "../../core/files/tree.ts";
import { type CapabilityDiff, diffCapabilities } from "./capability_diff.ts";
import { type InstallPorts, settleStore, treeLimits } from "./install_ports.ts";
import { type Source, sourceText } from "./source.ts";

/** What is installed now. */
export interface Installed {
  /** Its record. */
  readonly record: InstallRecord;
  /** Its version. */
  readonly version: string;
  /** What it may do: nothing when its files were tampered with. */
  readonly capabilities: readonly string[];
  /** Whether its files are no longer those that were agreed to. */
  readonly isTampered: boolean;
}

/** What an install would do. */
export interface InstallPlan {
  /** Whether the plugin is new, another version, or the very files that are installed. */
  readonly kind: "install" | "upgrade" | "same";
  /** Folder it is copied from. */
  readonly dir: string;
  /** Where that was had. */
  readonly source: Source;
  /** Its manifest. */
  readonly manifest: Manifest;
  /** What is doubtful about the manifest. */
  readonly warnings: readonly DocumentIssue[];
  /** Hash of its files: the yes is pinned to it. */
  readonly hash: string;
  /** Bytes of its files. */
  readonly bytes: number;
  /** What is installed under its name, or null. */
  readonly installed: Installed | null;
  /** What changes in what it may do. */
  readonly diff: CapabilityDiff;
  /** Package it is known by, or null. */
  readonly package: string | null;
}

/** What to plan for. */
export interface PlanRequest {
  /** Folder that holds the plugin. */
  readonly dir: string;
  /** Where that was had. */
  readonly source: Source;
  /** Package it is known by. */
  readonly package?: string | null;
  /** Whether it may take the place of a plugin that came from elsewhere. */
  readonly replace?: boolean;
}

/**
 * Looks at a plugin and at what is installed under its name.
 *
 * @throws {HostError} `install.*`, `manifest.*`, `local.*`, or `install.name_taken` when another plugin has its name.
 */
export async function planInstall(request: PlanRequest, ports: InstallPorts): Promise<InstallPlan> {
  const { files } = ports.runtime;
  const { dir, source, replace = false, package: pkg = null } = request;
  await settleStore(ports);
  if ((await files.target(dir))?.kind !== "directory") {
    throw new HostError("install.source_missing", `There is no folder "${dir}"`, {
      data: { dir },
      hint: "Name the folder that holds kaged-plugin.yaml",
    });
  }
  const root = await files.realPath(dir);
  const { manifest, warnings } = await readManifest(root, files).catch((error) => {
    throw source.kind === "git" && error?.code === "manifest.missing" ? noPluginAt(source.url, error) : error;
  });
  const { hash, bytes } = await hashTree(root, files, treeLimits(ports));
  const installed = await installedNow(manifest.name, ports);
  if (installed && !replace) refuseTaken(installed.record, request, manifest.name);
  return {
    kind: installed === null ? "install" : isWhole(installed, hash) ? "same" : "upgrade",
    dir: root,
    source: source.kind === "path" ? { kind: "path", path: root } : source,
    manifest,
    warnings,
    hash,
    bytes,
    installed,
    diff: diffCapabilities(installed?.capabilities ?? [], manifest.capabilities),
    package: pkg ?? installed?.record.package ?? null,
  };
}

/** The folder it was fetched to is gone when this is read. */
function noPluginAt(url: string, cause: HostError): HostError {
  return new HostError("manifest.missing", `The repository "${url}" has no kaged-plugin.yaml at its root`, {
    data: { source: url },
    hint: "Name a repository that holds a plugin, or a release that does with --release",
    cause,
  });
}

/** Files that were tampered with are put back by installing the very same again. */
function isWhole({ record, isTampered }: Installed, hash: string): boolean {
  return record.hash === hash && !isTampered;
}

async function installedNow(name: string, { runtime: { files }, home }: InstallPorts): Promise<Installed | null> {
  const record = (await readLocalConfig(home, files)).records.get(name);
  if (!record) return null;
  const dir = `${home}/plugins/${name}`;
  try {
    await verifyTree(name, dir, record.hash ?? "", files);
    const { manifest: { version, capabilities } } = await readManifest(dir, files);
    return { record, version, capabilities, isTampered: false };
  } catch (error) {
    // Files that changed say nothing of what was granted: everything counts as new.
    if (!(error instanceof HostError)) throw error;
    return { record, version: record.version ?? record.installed ?? "unknown", capabilities: [], isTampered: true };
  }
}

/** Two plugins of one name are told apart by their package, or by the repository they come from. */
function refuseTaken({ package: before, source: had }: InstallRecord, request: PlanRequest, name: string): void {
  const { source, package: pkg = null } = request;
  const isOtherPackage = before !== undefined && pkg !== null && before !== pkg;
  const isOtherAddress = source.kind === "git" && had !== undefined && !had.startsWith("/") && had !== source.url;
  if (!isOtherPackage && !isOtherAddress) return;
  const [old, now] = isOtherPackage ? [before, pkg] : [had, sourceText(source)];
  throw new HostError("install.name_taken", `The name "${name}" is taken by the plugin from ${old}`, {
    data: { plugin: name, installed_from: old, asked_for: now },
    hint: `Uninstall that one first; where ${now} is its successor, add --replace`,
  });
}
