/**
 * A connection that hands SQLite another text than the engine wrote: what a rewriter with a hole would have let through.
 *
 * @module
 */
import type { Database } from "../../../../src/core/ports/ports.ts";

/** Returns `database` with every statement changed by `spoil` before SQLite compiles it. */
export function spoiledDatabase(database: Database, spoil: (sql: string) => string): Database {
  return {
    prepare: (sql) => database.prepare(spoil(sql)),
    run: (sql, params) => database.run(sql, params),
    setAuthorizer: (authorizer) => database.setAuthorizer(authorizer),
    get inTransaction() {
      return database.inTransaction;
    },
    close: () => database.close(),
  };
}

/** Returns a spoiler that takes the prefix of `plugin` away from these names of its. */
export function missing(plugin: string, names: readonly string[]): (sql: string) => string {
  return (sql) => names.reduce((text, name) => text.replaceAll(`"plugin_${plugin}_${name}"`, `"${name}"`), sql);
}
