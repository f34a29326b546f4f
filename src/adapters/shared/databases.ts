/**
 * SQLite through `node:sqlite`, where the runtime brings it.
 *
 * @module
 */
import process from "node:process";
import { HostError } from "../../core/errors.ts";
import type { Database, DatabaseOpener, SqlValue } from "../../core/ports.ts";

// Not a static import: that would keep the whole host from loading on a runtime without it.
const sqlite = process.getBuiltinModule("node:sqlite") as typeof import("node:sqlite") | undefined;

/** Opens SQLite databases. */
export const databases: DatabaseOpener = {
  open(path: string): Database {
    if (!sqlite) {
      throw new HostError("host.internal", "Cannot open a database: this runtime has no SQLite", {
        hint: "Use Node 24.15, Bun 1.4, Deno 2.9 or newer",
      });
    }
    const database = new sqlite.DatabaseSync(path);
    return {
      run: (sql, params = []) => Number(database.prepare(sql).run(...params).changes),
      all: (sql, params = []) => database.prepare(sql).all(...params) as Record<string, SqlValue>[],
      close: () => database.close(),
    };
  },
  version(): string | null {
    if (!sqlite) return null;
    const database = new sqlite.DatabaseSync(":memory:");
    const row = database.prepare("select sqlite_version() as version").get() as { version: string };
    database.close();
    return row.version;
  },
};
