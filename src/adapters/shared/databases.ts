/**
 * SQLite through `node:sqlite`, where the runtime brings it.
 *
 * @module
 */
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { HostError } from "../../core/errors/host_error.ts";
import type { Database, DatabaseOpener, DatabaseOptions, SqlValue, Statement } from "../../core/ports/ports.ts";

// Not a static import: that would keep the whole host from loading on a runtime without it.
const sqlite = process.getBuiltinModule("node:sqlite") as typeof import("node:sqlite") | undefined;

type Connection = import("node:sqlite").DatabaseSync;

/** Opens SQLite databases; see {@link DatabaseOpener}. */
export const databases: DatabaseOpener = {
  open(path: string, options: DatabaseOptions = {}): Database {
    if (!sqlite) {
      throw new HostError("storage.unavailable", "Cannot open a database: this runtime has no SQLite", {
        hint: "Use Node 24.15, Bun 1.4, Deno 2.9 or newer",
      });
    }
    if (path !== ":memory:" && !options.readOnly) makePrivate(path);
    return wrap(new sqlite.DatabaseSync(path, connectionOptions(options)));
  },
  version(): string | null {
    if (!sqlite) return null;
    const database = new sqlite.DatabaseSync(":memory:");
    const row = database.prepare("select sqlite_version() as version").get() as { version: string };
    database.close();
    return row.version;
  },
  isFenced(): boolean {
    if (!sqlite) return false;
    const probe = new sqlite.DatabaseSync(":memory:");
    const isFenced = typeof probe.setAuthorizer === "function" && typeof probe.enableDefensive === "function" &&
      "limits" in probe;
    probe.close();
    return isFenced;
  },
  storageProgram: async () => (await import("../generated/storage_program.ts")).STORAGE_PROGRAM,
};

/** Makes a missing file readable for this user alone: SQLite would let others read it, and the files beside it. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch {
    // It exists already, or SQLite will report the real problem.
  }
}

function connectionOptions({ readOnly = false, defensive = true, limits, busyMs = 5_000 }: DatabaseOptions): object {
  const common = { readOnly, defensive, timeout: busyMs, enableForeignKeyConstraints: true };
  if (!limits) return common;
  return { ...common, enableDoubleQuotedStringLiterals: false, allowExtension: false, limits };
}

function wrap(database: Connection): Database {
  return {
    prepare: (sql) => prepare(database, sql),
    run: (sql, params = []) => Number(database.prepare(sql).run(...params).changes),
    setAuthorizer: (authorizer) => database.setAuthorizer((...access) => authorizer(...access) ? 0 : 1),
    get inTransaction() {
      return database.isTransaction;
    },
    close: () => database.close(),
  };
}

function prepare(database: Connection, sql: string): Statement {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  let columns: readonly string[] | null = null;
  let readsBigInts = false;
  const rows = (params: readonly SqlValue[], asBigInts: boolean): SqlValue[][] => {
    if (readsBigInts !== asBigInts) statement.setReadBigInts(readsBigInts = asBigInts);
    return statement.all(...params) as unknown as SqlValue[][];
  };
  return {
    get columns() {
      return columns ??= statement.columns().map(({ name }) => name);
    },
    run: (params) => Number(statement.run(...params).changes),
    all: (params) => rows(params, true),
    allNumbers: (params) => rows(params, false),
  };
}
