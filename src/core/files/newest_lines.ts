/**
 * Lines of files that are rotated by size, the newest first, with cursors that stay right while lines are added and
 * files are renamed.
 *
 * @module
 */
import type { Files } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";
import { firstLine, linesBackward } from "./lines_of_file.ts";

/** One line of several files. */
export interface NewestLine {
  /** The line without its break; null for one too long to be held. */
  readonly text: string | null;
  /** Cursor of the lines before this one, or null where it is the first of the oldest file. */
  readonly older: string | null;
}

/** A place in one of several files: everything before the byte `offset` of the file with this id. */
export interface LineCursor {
  readonly id: string;
  readonly offset: number;
}

/** Yields the whole lines of files, given with the newest first; none where the file that the cursor names is gone. */
export async function* newestLines(
  paths: readonly string[],
  files: Files,
  cursor: LineCursor | null = null,
): AsyncGenerator<NewestLine> {
  let from = cursor;
  for (const path of paths) {
    const id = await fileId(path, files);
    if (from !== null && from.id !== id) continue;
    const end = from?.offset ?? (await files.info(path))?.size ?? 0;
    from = null;
    for await (const { start, text } of linesBackward(path, end, files)) {
      yield { text, older: start === 0 && path === paths.at(-1) ? null : `${id}.${start}` };
    }
  }
}

/** Parses a cursor; null for a text that is none. */
export function parseLineCursor(text: string): LineCursor | null {
  const [, id, offset] = /^([0-9a-f]{16})\.([0-9]{1,15})$/.exec(text) ?? [];
  return id === undefined ? null : { id, offset: Number(offset) };
}

/** Returns the file at `path` and those that were set aside as `.1`, `.2` and so on, the newest first. */
export async function rotatedFiles(path: string, files: Files): Promise<string[]> {
  const at = path.lastIndexOf("/");
  const folder = path.slice(0, at);
  const base = path.slice(at + 1);
  const names = await files.info(folder) ? await files.list(folder) : [];
  const ages = names.flatMap((name) => {
    const age = name === base ? "0" : name.startsWith(`${base}.`) ? name.slice(base.length + 1) : "";
    return /^[0-9]+$/.test(age) ? [{ age: Number(age), name }] : [];
  });
  return ages.sort((a, b) => a.age - b.age).map(({ name }) => `${folder}/${name}`);
}

/** Returns the id of a file by its first line, which stays the same when the file is renamed or grows. */
async function fileId(path: string, files: Files): Promise<string> {
  return (await sha256(await firstLine(path, files))).slice(0, 16);
}
