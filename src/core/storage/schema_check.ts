/**
 * The third wall: after a statement that changes the schema, and before it is committed, the host checks the schema,
 * because the authorizer sees neither the target of RENAME TO, nor the parent in REFERENCES, nor the bodies of views and
 * triggers.
 *
 * @module
 */
import { messageOf } from "../errors/host_error.ts";
import type { Database } from "../ports/ports.ts";
import { type Catalogue, type CatalogueEntry, entriesOf } from "./catalogue.ts";
import { ownerOf, quoteName, tablePrefix, withoutPrefix } from "./names.ts";
import { denied, sqlError } from "./sql/refusals.ts";

/** How to run statements while checking. */
interface CheckContext {
  /** The connection, in the transaction of the statement. */
  readonly database: Database;
  readonly plugin: string;
  /** Runs work of the host itself, to which everything is allowed. */
  asHost<T>(run: () => T): T;
  /** Compiles a statement under the plugin's own rules; false when an access was refused, whatever else went wrong. */
  mayCompile(sql: string): boolean;
}

/** Throws unless the step from `before` to `after` changed only the plugin's own objects, and left them sound. */
export function checkSchema(before: Catalogue, after: Catalogue, context: CheckContext): void {
  checkStrangers(before, after, context.plugin);
  const own = entriesOf(after, context.plugin);
  for (const entry of own) {
    if (ownerOf(entry.name, after.plugins) !== context.plugin && !entry.name.startsWith("sqlite_autoindex_")) {
      throw denied("Cannot give an object a name that is not the plugin's");
    }
    if (entry.type === "table") checkParents(entry, after, context);
  }
  const bodies = own.filter(({ type }) => type === "view" || type === "trigger");
  if (bodies.length > 0) checkNothingDangles(context);
  for (const entry of bodies) checkBody(entry, context);
}

/** Nothing that is not the plugin's may appear, vanish or change; `sqlite_sequence` may appear. */
function checkStrangers(before: Catalogue, after: Catalogue, plugin: string): void {
  const foreign = ({ entries, plugins }: Catalogue): string[] =>
    entries
      .filter(({ name, table }) => ownerOf(table, plugins) !== plugin && name !== "sqlite_sequence")
      .map((entry) => JSON.stringify(entry));
  const had = foreign(before);
  const has = new Set(foreign(after));
  if (had.length !== has.size || had.some((entry) => !has.has(entry))) {
    throw denied("Cannot change what is not the plugin's own");
  }
}

function checkParents(entry: CatalogueEntry, after: Catalogue, { database, plugin, asHost }: CheckContext): void {
  if (!/\breferences\b/i.test(entry.sql)) return;
  const parents = asHost(() => database.prepare('SELECT "table" FROM pragma_foreign_key_list(?)').all([entry.name]));
  for (const [parent] of parents) {
    if (ownerOf(String(parent), after.plugins) !== plugin) {
      throw denied("Cannot refer to a table that is not the plugin's");
    }
  }
}

/** Compiles the statements that would use a view or set off a trigger. */
function checkBody({ type, name, table }: CatalogueEntry, context: CheckContext): void {
  const target = quoteName(table);
  const uses = type === "view" ? [`SELECT * FROM ${quoteName(name)}`] : [
    `INSERT INTO ${target} DEFAULT VALUES`,
    `DELETE FROM ${target}`,
    `UPDATE ${target} SET ${assignments(table, context)}`,
  ];
  if (uses.every((sql) => context.mayCompile(sql))) return;
  throw denied(`Cannot reach what ${type} "${withoutPrefix(name, tablePrefix(context.plugin))}" names`);
}

function assignments(table: string, { database, asHost }: CheckContext): string {
  const columns = asHost(() => database.prepare("SELECT name FROM pragma_table_info(?)").all([table]));
  return columns.map(([column]) => `${quoteName(String(column))} = NULL`).join(", ");
}

/**
 * While any view or trigger names a missing object, SQLite refuses every later ALTER TABLE, also of other plugins, with
 * an error that holds the name. So the host asks now: it makes a table of its own, renames it and rolls back.
 */
function checkNothingDangles({ database, plugin, asHost }: CheckContext): void {
  const failure = asHost(() => {
    database.run("SAVEPOINT kaged_probe");
    try {
      database.run("CREATE TABLE main.kaged_probe(x)");
      database.run("ALTER TABLE main.kaged_probe RENAME TO kaged_probed");
      return null;
    } catch (error) {
      return messageOf(error);
    } finally {
      database.run("ROLLBACK TO kaged_probe");
      database.run("RELEASE kaged_probe");
    }
  });
  if (failure === null) return;
  throw sqlError(
    withoutPrefix(failure, tablePrefix(plugin)),
    "A view or trigger would be left without what it names: drop it first, or change both in one batch",
  );
}
