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
  prepare(): Promise<CageRequest>;
  /** Returns the manifest as it is granted now. */
  manifest(): Promise<Manifest>;
  /** Returns a hash of everything that decides how its program behaves. Rejects where there is too much of that. */
  contentHash(): Promise<string>;
}

export function projectsOf({ spec }: Pick<PluginSource, "spec">): readonly string[] {
  return spec.projects ?? [];
}

/** The host around the folders of its plugins. */
interface FolderPorts {
  readonly host: SupervisorOptions;
  /** Absent: the files of a folder are read at each start. */
  readonly trees?: TreeMemory;
}

/** The source of a plugin in the folder of its spec; its manifest is read again only when the file has changed. */
export class PluginFolder implements PluginSource {
  readonly spec: PluginSpec;
  readonly #name: string;
  readonly #ports: FolderPorts;
  #known: KnownManifest | null;

  /** Keeps to the plugin `name`; `known` is its manifest where that was just read. */
  constructor(name: string, spec: PluginSpec, ports: FolderPorts, known: KnownManifest | null = null) {
    this.spec = spec;
    this.#name = name;
    this.#ports = ports;
    this.#known = known;
  }

  async prepare(): Promise<CageRequest> {
    const { dir, hash } = this.spec;
    const { host, trees } = this.#ports;
    if (hash !== undefined) await verifyTree(this.#name, dir, hash, host.runtime.files, trees);
    return cageRequest(await this.manifest(), this.spec, host);
  }

  /** Rejects with `manifest.*`, and for a plugin of another name. */
  async manifest(): Promise<Manifest> {
    const { dir, withheld = NONE, added = NONE } = this.spec;
    const { files } = this.#ports.host.runtime;
    const stamp = await stampOf(dir, files);
    if (this.#known !== null && stamp !== "" && this.#known.stamp === stamp) return this.#known.manifest;
    const manifest = grantedManifest((await readManifest(dir, files)).manifest, withheld, added);
    if (manifest.name !== this.#name) {
      throw new HostError("manifest.invalid", `The plugin in "${dir}" was "${this.#name}" before`, {
        data: { expected: this.#name, found: manifest.name },
        hint: "A plugin keeps its name; install the other one apart",
      });
    }
    this.#known = { stamp, manifest };
    return manifest;
  }

  async contentHash(): Promise<string> {
    const { dir, hash } = this.spec;
    return hash ?? await contentOf(dir, await this.manifest(), this.#ports);
  }
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
  { host: { runtime: { files } }, trees }: FolderPorts,
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

const NONE: readonly string[] = [];

/** Returns a function that reads manifests as they are granted, that of each folder once. It rejects with `manifest.*`. */
export function manifestBatch(files: Files): (spec: PluginSpec) => Promise<KnownManifest> {
  const read = new Map<string, Promise<KnownManifest>>();
  return ({ dir, withheld = NONE, added = NONE }) => {
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
