/**
 * What an operator trusts when trusting a hook file: its text, and the scripts in the repository that its commands
 * name, as far as that can be told without running them. Files that those scripts use in turn are not covered.
 *
 * @module
 */
import type { Files } from "../../ports.ts";
import { parseShebang, SHEBANG_BYTES } from "../../cage/shebang.ts";
import { folderVariables } from "./folder_variables.ts";
import type { LoadedHook, LoadedHookFile } from "./load_hook_files.ts";
import { filledIn } from "./mcp_server.ts";
import { shellWords } from "./shell_words.ts";

/** One file that trust covers. */
export interface CoveredFile {
  /** Path below the repository's folder. */
  readonly path: string;
  /** SHA-256 of its bytes, in hex. */
  readonly sha256: string;
  /** Its bytes. */
  readonly bytes: Uint8Array;
  /** Whether it may be run as a program. */
  readonly executable: boolean;
}

/** Everything that trusting one hook file covers, as it is now. */
export interface HookEvidence {
  /** The hook file below the repository's folder. */
  readonly name: string;
  /** One hash over all of it. */
  readonly hash: string;
  /** The hook file first, then scripts by path. */
  readonly files: readonly CoveredFile[];
}

/** A script of more bytes is not covered, and so is never run from a trusted copy. */
const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;
const MAX_SCRIPTS = 100;
const SCRIPT_NAME = /\.(?:sh|bash|zsh|[cm]?[jt]s|py|rb|pl|php|lua|ps1|cmd|bat)$/i;

/** Gathers what trusting `file` covers. */
export async function gatherEvidence(file: LoadedHookFile, dir: string, files: Files): Promise<HookEvidence> {
  const bytes = new TextEncoder().encode(file.text);
  const own = { path: file.name, sha256: await sha256(bytes), bytes, executable: false };
  const paths = new Set<string>();
  for (const hook of file.hooks) for (const path of await scriptsOf(hook, dir, files)) paths.add(path);
  for (const { command } of file.servers ?? []) {
    const words = (command ?? []).map((word) => filledIn(word, dir, {}));
    for (const path of await scriptsAmong(words, [dir], dir, files)) paths.add(path);
  }
  const scripts = await Promise.all([...paths].sort().slice(0, MAX_SCRIPTS).map((path) => covered(path, dir, files)));
  const all = [own, ...scripts.flatMap((script) => script ?? [])];
  return { name: file.name, hash: await evidenceHash(all), files: all };
}

/** Returns one covered file as it is now, or null when it is gone, too large or no file. */
export async function covered(path: string, dir: string, files: Files): Promise<CoveredFile | null> {
  const info = await files.target(`${dir}/${path}`);
  if (info?.kind !== "file" || info.size > MAX_SCRIPT_BYTES) return null;
  const bytes = await files.readBytes(`${dir}/${path}`);
  return { path, sha256: await sha256(bytes), bytes, executable: (info.mode & 0o111) !== 0 };
}

/** Returns the folder a hook runs in. */
export function hookFolder({ cwd = "." }: Pick<LoadedHook, "cwd">, dir: string): string {
  return normalPath(cwd.startsWith("/") ? cwd : `${dir}/${cwd}`);
}

/** Returns the files of the repository that a command names, below its folder. */
async function scriptsOf(hook: LoadedHook, dir: string, files: Files): Promise<string[]> {
  const words = shellWords(hook.script, { ...hook.env, ...folderVariables(dir) });
  return await scriptsAmong(words, [hookFolder(hook, dir), dir], dir, files);
}

/** Returns the files of the repository among the words of a command. */
async function scriptsAmong(
  words: readonly string[],
  roots: readonly string[],
  dir: string,
  files: Files,
): Promise<string[]> {
  const candidates = words.flatMap((word) => [word, ...word.split("=").slice(1)]).flatMap((word) =>
    word.startsWith("/") ? [word] : roots.map((root) => `${root}/${word}`)
  );
  const found: string[] = [];
  for (const path of new Set(candidates.map(normalPath))) {
    if (!path.startsWith(`${dir}/`) || path.length > 4096 || path.includes("\0")) continue;
    const info = await files.target(path).catch(() => null);
    if (info?.kind !== "file") continue;
    // By its real place: what runs is what the link leads to, and it must not lead out.
    const real = await files.realPath(path);
    if (real.startsWith(`${dir}/`) && await isScript(real, info.mode, files)) found.push(real.slice(dir.length + 1));
  }
  return found;
}

/** Whether a file is one that is run: data that a command only reads may change without anyone being asked. */
async function isScript(path: string, mode: number, files: Files): Promise<boolean> {
  if ((mode & 0o111) !== 0 || SCRIPT_NAME.test(path)) return true;
  return parseShebang(await files.readHead(path, SHEBANG_BYTES)) !== null;
}

/** Returns an absolute path without `.` and `..`. */
function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** One hash over files: over the lines that `sha256sum` would print of them. */
async function evidenceHash(files: readonly CoveredFile[]): Promise<string> {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${JSON.stringify(path)}\n`).join("");
  return await sha256(new TextEncoder().encode(lines));
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as BufferSource);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
