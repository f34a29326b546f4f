/**
 * The layout of a database that the host makes, as a number in the file itself (SQLite's `user_version`): a version of
 * the host that does not know a later layout says so, and touches nothing.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { Database } from "../ports/ports.ts";

/** Layout that this version reads and writes. Files of 0 were made before the number was kept, and are the same. */
const FORMAT = 1;

/** Throws `code` when a later version of the host has made the database or changed its layout. */
export function checkFormat(database: Database, code: HostErrorCode): void {
  const found = formatOf(database);
  if (found <= FORMAT) return;
  throw new HostError(code, `The database has format ${found}, and this version knows formats up to ${FORMAT}`, {
    data: { found, known: FORMAT },
    hint: "Use the version of kaged that wrote it, or a newer one",
  });
}

/** Writes the number of the layout; within a transaction it comes and goes with it. */
export function markFormat(database: Database): void {
  if (formatOf(database) < FORMAT) database.prepare(`PRAGMA user_version = ${FORMAT}`).all([]);
}

function formatOf(database: Database): number {
  return Number(database.prepare("PRAGMA user_version").all([])[0]![0]);
}
