/**
 * Provides a source as a folder, for as long as it is needed.
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";
import { fetchGit } from "./fetch_git.ts";
import { TREE_LIMITS } from "../../core/files/tree.ts";
import type { InstallPorts } from "./install_ports.ts";
import type { Source } from "./source.ts";
import { unpackArchive } from "./unpack_archive.ts";

/** A source as a folder; disposing of it removes what was fetched. */
export interface Obtained extends AsyncDisposable {
  readonly dir: string;
}

/**
 * Returns the folder of a source. An archive is unpacked to `<home>/run`, an address is fetched to there, which the
 * operator must be asked for first; both are removed in the end.
 *
 * @throws {HostError} as {@link fetchGit} and {@link unpackArchive} do.
 */
export async function obtain(source: Source, release: string | null, ports: InstallPorts): Promise<Obtained> {
  const { runtime, home, limits = TREE_LIMITS } = ports;
  const { files } = runtime;
  if (source.kind !== "git") {
    const isFolder = source.kind === "path" || (await files.target(source.path))?.kind === "directory";
    if (isFolder) return { dir: source.path, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const dir = await fetchFolder(home, runtime);
  const clear = (): Promise<void> => files.remove(dir);
  try {
    const signal = ports.signal && { signal: ports.signal };
    const tree = source.kind === "git"
      ? await fetchGit({ url: source.url, dir, release, limits, ...signal }, runtime)
      : await unpackArchive(source.path, dir, { runtime, limits });
    return { dir: tree, [Symbol.asyncDispose]: clear };
  } catch (error) {
    await clear();
    throw error;
  }
}

/** Makes an empty folder in `<home>/run` for something to be fetched to; it goes away with this process at the latest. */
export async function fetchFolder(home: string, runtime: Runtime): Promise<string> {
  const { files } = runtime;
  await files.makeDir(`${home}/run`, { recursive: true, mode: 0o700 });
  await sweep(home, runtime);
  return await files.makeTempDir(`${home}/run/fetch-${await files.readLink("/proc/self")}-`);
}

/** Removes folders that were fetched by commands which have died since. */
async function sweep(home: string, { files }: Runtime): Promise<void> {
  for (const name of await files.list(`${home}/run`)) {
    const pid = /^fetch-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && await files.info(`/proc/${pid}`) === null) await files.remove(`${home}/run/${name}`);
  }
}
