/**
 * The state of the files that a plugin's author writes. Files that tools, editors and the plugin itself leave in its
 * folder are not the author's: they must not trigger a reload.
 *
 * @module
 */
import type { FileInfo, Files } from "../core/ports/ports.ts";

const MADE_BY_TOOLS: readonly string[] = ["node_modules", "__pycache__"];
/** Backup, lock and swap files of editors; vim tries out a folder with the name 4913. */
const OF_EDITORS = /~$|^#.*#$|^4913$|\.sw[a-z]$/;

/** Whether `path`, relative to the plugin's folder, is the author's; `own` lists paths that the plugin may write. */
export function isAuthored(path: string, own: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(".") || MADE_BY_TOOLS.includes(name) || OF_EDITORS.test(name)) return false;
  return !own.includes(path);
}

/** Returns the paths in its own folder `dir` that a plugin with these capabilities may write, relative to the folder. */
export function ownWrites(capabilities: readonly string[], dir: string): string[] {
  return capabilities.flatMap((capability) => {
    const path = /^write:fs:(.*)$/s.exec(capability)?.[1];
    const root = ["plugin:/", `${dir}/`].find((one) => path?.startsWith(one));
    return path === undefined || root === undefined ? [] : [path.slice(root.length).replace(/\/+$/, "")];
  });
}

/**
 * Returns a text that differs whenever the author has changed, added or removed a file. A missing folder has a text too,
 * so that its return is seen.
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
