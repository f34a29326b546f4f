/**
 * The folders a host works with, and the packages that it takes plugins from without an operator's consent.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Files, Runtime } from "../core/ports/ports.ts";
import { depsOutside } from "../core/project/node_modules.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import { readVouched, recordVouched, type VouchedPackage } from "../packages/installed/vouched.ts";
import type { HostPlaces } from "./host_project.ts";
import type { HostOptions } from "./types.ts";

/**
 * Returns the folders of a host, absolute and with links resolved.
 *
 * @throws {HostError} `project.missing`, or `host.misuse` for a folder of `pluginsFrom` that there is not.
 */
export async function hostPlaces(
  { project, home, plugins = {}, pluginsFrom, runtime }: HostOptions & {
    readonly home: string;
    readonly runtime: Runtime;
  },
): Promise<HostPlaces> {
  const { files } = runtime;
  const dir = await folderAt(
    project,
    files,
    () =>
      new HostError("project.missing", `The folder "${project}" does not exist`, {
        data: { dir: project },
        hint: 'Name a folder that holds project.yaml; "primary: {}" is a whole one',
      }),
  );
  const places = { dir, home, plugins, runtime };
  if (pluginsFrom === undefined) return places;
  if (pluginsFrom === "node_modules") return { ...places, packagesFrom: dir };
  const { folder } = pluginsFrom;
  const packagesFrom = await folderAt(
    folder,
    files,
    () =>
      new HostError("host.misuse", `pluginsFrom: there is no folder "${folder}"`, {
        hint: 'Write "node_modules", or { folder } with the folder whose node_modules to begin at',
      }),
  );
  return { ...places, packagesFrom };
}

async function folderAt(path: string, files: Files, missing: () => HostError): Promise<string> {
  try {
    return await files.realPath(path);
  } catch (cause) {
    throw Object.assign(missing(), { cause });
  }
}

/** The ports of {@link noteVouched}. */
export interface VouchedPorts {
  readonly places: HostPlaces;
  readonly audit: Pick<Audit, "emit">;
  warn(message: string): void;
}

/**
 * Records the packages of `node_modules` that instances run from. One that is new or changed since the last start is
 * audited; of a change, and of dependencies that its cage does not show, the embedder is warned.
 */
export async function noteVouched(
  instances: readonly ResolvedInstance[],
  { places: { dir: projectDir, home, runtime }, audit, warn }: VouchedPorts,
): Promise<void> {
  const packaged = new Map(
    instances.filter((one) => one.contentHash !== undefined).map((one) => [one.package, one]),
  );
  if (packaged.size === 0) return;
  const place = { home, projectDir, runtime };
  const known = await readVouched(place);
  const found: Record<string, VouchedPackage> = {};
  for (const [pkg, { plugin, dir, contentHash: hash = "", manifest: { version, capabilities } }] of packaged) {
    const before = Object.hasOwn(known, pkg) ? known[pkg]! : null;
    if (before?.hash === hash) continue;
    found[pkg] = { version, hash };
    const old = { old_version: before?.version ?? null, old_hash: before?.hash ?? null };
    const data = { source: dir, hash, capabilities: [...capabilities], withheld: [], version, ...old };
    audit.emit("plugin.vouched", { name: plugin, instance: plugin }, data);
    if (before) {
      const versions = before.version === version ? `still ${version}` : `${before.version}, now ${version}`;
      warn(
        `The files of "${pkg}" in "${dir}" changed since the last start (${versions}): it runs, and the audit has it`,
      );
    }
    const outside = await depsOutside(dir, runtime.files);
    if (outside.length === 0) continue;
    warn(
      `"${pkg}" needs ${outside.join(", ")}, outside its own folder, which is all that its cage shows: ` +
        `if it does not start, its author has to bundle them`,
    );
  }
  if (Object.keys(found).length === 0) return;
  await recordVouched(found, place).catch((error) => warn(`vouched.json was not written: ${messageOf(error)}`));
}
