/**
 * A text file gets a new text in one step, or stays as it was.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { Files, Ids } from "../ports/ports.ts";

/** A change of a file's whole text. */
interface TextChange {
  /** The text that the change was made from; null when there was no file. */
  readonly before: string | null;
  /** The new text of the whole file. */
  readonly text: string;
  /** Error for a file that somebody else has changed meanwhile. */
  readonly code: HostErrorCode;
}

/**
 * Puts the new text in the file's place, unless somebody else has written to it. A reader sees one text or the other.
 *
 * @throws {HostError} `code` when the file no longer holds `before`.
 */
export async function replaceText(
  file: string,
  { before, text, code }: TextChange,
  { files, ids }: { readonly files: Files; readonly ids: Ids },
): Promise<void> {
  const fresh = `${file}.${ids.create("kaged")}`;
  const info = await files.info(file);
  try {
    await files.write(fresh, text, info ? info.mode & 0o777 : 0o600);
    await files.sync(fresh);
    const now = info === null && await files.info(file) === null ? null : await files.readText(file);
    if (now !== before) throw new HostError(code, `"${file}" was changed at the same time`, { hint: "Try again" });
    await files.rename(fresh, file);
  } catch (error) {
    await files.remove(fresh);
    throw error;
  }
  await files.sync(file.slice(0, file.lastIndexOf("/")) || "/");
}
