/**
 * The plan of an install: it is shown to the operator, who consents to exactly these files and capabilities.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { exposedSince } from "../consent/describe_secret.ts";
import { grantable } from "../consent/withholding.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { askedCapabilities, withheldOf } from "../../core/manifest/withheld.ts";
import type { DocumentIssue } from "../../core/documents/document_report.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { type InstallRecord, readLocalConfig } from "../../core/project/local_config.ts";
import { hashTree } from "../../core/files/tree.ts";
import { type InstallPorts, settlePackages } from "./install_ports.ts";
import { lookAt } from "./list_installed.ts";
import { type Origin, type Source, sourceText } from "./source.ts";

/** The plugin that is installed under the same name. */
export interface Installed {
  readonly record: InstallRecord;
  readonly version: string;
  /** Capabilities that it asks for, withheld ones included. Empty when its files were tampered with. */
  readonly capabilities: readonly string[];
  /** Null when its files were tampered with. */
  readonly manifest: Manifest | null;
  /** Whether its files differ from those that were agreed to. */
  readonly isTampered: boolean;
}

/** Capabilities that only one of two versions has. */
export interface CapabilityDiff {
  /** Of the new version alone: the operator must grant each. `secret:<key>` is a value that only this version sees. */
  readonly added: readonly string[];
  /** Of the old version alone. */
  readonly removed: readonly string[];
}

/** An install as it would be made. */
export interface InstallPlan {
  /** Whether the plugin is new, another version, or the very files that are installed. */
  readonly kind: "install" | "upgrade" | "same";
  /** Folder it is copied from. */
  readonly dir: string;
  readonly source: Origin;
  readonly manifest: Manifest;
  /** Doubtful places of the manifest. */
  readonly warnings: readonly DocumentIssue[];
  /** Hash of its files: the consent is for this hash. */
  readonly hash: string;
  readonly bytes: number;
  /** Null when no plugin of this name is installed. */
  readonly installed: Installed | null;
  /** Capabilities that it would gain and lose. */
  readonly diff: CapabilityDiff;
  /** Capabilities of it that stay withheld unless the operator grants them by name. */
  readonly withheld: readonly string[];
  /** Package it is known by in projects, or null. */
  readonly package: string | null;
}

export interface PlanRequest {
  /** Folder that holds the plugin. */
  readonly dir: string;
  /** Where the folder's content came from. */
  readonly source: Origin;
  /** Package it is known by in projects. */
  readonly package?: string | null;
  /** Whether it may take the place of a plugin that came from elsewhere. */
  readonly replace?: boolean;
}

/**
 * Reads a plugin and compares it with the installed one of its name.
 *
 * @throws {HostError} `install.*`, `manifest.*`, `local.*`, or `install.name_taken` when another plugin has its name.
 */
export async function planInstall(request: PlanRequest, ports: InstallPorts): Promise<InstallPlan> {
  const { files } = ports.runtime;
  const { dir, source, replace = false, package: pkg = null } = request;
  await settlePackages(ports);
  if ((await files.target(dir))?.kind !== "directory") {
    throw new HostError("install.source_missing", `There is no folder "${dir}"`, {
      data: { dir },
      hint: "Name the folder that holds kaged-plugin.yaml",
    });
  }
  const root = await files.realPath(dir);
  const { manifest, warnings } = await readManifest(root, files).catch((error) => {
    const isFetched = source.kind === "git" || source.kind === "archive";
    throw isFetched && error?.code === "manifest.missing" ? noPluginAt(source, error) : error;
  });
  const { hash, bytes } = await hashTree(root, files, ports.limits);
  const installed = await installedNow(manifest.name, ports);
  if (installed && !replace) refuseTaken(installed.record, request, manifest.name);
  // Files that were tampered with are repaired by installing them again.
  const isSame = installed?.record.hash === hash && !installed.isTampered;
  const change = isSame ? "same" : "upgrade";
  const withheld = stillWithheld(manifest, installed);
  const diff = diffCapabilities(installed?.capabilities ?? [], manifest.capabilities, withheld);
  return {
    kind: installed === null ? "install" : change,
    dir: root,
    source: source.kind === "path" ? { kind: "path", path: root } : source,
    manifest,
    warnings,
    hash,
    bytes,
    installed,
    diff: {
      ...diff,
      // A secret that the version before used without seeing it is a grant of its own.
      added: [...diff.added, ...(installed?.manifest ? exposedSince(installed.manifest, manifest) : [])],
    },
    withheld,
    package: pkg ?? installed?.record.package ?? null,
  };
}

/** Names the source: the folder that it was fetched or unpacked to is gone when the operator reads this. */
function noPluginAt(source: Source, cause: HostError): HostError {
  const [text, isGit] = [sourceText(source), source.kind === "git"];
  const it = isGit ? "repository" : "archive";
  return new HostError("manifest.missing", `The ${it} "${text}" has no kaged-plugin.yaml at its root`, {
    data: { source: text },
    hint: `Name ${isGit ? "a" : "an"} ${it} that holds a plugin${
      isGit ? ", or a release that does with --release" : ""
    }`,
    cause,
  });
}

async function installedNow(name: string, ports: InstallPorts): Promise<Installed | null> {
  const record = (await readLocalConfig(ports.home, ports.runtime.files)).records.get(name);
  if (!record) return null;
  const { manifest, problem } = await lookAt(record, ports);
  if (problem?.code === "host.internal") throw problem;
  if (manifest && !problem) {
    return {
      record,
      version: manifest.version,
      capabilities: askedCapabilities(manifest),
      manifest,
      isTampered: false,
    };
  }
  // Files that changed do not show what was granted, so every capability counts as new.
  return {
    record,
    version: record.version ?? record.installed ?? "unknown",
    capabilities: [],
    manifest: null,
    isTampered: true,
  };
}

/** Refuses another plugin of the same name: one with another package, or from another repository. */
function refuseTaken({ package: before, source: had }: InstallRecord, request: PlanRequest, name: string): void {
  const { source, package: pkg = null } = request;
  const isOtherPackage = before !== undefined && pkg !== null && before !== pkg;
  const isOtherAddress = source.kind === "git" && had !== undefined && !had.startsWith("/") && had !== source.url;
  const isOtherServer = source.kind === "mcp" && had !== undefined && had !== source.text;
  if (!isOtherPackage && !isOtherAddress && !isOtherServer) return;
  const [old, now] = isOtherPackage ? [before, pkg] : [had, sourceText(source)];
  throw new HostError("install.name_taken", `The name "${name}" is taken by the plugin from ${old}`, {
    data: { plugin: name, installed_from: old, asked_for: now },
    hint: `Uninstall that one first; where ${now} is its successor, add --replace`,
  });
}

/** Compares two lists of capabilities in canonical form; those that stay withheld are not asked for again. */
function diffCapabilities(
  before: readonly string[],
  after: readonly string[],
  withheld: readonly string[],
): CapabilityDiff {
  return {
    added: grantable(after).filter((capability) => !before.includes(capability) && !withheld.includes(capability)),
    removed: grantable(before).filter((capability) => !after.includes(capability)),
  };
}

/**
 * Returns the capabilities that stay withheld without a question: those that the record names, and those of the version
 * before that cover one of them. Another that covers one of them is asked for like any that is new.
 */
function stillWithheld({ capabilities }: Manifest, installed: Installed | null): string[] {
  if (installed === null) return [];
  const { record, capabilities: before } = installed;
  const held = withheldOf(capabilities, record.withheld);
  return held.filter((one) => record.withheld.includes(one) || before.includes(one));
}
