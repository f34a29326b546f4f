/**
 * The files of a plugin's folder that its author writes, as they stand: what tools, editors and the plugin itself leave
 * there is no change of it.
 *
 * @module
 */
import type { FileInfo, Files } from "../core/ports/ports.ts";

const MADE_BY_TOOLS: readonly string[] = ["node_modules", "__pycache__"];
/** What editors leave beside a file while it is open. */
const OF_EDITORS = /~$|^#.*#$|^4913$|\.sw[a-z]$/;

/** Whether `path`, relative to the plugin's folder, is the author's; `own` is what the plugin may write itself. */
export function isAuthored(path: string, own: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(".") || MADE_BY_TOOLS.includes(name) || OF_EDITORS.test(name)) return false;
  return !own.includes(path);
}

/** Returns what a plugin with these capabilities may write of its own folder `dir`, relative to it. */
export function ownWrites(capabilities: readonly string[], dir: string): string[] {
  return capabilities.flatMap((capability) => {
    const path = /^write:fs:(.*)$/s.exec(capability)?.[1];
    const root = ["plugin:/", `${dir}/`].find((one) => path?.startsWith(one));
    return path === undefined || root === undefined ? [] : [path.slice(root.length).replace(/\/+$/, "")];
  });
}

/**
 * Returns a text that is another one whenever the author has changed, added or removed a file. A folder that is not
 * there has one too.
 */
export async function authoredState(dir: string, files: Files, own: readonly string[] = []): Promise<string> {
  async function lines(folder: string): Promise<string[]> {
    const names = await files.list(folder === "" ? dir : `${dir}/${folder}`).catch(() => null);
    if (names === null) return [`${folder} gone`];
    const paths = names.map((name) => folder === "" ? name : `${folder}/${name}`).filter((path) =>
      isAuthored(path, own)
    );
    const found = await Promise.all(paths.map(async (path) => {
      const info = await files.info(`${dir}/${path}`).catch(() => null);
      const below = info?.kind === "directory" ? await lines(path) : [];
      return [`${path} ${info ? stampOf(info) : "gone"}`, ...below];
    }));
    return found.flat();
  }
  return (await lines("")).join("\n");
}

function stampOf({ kind, ino, mode, size, modifiedMs }: FileInfo): string {
  return kind === "directory" ? "folder" : `${ino} ${mode} ${size} ${modifiedMs}`;
}
