/**
 * Settings of the connection on which plugins' statements run.
 *
 * @module
 */
import type { Database } from "../ports/ports.ts";

const ALWAYS: readonly string[] = ["trusted_schema = 0", "temp_store = MEMORY", "cell_size_check = 1"];
const WRITING: readonly string[] = ["journal_mode = WAL", "synchronous = NORMAL", "journal_size_limit = 16777216"];

/** Sets a connection up; unless `writable`, nothing on it can write. */
export function setPragmas(database: Database, writable: boolean): void {
  for (const pragma of [...ALWAYS, ...(writable ? WRITING : ["query_only = 1"])]) {
    database.prepare(`PRAGMA ${pragma}`).all([]);
  }
}
