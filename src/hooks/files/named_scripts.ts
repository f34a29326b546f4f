/**
 * The scripts of a repository that commands name, as far as their words show without running them.
 *
 * @module
 */
import { parseShebang, SHEBANG_BYTES } from "../../core/cage/shebang.ts";
import type { FileInfo, Files } from "../../core/ports/ports.ts";

/** A command as it is looked through. */
export interface NamingCommand {
  readonly words: readonly string[];
  /** Folders that its relative paths may start from, absolute. */
  readonly roots: readonly string[];
}

/** A file or a folder that exists. */
interface Place {
  readonly path: string;
  readonly info: FileInfo;
}

/** Paths that are looked for: a hostile file must not keep the host busy. */
const MAX_PATHS = 200_000;
const MAX_PATH_LENGTH = 4096;
const SCRIPT_NAME = /\.(?:sh|bash|zsh|[cm]?[jt]s|py|rb|pl|php|lua|ps1|cmd|bat)$/i;

/**
 * Returns the scripts below `dir` that commands name, by their paths from there; null when commands name too much to be
 * looked through.
 */
export async function namedScripts(
  commands: readonly NamingCommand[],
  dir: string,
  files: Files,
): Promise<string[] | null> {
  const scripts = new Set<string>();
  const find = finder(dir, files);
  for (const { words, roots } of commands) {
    const named = [...new Set(words.flatMap((word) => [word, ...word.split("=").slice(1)]))];
    const here = await find(named, roots);
    // A command may go there first: cd hooks && ./guard.sh
    const folders = here?.filter(({ info }) => info.kind === "directory").map(({ path }) => path);
    const there = folders && await find(named, folders);
    if (!here || !there) return null;
    for (const { path, info } of [...here, ...there]) {
      if (info.kind !== "file") continue;
      // By its real place: what runs is what the link leads to, and it must not lead out.
      const real = await files.realPath(path);
      if (real.startsWith(`${dir}/`) && await isScript(real, info, files)) scripts.add(real.slice(dir.length + 1));
    }
  }
  return [...scripts].sort();
}

/** Returns a function that finds the files that words name, from any of some folders; null past the bound. */
function finder(
  dir: string,
  files: Files,
): (words: readonly string[], roots: readonly string[]) => Promise<Place[] | null> {
  const seen = new Map<string, FileInfo | null>();
  let left = MAX_PATHS;
  return async (words, roots) => {
    left -= words.length * roots.length;
    if (left < 0) return null;
    const paths = words.flatMap((word) => word.startsWith("/") ? [word] : roots.map((root) => `${root}/${word}`));
    const found: Place[] = [];
    for (const path of new Set(paths.map(normalPath))) {
      if (!path.startsWith(`${dir}/`) || path.length > MAX_PATH_LENGTH || path.includes("\0")) continue;
      const info = seen.has(path) ? seen.get(path)! : await files.target(path).catch(() => null);
      seen.set(path, info);
      if (info) found.push({ path, info });
    }
    return found;
  };
}

/** Whether a file is one that is run: data that a command only reads may change without anyone being asked. */
async function isScript(path: string, { mode }: FileInfo, files: Files): Promise<boolean> {
  if ((mode & 0o111) !== 0 || SCRIPT_NAME.test(path)) return true;
  return parseShebang(await files.readHead(path, SHEBANG_BYTES)) !== null;
}

/** Returns an absolute path without `.` and `..`. */
export function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
