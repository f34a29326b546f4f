/**
 * What an operator trusts when trusting a hook file: its text, and the scripts in the repository that its commands
 * name, as far as that can be told without running them. Files that those scripts use in turn are not covered.
 *
 * @module
 */
import { HostError } from "../../errors.ts";
import type { FileInfo, Files } from "../../ports.ts";
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

/** What one hook file may name: each word is looked for, and each script read, before each run. */
const MAX_SCRIPTS = 100;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_WORDS = 20_000;
/** Folders among the words of one command that names are looked for in. */
const MAX_ROOTS = 10;
const SCRIPT_NAME = /\.(?:sh|bash|zsh|[cm]?[jt]s|py|rb|pl|php|lua|ps1|cmd|bat)$/i;

/**
 * Gathers what trusting `file` covers. The operator's own files need no trust: of those it is the file alone.
 *
 * @throws {HostError} `hooks.uncoverable` when it names more than trust can cover: nothing of it is left uncovered.
 */
export async function gatherEvidence(file: LoadedHookFile, dir: string, files: Files): Promise<HookEvidence> {
  const bytes = new TextEncoder().encode(file.text);
  const own = { path: file.name, sha256: await sha256(bytes), bytes, executable: false };
  const scripts = file.origin === "user" ? [] : await coveredScripts(file, dir, files);
  const all = [own, ...scripts];
  return { name: file.name, hash: await evidenceHash(all), files: all };
}

async function coveredScripts(file: LoadedHookFile, dir: string, files: Files): Promise<CoveredFile[]> {
  const known = folderVariables(dir);
  const commands = [
    ...file.hooks.map((hook) => ({
      words: shellWords(hook.script, { ...hook.env, ...known }),
      roots: [hookFolder(hook, dir), dir],
    })),
    ...(file.servers ?? []).map(({ command }) => ({
      words: (command ?? []).map((word) => filledIn(word, dir, {})),
      roots: [dir],
    })),
  ];
  const count = commands.reduce((sum, { words }) => sum + words.length, 0);
  if (count > MAX_WORDS) throw uncoverable(file, `its commands have ${count} words`);
  const paths = new Set<string>();
  const once = lookingOnce(files);
  for (const { words, roots } of commands) {
    for (const path of await scriptsAmong(words, roots, dir, once)) paths.add(path);
  }
  if (paths.size > MAX_SCRIPTS) throw uncoverable(file, `it names ${paths.size} scripts`);
  const scripts: CoveredFile[] = [];
  let left = MAX_BYTES;
  for (const path of [...paths].sort()) {
    const info = await files.target(`${dir}/${path}`);
    if (info?.kind !== "file") continue; // It went away since it was found.
    const bytes = await files.readHead(`${dir}/${path}`, Math.min(info.size, left) + 1);
    left -= bytes.length;
    if (left < 0) throw uncoverable(file, `with "${path}", its scripts have more than ${MAX_BYTES / 2 ** 20} MiB`);
    scripts.push({ path, sha256: await sha256(bytes), bytes, executable: (info.mode & 0o111) !== 0 });
  }
  return scripts;
}

function uncoverable({ name, file }: LoadedHookFile, why: string): HostError {
  return new HostError("hooks.uncoverable", `Trust cannot cover ${name}: ${why}`, {
    data: { file },
    hint: `At most ${MAX_SCRIPTS} scripts of ${MAX_BYTES / 2 ** 20} MiB in all and ${MAX_WORDS} words: split the file`,
  });
}

/** Returns the folder a hook runs in. */
export function hookFolder({ cwd = "." }: Pick<LoadedHook, "cwd">, dir: string): string {
  return normalPath(cwd.startsWith("/") ? cwd : `${dir}/${cwd}`);
}

/** Returns the files of the repository among the words of a command. */
async function scriptsAmong(
  words: readonly string[],
  roots: readonly string[],
  dir: string,
  files: Files,
): Promise<string[]> {
  const named = words.flatMap((word) => [word, ...word.split("=").slice(1)]);
  // A command may go there first: cd hooks && ./guard.sh
  const folders = (await existing(named, roots, dir, files)).filter(({ kind }) => kind === "directory");
  const all = [...roots, ...folders.slice(0, MAX_ROOTS).map(({ path }) => path)];
  const found: string[] = [];
  for (const { path, kind, mode } of await existing(named, all, dir, files)) {
    if (kind !== "file") continue;
    // By its real place: what runs is what the link leads to, and it must not lead out.
    const real = await files.realPath(path);
    if (real.startsWith(`${dir}/`) && await isScript(real, mode, files)) found.push(real.slice(dir.length + 1));
  }
  return found;
}

/** Files that are looked for once: commands name the same ones again and again. */
function lookingOnce(files: Files): Files {
  const seen = new Map<string, Promise<FileInfo | null>>();
  const target = (path: string): Promise<FileInfo | null> => {
    const known = seen.get(path) ?? files.target(path).catch(() => null);
    seen.set(path, known);
    return known;
  };
  return { ...files, target };
}

/** Returns what of the repository `words` name, from any of `roots`. */
async function existing(
  words: readonly string[],
  roots: readonly string[],
  dir: string,
  files: Files,
): Promise<{ readonly path: string; readonly kind: string; readonly mode: number }[]> {
  const paths = words.flatMap((word) => word.startsWith("/") ? [word] : roots.map((root) => `${root}/${word}`));
  const found = [];
  for (const path of new Set(paths.map(normalPath))) {
    if (!path.startsWith(`${dir}/`) || path.length > 4096 || path.includes("\0")) continue;
    const info = await files.target(path);
    if (info) found.push({ path, kind: info.kind, mode: info.mode });
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
