/**
 * Gathers everything an operator trusts with a hook file: its text, and the scripts in the repository that its commands
 * name, as far as their words show without running them. Files that those scripts use in turn are not covered.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Files } from "../../core/ports/ports.ts";
import { sha256 } from "../../core/values/sha256.ts";
import { folderVariables, withTopLevel } from "./folder_variables.ts";
import type { LoadedHook, LoadedHookFile } from "./load_hook_files.ts";
import { filledIn } from "./mcp_server.ts";
import { namedScripts, type NamingCommand, normalPath } from "./named_scripts.ts";
import { shellWords } from "./shell_words.ts";
import type { HookGate } from "./types.ts";

/** One file that trust covers. */
export interface CoveredFile {
  /** Path below the repository's folder; of scripts in the operator's home and in plugins, from the root. */
  readonly path: string;
  /** SHA-256 of its bytes, in hex. */
  readonly sha256: string;
  /** The bytes that the hash is of. */
  readonly bytes: Uint8Array;
  /** Whether it may be run as a program. */
  readonly executable: boolean;
}

/** Everything that trusting one hook file covers, as it is now. */
export interface HookEvidence {
  /** The hook file below the repository's folder. */
  readonly name: string;
  /** One hash over all covered files. */
  readonly hash: string;
  /** The hook file first, then scripts by path. */
  readonly files: readonly CoveredFile[];
  /** Its hooks that block when they fail: they go on blocking when the files are no longer these. */
  readonly gates: readonly HookGate[];
}

/** Bounds of the scripts of one hook file: each is read before each run. */
const MAX_SCRIPTS = 100;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Gathers what trusting `file` covers. The operator's own files need no trust: of those it is the file alone.
 *
 * @throws {HostError} `hook.uncoverable` when it names more than trust can cover: nothing of it is left uncovered.
 */
export async function gatherEvidence(file: LoadedHookFile, dir: string, files: Files): Promise<HookEvidence> {
  const bytes = new TextEncoder().encode(file.text);
  const own = { path: file.name, sha256: await sha256(bytes), bytes, executable: false };
  const scripts = file.isOwn ? [] : await coveredScripts(file, dir, files);
  const all = [own, ...scripts];
  return { name: file.name, hash: await evidenceHash(all), files: all, gates: file.gates };
}

async function coveredScripts(file: LoadedHookFile, dir: string, files: Files): Promise<CoveredFile[]> {
  const { root } = file;
  const commands = [
    ...file.hooks.filter(({ action }) => action === undefined).map((hook) => namingCommand(hook, dir, root)),
    ...(file.servers ?? []).map(({ command }) => ({
      words: (command ?? []).map((word) => filledIn(word, dir, {})),
      roots: [dir],
    })),
  ];
  const found = await namedScripts(commands, root, files);
  // Trust in a file of the operator's home, or of a plugin, is for every repository, and covers the scripts of none.
  const isForeign = (path: string): boolean => root !== dir && `${root}/${path}`.startsWith(`${dir}/`);
  const paths = found?.filter((path) => !isForeign(path)) ?? null;
  if (paths === null) throw uncoverable(file, "its commands have more words than can be looked through");
  if (paths.length > MAX_SCRIPTS) throw uncoverable(file, `it names ${paths.length} scripts`);
  const scripts: CoveredFile[] = [];
  let left = MAX_BYTES;
  for (const path of paths) {
    const info = await files.target(`${root}/${path}`);
    if (info?.kind !== "file") continue; // It went away since it was found.
    const bytes = await files.readHead(`${root}/${path}`, Math.min(info.size, left) + 1);
    left -= bytes.length;
    if (left < 0) throw uncoverable(file, `with "${path}", its scripts have more than ${MAX_BYTES / 2 ** 20} MiB`);
    const shown = root === dir ? path : `${root}/${path}`;
    scripts.push({ path: shown, sha256: await sha256(bytes), bytes, executable: (info.mode & 0o111) !== 0 });
  }
  return scripts;
}

/** Returns the words of a hook's command, and the folders that its paths may start from. */
function namingCommand(hook: LoadedHook, dir: string, root: string): NamingCommand {
  const { origin } = hook;
  const folders = folderVariables(dir, origin === "plugin" ? root : dir);
  const known = { ...hook.env, ...folders, ...(origin === "user" && { HOME: root }) };
  const words = shellWords(withTopLevel(hook.script, dir), known);
  const homed = origin !== "user" ? words : words.map((word) => word.replace(/^~(?=\/)/, root));
  return { words: homed, roots: [hookFolder(hook, dir), root] };
}

/** Returns the scripts of a repository that a hook of the operator's home or of a plugin names: no trust covers them. */
export async function foreignScripts(hook: LoadedHook, root: string, dir: string, files: Files): Promise<string[]> {
  if (root === dir || hook.action !== undefined) return [];
  return await namedScripts([namingCommand(hook, dir, root)], dir, files) ?? [];
}

function uncoverable({ name, file }: LoadedHookFile, why: string): HostError {
  return new HostError("hook.uncoverable", `Trust cannot cover ${name}: ${why}`, {
    data: { file },
    hint: `Split it: one hook file may name ${MAX_SCRIPTS} scripts of ${MAX_BYTES / 2 ** 20} MiB in all`,
  });
}

/** Returns the folder a hook runs in. */
export function hookFolder({ cwd = "." }: Pick<LoadedHook, "cwd">, dir: string): string {
  return normalPath(cwd.startsWith("/") ? cwd : `${dir}/${cwd}`);
}

/** One hash over files: over the lines that `sha256sum` would print of them. */
async function evidenceHash(files: readonly CoveredFile[]): Promise<string> {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${JSON.stringify(path)}\n`).join("");
  return await sha256(lines);
}
