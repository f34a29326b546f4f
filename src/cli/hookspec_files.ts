/**
 * What the commands about a hookspec share: which one, and the files that follow from it.
 *
 * @module
 */
import { join, resolve } from "node:path";
import type { Command } from "commander";
import type { Files } from "../core/ports.ts";
import type { TargetLanguage } from "../core/spec/types.ts";
import type { Terminal } from "./terminal.ts";

/** Options as the command line gives them. */
export interface HookspecFlags {
  /** `--dir`. */
  readonly dir: string;
  /** `--out`. */
  readonly out?: string;
  /** `--json`. */
  readonly json?: boolean;
}

/** A file that follows from a hookspec, beside what is there. */
export interface FollowingFile {
  /** Path as the command was given it. */
  readonly path: string;
  /** The same, absolute. */
  readonly file: string;
  /** Its language. */
  readonly language: TargetLanguage;
  /** What it should hold. */
  readonly text: string;
  /** What it holds; null when it is not there. */
  readonly found: string | null;
}

/** Adds `--dir`, `--out` and `--json` to a command. */
export function addHookspecOptions(command: Command): Command {
  return command
    .option("--dir <dir>", "folder of the hookspec: the one that holds _meta and kinds", "hookspec")
    .option("--out <dir>", "folder for all languages, in place of those in _meta/targets.yaml")
    .option("--json", "print JSON");
}

/** Returns every file that follows from a hookspec. Throws `hookspec.*` for one that is not in order. */
export async function followingFiles(
  { dir, out }: HookspecFlags,
  terminal: Terminal,
): Promise<{ readonly all: readonly FollowingFile[]; readonly files: Files }> {
  const { readHookspec } = await import("../core/spec/read_hookspec.ts");
  const { emitHookspec } = await import("../core/spec/emit/emit_hookspec.ts");
  const { files } = await terminal.runtime();
  const spec = await readHookspec(resolve(terminal.cwd, dir), files);
  const all: FollowingFile[] = [];
  for (const { language, path: inner, text } of emitHookspec(spec)) {
    const path = out === undefined ? join(dir, spec.targets[language]!, inner) : join(out, language, inner);
    const file = resolve(terminal.cwd, path);
    const isThere = (await files.target(file))?.kind === "file";
    all.push({ path, file, language, text, found: isThere ? await files.readText(file) : null });
  }
  return { all, files };
}
