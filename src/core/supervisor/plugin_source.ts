/**
 * A plugin's folder as one start of it needs it: files checked, manifest read, cage asked for.
 *
 * @module
 */
import type { CageRequest } from "../cage/cage.ts";
import { resolveLimits } from "../cage/limits/cage_limits.ts";
import { HostError } from "../errors/host_error.ts";
import { hashTree, type TreeLimits, verifyTree } from "../files/tree.ts";
import type { TreeMemory } from "../files/tree_memory.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { MANIFEST_FILE, readManifest } from "../manifest/read_manifest.ts";
import { grantedManifest } from "../manifest/withheld.ts";
import type { Files } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";
import type { PluginSpec, SupervisorOptions } from "./types.ts";

/** A plugin and how each start of it is prepared. */
export interface PluginSource {
  readonly spec: PluginSpec;
  /** Checks the files and returns the request for a cage. Called anew before each start: files change in between. */
  readonly prepare: () => Promise<CageRequest>;
  /** Returns the manifest as it is granted now. */
  readonly manifest: () => Promise<Manifest>;
  /** Returns a hash of everything that decides how its program behaves. Rejects where there is too much of that. */
  readonly contentHash: () => Promise<string>;
}

export function projectsOf({ spec }: Pick<PluginSource, "spec">): readonly string[] {
  return spec.projects ?? [];
}

/** Returns the source of the plugin `name` in the folder of `spec`. Without `trees` its files are read at each start. */
export function pluginSource(
  name: string,
  spec: PluginSpec,
  host: SupervisorOptions,
  { trees = null, readManifest = manifestReader(spec, host.runtime.files, { expected: name }) }: {
    readonly trees?: TreeMemory | null;
    readonly readManifest?: () => Promise<Manifest>;
  } = {},
): PluginSource {
  const { files } = host.runtime;
  const prepare = async (): Promise<CageRequest> => {
    if (spec.hash !== undefined) await verifyTree(name, spec.dir, spec.hash, files, trees);
    return cageRequest(await readManifest(), spec, host);
  };
  const contentHash = async (): Promise<string> =>
    spec.hash ?? await contentOf(spec.dir, await readManifest(), files, trees);
  return { spec, prepare, manifest: readManifest, contentHash };
}

/** A folder within these is hashed whole at each start. */
const SMALL_TREE: TreeLimits = { maxBytes: 8 * 1024 * 1024, maxEntries: 200 };

/**
 * Returns a hash of a folder that nobody has pinned: of the whole tree where that is small; else, so that a start does
 * not wait for thousands of files, of the place and time of the files that name its program and the packages it uses.
 */
async function contentOf(
  dir: string,
  { command }: Manifest,
  files: Files,
  trees: TreeMemory | null,
): Promise<string> {
  const whole = await hashTree(dir, files, SMALL_TREE, trees).catch(() => null);
  if (whole) return whole.hash;
  const telling = [MANIFEST_FILE, "package.json", "package-lock.json", "pyproject.toml", ...command];
  const stamps = await Promise.all(telling.map(async (name) => {
    const info = await files.info(name.startsWith("/") ? name : `${dir}/${name}`).catch(() => null);
    return [name, info?.size ?? null, info?.modifiedMs ?? null];
  }));
  return `sha256:${await sha256(JSON.stringify([dir, stamps]))}`;
}

/** Returns the request for the cage of a plugin, by the settings of its host. */
export function cageRequest(
  manifest: Manifest,
  { dir, projectDir = null, netLimits = [] }: PluginSpec,
  host: Pick<SupervisorOptions, "home" | "logLevel" | "runtimes" | "limits" | "pluginLimits">,
): CageRequest {
  const { home, logLevel = "info", runtimes = {}, limits, pluginLimits = {} } = host;
  const ownLimits = Object.hasOwn(pluginLimits, manifest.name) ? pluginLimits[manifest.name] : undefined;
  return {
    manifest,
    places: { installDir: dir, home, projectDir },
    logLevel,
    runtimes,
    netLimits,
    limits: resolveLimits(limits, ownLimits),
  };
}

/** A manifest as it is granted, and the state of its file when it was read; empty where nobody knows. */
export interface KnownManifest {
  readonly stamp: string;
  readonly manifest: Manifest;
}

async function stampOf(dir: string, files: Files): Promise<string> {
  const { dev, ino, size, modifiedMs } = await files.info(`${dir}/${MANIFEST_FILE}`) ?? {};
  return ino === undefined ? "" : `${dev}:${ino}:${size}:${modifiedMs}`;
}

/** Returns a function that reads manifests as they are granted, that of each folder once. It rejects with `manifest.*`. */
export function manifestBatch(files: Files): (spec: PluginSpec) => Promise<KnownManifest> {
  const read = new Map<string, Promise<KnownManifest>>();
  return ({ dir, withheld = [], added = [] }) => {
    const key = withheld.length + added.length === 0 ? dir : JSON.stringify([dir, withheld, added]);
    let reading = read.get(key);
    if (!reading) {
      read.set(
        key,
        reading = stampOf(dir, files).then(async (stamp) => {
          const { manifest } = await readManifest(dir, files);
          return { stamp, manifest: grantedManifest(manifest, withheld, added) };
        }),
      );
    }
    return reading;
  };
}

/**
 * Returns a function that gives the manifest of a plugin as it is granted, read again only when its file has changed. It
 * rejects with `manifest.*`, and for a plugin of another name than `expected`, by default the name of the `known` one.
 */
export function manifestReader(
  { dir, withheld = [], added = [] }: PluginSpec,
  files: Files,
  { expected, known = null }: { readonly expected?: string; readonly known?: KnownManifest | null },
): () => Promise<Manifest> {
  return async () => {
    const stamp = await stampOf(dir, files);
    if (known !== null && stamp !== "" && known.stamp === stamp) return known.manifest;
    const manifest = grantedManifest((await readManifest(dir, files)).manifest, withheld, added);
    const name = known?.manifest.name ?? expected ?? manifest.name;
    if (name !== manifest.name) {
      throw new HostError("manifest.invalid", `The plugin in "${dir}" was "${name}" before`, {
        data: { expected: name, found: manifest.name },
        hint: "A plugin keeps its name; install the other one apart",
      });
    }
    known = { stamp, manifest };
    return manifest;
  };
}
