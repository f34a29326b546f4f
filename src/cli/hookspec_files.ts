/**
 * The files that follow from a hookspec, and the folders that they stand in.
 *
 * @module
 */
import { join, relative, resolve } from "node:path";
import { HostError } from "../core/errors/host_error.ts";
import type { Files } from "../core/ports/ports.ts";
import type { TargetLanguage } from "../hookspec/types.ts";
import type { Terminal } from "./terminal.ts";

/** Options as the command line gives them. */
export interface HookspecFlags {
  readonly dir: string;
  readonly out?: string;
  readonly json?: boolean;
}

/** A file that follows from a hookspec, beside what is there. */
export interface FollowingFile {
  /** Path as the command was given it. */
  readonly path: string;
  readonly file: string;
  readonly language: TargetLanguage;
  /** The text that follows from the hookspec. */
  readonly text: string;
  /** The text in the file; null when there is no file. */
  readonly found: string | null;
}

/** A generated file that nothing gives any more. */
export type LeftoverFile = Pick<FollowingFile, "path" | "file" | "language">;

/** The files that follow from a hookspec, beside those that are there. */
export interface Following {
  /** Every file that follows from it. */
  readonly all: readonly FollowingFile[];
  /** Generated files of kinds that are gone. */
  readonly leftovers: readonly LeftoverFile[];
  readonly files: Files;
}

/**
 * Returns every file that follows from a hookspec. Throws `hookspec.*` for one that is not in order, and for a folder
 * that is another's.
 */
export async function followingFiles({ dir, out }: HookspecFlags, terminal: Terminal): Promise<Following> {
  const { readHookspec } = await import("../hookspec/read_hookspec.ts");
  const { emitHookspec } = await import("../hookspec/emit/emit_hookspec.ts");
  const { leftoverFiles } = await import("../hookspec/emit/leftovers.ts");
  const { files } = await terminal.runtime();
  const spec = await readHookspec(resolve(terminal.cwd, dir), files);
  if (out !== undefined) {
    await requireOwnOut({ out: resolve(terminal.cwd, out), dir: resolve(terminal.cwd, dir) }, files);
  }
  const languages = Object.keys(spec.targets) as TargetLanguage[];
  const folderOf = (language: TargetLanguage): string =>
    out === undefined ? join(dir, spec.targets[language]!) : join(out, language);
  const all: FollowingFile[] = [];
  for (const { language, path: inner, text } of emitHookspec(spec)) {
    const path = join(folderOf(language), inner);
    const file = resolve(terminal.cwd, path);
    const isThere = (await files.target(file))?.kind === "file";
    all.push({ path, file, language, text, found: isThere ? await files.readText(file) : null });
  }
  const emitted = new Set(all.map(({ file }) => file));
  const leftovers: LeftoverFile[] = [];
  for (const language of languages) {
    const folder = resolve(terminal.cwd, folderOf(language));
    for (const file of await leftoverFiles(language, folder, { emitted, files })) {
      leftovers.push({ path: join(folderOf(language), relative(folder, file)), file, language });
    }
  }
  return { all, leftovers, files };
}

/** Stands in the folder and holds the way from there to its hookspec. */
const OWNER_FILE = ".hookspec";
const MAX_BYTES = 5_000;

/** A folder for every language, and the hookspec that it is for; both absolute. */
interface OutFolder {
  readonly out: string;
  readonly dir: string;
}

/** Rejects with `hookspec.out_taken` when the folder is another hookspec's. */
async function requireOwnOut({ out, dir }: OutFolder, files: Files): Promise<void> {
  const file = join(out, OWNER_FILE);
  if (await files.info(file) === null) return;
  const owner = new TextDecoder().decode(await files.readHead(file, MAX_BYTES)).trim();
  if (owner === relative(out, dir)) return;
  throw new HostError("hookspec.out_taken", `"${out}" holds what follows from the hookspec at "${join(out, owner)}"`, {
    data: { out, dir, owner },
    hint: `Give each hookspec a folder of its own; if that one has moved, remove ${file}`,
  });
}

/** Makes the folder the hookspec's own. */
export async function claimOut({ out, dir }: OutFolder, files: Files): Promise<void> {
  const file = join(out, OWNER_FILE);
  if (await files.info(file) === null) await files.write(file, `${relative(out, dir)}\n`, 0o644);
}
