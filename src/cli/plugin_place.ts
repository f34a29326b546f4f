/**
 * The plugin that a command names. A text with a slash in it, `.` and `..` are folders; anything else is the name of an
 * installed plugin. A name never means a folder of the working directory: whoever can put a folder there could otherwise
 * run in the place of the plugin that the operator installed.
 *
 * @module
 */
import { resolve } from "node:path";
import { HostError } from "../core/errors/host_error.ts";
import type { InstallRecord, LocalConfig, SystemValues } from "../core/project/local_config.ts";
import {
  isAddress,
  isArchive,
  isServerOrigin,
  parseSource,
  pathSource,
  type Source,
} from "../packages/install/source.ts";
import { placesOf } from "./options.ts";
import { type RunFlags, type RunPlaces, withPlaces } from "./run_options.ts";
import type { Terminal } from "./terminal.ts";

/** A plugin's folder; of an installed plugin also what the operator agreed to, and the operator's values for it. */
export interface PluginPlace {
  readonly dir: string;
  readonly hash?: string;
  /** Capabilities that an installed plugin runs without. */
  readonly withheld?: readonly string[];
  /** Hosts that it was granted beyond its manifest. */
  readonly added?: readonly string[];
  readonly secrets?: SystemValues;
}

/**
 * Runs `work` with the plugin that `text` names. An installed plugin runs in the home it is installed in, a folder in the
 * home of `--home`, or in a fresh one.
 *
 * @throws {HostError} `plugin.not_installed`, `plugin.tampered` or `local.*`.
 */
export async function withPlugin<T>(
  text: string,
  flags: RunFlags,
  terminal: Terminal,
  work: (places: RunPlaces, plugin: PluginPlace) => Promise<T>,
): Promise<T> {
  if (isFolder(text)) {
    return await withPlaces(flags, terminal, (places) => work(places, { dir: resolve(terminal.cwd, text) }));
  }
  const [{ readLocalConfig }, { verifyTree }] = await Promise.all([
    import("../core/project/local_config.ts"),
    import("../core/files/tree.ts"),
  ]);
  const { runtime: { files }, home } = await placesOf(flags, terminal);
  const local = await readLocalConfig(home, files);
  const { hash = "", package: pkg = text, withheld, added } = await installedRecord(text, local, terminal);
  const secrets = local.secrets.get(pkg);
  return await withPlaces({ ...flags, home }, terminal, async (places) => {
    const dir = `${places.home}/plugins/${text}`;
    await verifyTree(text, dir, hash, files);
    return await work(places, { dir, hash, withheld, added, ...(secrets && { secrets }) });
  });
}

/**
 * Reads a source that a command names: a folder with a slash, an archive, or an address.
 *
 * @throws {HostError} `install.source_invalid` for a bare name, or as {@link parseSource} does.
 */
export async function sourceOf(text: string, terminal: Terminal, allowHttp = false): Promise<Source> {
  if (isAddress(text) || isServerOrigin(text)) return parseSource(text, { allowHttp });
  if (isFolder(text) || isArchive(text)) return pathSource(resolve(terminal.cwd, text));
  throw new HostError(
    "install.source_invalid",
    `"${text}" is a name, and plugins are installed from folders, archives or addresses`,
    {
      data: { source: text },
      hint: await folderHint(text, terminal) ?? "Name a folder by its path, such as ./folder, or https://…",
    },
  );
}

/** Returns a path as commands take it for a folder: `greeter` becomes `./greeter`. */
export function folderText(path: string): string {
  return isFolder(path) ? path : `./${path}`;
}

function isFolder(text: string): boolean {
  return text.includes("/") || text === "." || text === "..";
}

async function installedRecord(name: string, local: LocalConfig, terminal: Terminal): Promise<InstallRecord> {
  const { recordOf } = await import("../packages/install/change_installed.ts");
  try {
    return recordOf(name, local);
  } catch (error) {
    const hint = await folderHint(name, terminal);
    if (!(error instanceof HostError) || hint === null) throw error;
    throw new HostError(error.code, error.message, { data: error.data, hint });
  }
}

async function folderHint(name: string, terminal: Terminal): Promise<string | null> {
  const { files } = await terminal.runtime();
  const kind = (await files.target(resolve(terminal.cwd, name)).catch(() => null))?.kind;
  return kind === "directory" ? `For the folder of that name write ${folderText(name)}` : null;
}
