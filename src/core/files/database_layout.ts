/**
 * The layout of a database of ours: its number stands in `user_version`, where every SQLite tool shows it.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { Database } from "../ports/ports.ts";

/** A database, and the newest layout that this version knows. */
export interface LayoutOf {
  /** Name of the file in the error; a plugin reads the error of its storage, and must not learn where the home is. */
  readonly file: string;
  /** A file without a number, as earlier versions left it, has layout 1. */
  readonly newest: number;
  /** Whether the number may be written. */
  readonly writable: boolean;
  /** Code of the error. */
  readonly code: Extract<HostErrorCode, "storage.layout_newer" | "jobs.layout_newer">;
}

/**
 * Checks the layout of a database, and numbers one that has no number yet.
 *
 * @throws {HostError} `code` for a layout that only a newer version of this package knows: nothing was changed.
 */
export function checkLayout(database: Database, { file, newest, writable, code }: LayoutOf): void {
  const [[found] = [0]] = database.prepare("PRAGMA user_version").allNumbers([]);
  const layout = Number(found);
  if (layout > newest) {
    throw new HostError(code, `"${file}" has layout ${layout}: this version knows layouts up to ${newest}`, {
      data: { file, layout, newest },
      hint: "Use the version of @kaged/plugin-host that wrote it, or a copy of the file from before",
    });
  }
  if (layout > 0 || !writable) return;
  try {
    database.run(`PRAGMA user_version = ${newest}`);
  } catch {
    // The disk is full, or another process writes: the next one that opens the file numbers it.
  }
}
