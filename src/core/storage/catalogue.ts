/**
 * The catalogue of the database, read as the host: every object, its owner, which tables are FTS5 tables, and the
 * plugins' claims to their prefixes. A claim is kept in the schema itself, so every connection of every process sees it
 * together with the objects it is about.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Database, SqlValue } from "../ports/ports.ts";
import { ownerOf, quoteName, tablePrefix } from "./names.ts";
import { denied } from "./sql/refusals.ts";
import { type NameSpace, rewriteSql } from "./sql/rewrite.ts";
import { foldName } from "./sql/tokens.ts";

/** One row of the catalogue. */
export interface CatalogueEntry {
  /** `table`, `index`, `view` or `trigger`. */
  readonly type: string;
  readonly name: string;
  /** The table that an index or a trigger belongs to; the object's own name otherwise. */
  readonly table: string;
  /** The statement that made it; empty for an automatic index. */
  readonly sql: string;
}

/** The catalogue at one moment. */
export interface Catalogue {
  readonly entries: readonly CatalogueEntry[];
  /** Plugins that have claimed their prefix. */
  readonly plugins: ReadonlySet<string>;
  /** Names of all objects, folded. */
  readonly names: ReadonlySet<string>;
}

/** A view of this name, one per plugin, is the plugin's claim to its prefix. */
const CLAIM_PREFIX = "kaged_storage:";

// The rewriter and the authorizer let no other module make a virtual table.
const FTS5 = /^create virtual table\b/i;

/** Reads the catalogue. The connection must not be under a plugin's rules. */
export function readCatalogue(database: Database): Catalogue {
  const rows = database.prepare("SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_schema").all([]);
  const entries = rows.map(([type, name, table, sql]) => ({
    type: String(type),
    name: String(name),
    table: String(table),
    sql: String(sql),
  }));
  const claims = entries.filter(({ type, name }) => type === "view" && name.startsWith(CLAIM_PREFIX));
  return {
    entries,
    plugins: new Set(claims.map(({ name }) => name.slice(CLAIM_PREFIX.length))),
    names: new Set(entries.map(({ name }) => foldName(name))),
  };
}

/** Returns the objects of `plugin`, its automatic indexes included. */
export function entriesOf(catalogue: Catalogue, plugin: string): CatalogueEntry[] {
  return catalogue.entries.filter(({ table }) => ownerOf(table, catalogue.plugins) === plugin);
}

/** Returns the names of a plugin's SQL: its prefix goes in front. */
export function nameSpaceOf(catalogue: Catalogue, plugin: string): NameSpace {
  const prefix = tablePrefix(plugin);
  const tables = ftsTablesOf(catalogue, plugin).map((name) => name.slice(prefix.length));
  return {
    ftsTables: new Map(tables.map((name) => [foldName(name), name])),
    translate(name) {
      if (/^(plugin_|sqlite_|pragma_)/.test(foldName(name))) {
        const hint = "Names that start with plugin_, sqlite_ or pragma_ are the host's";
        throw denied(`Cannot use the name "${name}"`, hint);
      }
      if (ownerOf(prefix + name, catalogue.plugins) !== plugin) {
        throw denied(`Cannot use the name "${name}": it belongs to another plugin`, "Choose another name");
      }
      return prefix + name;
    },
  };
}

/** Returns the names for a plugin's objects that leave the host: the prefix goes. */
export function exportSpaceOf(catalogue: Catalogue, plugin: string): NameSpace {
  const prefix = tablePrefix(plugin);
  return {
    ftsTables: new Map(ftsTablesOf(catalogue, plugin).map((name) => [foldName(name), name])),
    translate: (name) => foldName(name).startsWith(prefix) ? name.slice(prefix.length) : name,
  };
}

/** Returns the full names of a plugin's FTS5 tables. */
export function ftsTablesOf(catalogue: Catalogue, plugin: string): string[] {
  return entriesOf(catalogue, plugin).filter(({ type, sql }) => type === "table" && FTS5.test(sql)).map(({ name }) =>
    name
  );
}

/** Returns the full names of the tables in which FTS5 keeps its index. */
export function shadowTablesOf(catalogue: Catalogue, plugin: string): Set<string> {
  const parts = ["data", "idx", "content", "docsize", "config"];
  return new Set(ftsTablesOf(catalogue, plugin).flatMap((name) => parts.map((part) => `${name}_${part}`)));
}

/** Returns the bytes that each table and index takes in the file. */
export function sizesOf(database: Database): Map<string, number> {
  const sizes = database.prepare("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE").all([]);
  return new Map(sizes.map(([name, bytes]) => [String(name), Number(bytes)]));
}

/** Returns the names of a plugin's tables and views, as the plugin knows them. */
export function schemaOf(catalogue: Catalogue, plugin: string): { tables: string[]; views: string[] } {
  const shadows = shadowTablesOf(catalogue, plugin);
  const own = entriesOf(catalogue, plugin).filter(({ name }) => !shadows.has(name));
  const names = (type: string): string[] =>
    own.filter((entry) => entry.type === type).map(({ name }) => name.slice(tablePrefix(plugin).length)).sort();
  return { tables: names("table"), views: names("view") };
}

/** Returns other plugins' objects which the claim of `plugin` would take from them; longer prefixes keep their own. */
function strangersUnder(catalogue: Catalogue, plugin: string): CatalogueEntry[] {
  const prefix = tablePrefix(plugin);
  return catalogue.entries.filter(({ name }) => {
    const owner = foldName(name).startsWith(prefix) ? ownerOf(name, catalogue.plugins) : null;
    return owner !== null && tablePrefix(owner).length < prefix.length;
  });
}

/**
 * Claims the prefix of `plugin`. Call it in a transaction, as the host.
 *
 * @throws {HostError} `storage.prefix_taken` when another plugin keeps objects under the prefix.
 */
export function claim(database: Database, plugin: string): void {
  const catalogue = readCatalogue(database);
  if (catalogue.plugins.has(plugin)) return;
  const [stranger] = strangersUnder(catalogue, plugin);
  if (stranger) {
    const owner = ownerOf(stranger.name, catalogue.plugins)!;
    throw new HostError(
      "storage.prefix_taken",
      `Cannot give "${plugin}" its prefix: "${owner}" keeps tables under it`,
      {
        data: { plugin, owner, object: stranger.name.slice(tablePrefix(owner).length) },
        hint: `Rename what "${owner}" keeps there, or uninstall it`,
      },
    );
  }
  database.run(`CREATE VIEW main.${quoteName(CLAIM_PREFIX + plugin)} AS SELECT 1 AS claimed`);
}

/** Gives the prefix of `plugin` back. */
export function unclaim(database: Database, plugin: string): void {
  database.run(`DROP VIEW IF EXISTS main.${quoteName(CLAIM_PREFIX + plugin)}`);
}

/** One table of a plugin, as the operator sees it. */
export interface TableReport {
  /** Its name, as the plugin knows it. */
  readonly name: string;
  /** Number of rows; null for a table that cannot be counted. */
  readonly rows: number | null;
  /** Bytes it takes in the file, indexes and search data included. */
  readonly bytes: number;
}

/** The tables of a plugin and the bytes they take. */
export interface StorageReport {
  /** Its tables, sorted by name. */
  readonly tables: TableReport[];
  /** Bytes of all tables together. */
  readonly bytes: number;
}

/** Returns a plugin's tables and the bytes they take. */
export function reportStorage(database: Database, plugin: string): StorageReport {
  const { own, shadows, visible, shortName } = objectsOf(database, plugin);
  const sizes = sizesOf(database);
  const tables = visible.map(({ name }): TableReport => {
    const parts = own.filter((entry) =>
      entry.table === name || (shadows.has(entry.table) && isPartOf(entry.table, name))
    );
    const bytes = parts.reduce((sum, part) => sum + (sizes.get(part.name) ?? 0), 0);
    const [[rows] = [null]] = database.prepare(`SELECT count(*) FROM main.${quoteName(name)}`).all([]);
    return { name: shortName(name), rows: rows === null ? null : Number(rows), bytes };
  });
  return { tables, bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Drops everything a plugin has, and nothing else; returns the names of its tables. Its prefix is free again. */
export function dropStorage(database: Database, plugin: string): string[] {
  const { own, visible, shortName } = objectsOf(database, plugin);
  database.run("PRAGMA defer_foreign_keys = 1");
  for (const type of ["trigger", "view"]) {
    for (const { name } of own.filter((entry) => entry.type === type)) {
      database.run(`DROP ${type} main.${quoteName(name)}`);
    }
  }
  for (const { name } of visible) database.run(`DROP TABLE main.${quoteName(name)}`);
  unclaim(database, plugin);
  return visible.map(({ name }) => shortName(name));
}

/** Writes a plugin's tables, views, indexes and triggers to `target`, under the names the plugin knows. */
export function exportStorage(database: Database, plugin: string, target: Database): string[] {
  const { catalogue, own, tables, visible, shortName } = objectsOf(database, plugin);
  const names = exportSpaceOf(catalogue, plugin);
  const fts = new Set(ftsTablesOf(catalogue, plugin));
  const make = ({ sql }: CatalogueEntry): void => void target.run(rewriteSql(sql, names).sql);
  target.run("PRAGMA foreign_keys = 0");
  target.run("BEGIN");
  for (const entry of visible) if (!fts.has(entry.name)) make(entry);
  for (const entry of visible) if (fts.has(entry.name)) make(entry);
  for (const { name } of tables) {
    if (!fts.has(name)) copyRows(database, target, name, shortName(name));
    copySequence(database, target, name, shortName(name));
  }
  for (const type of ["index", "view", "trigger"]) {
    for (const entry of own.filter((each) => each.type === type && each.sql !== "")) make(entry);
  }
  target.run("COMMIT");
  return visible.map(({ name }) => shortName(name));
}

/** A plugin's objects, its tables sorted by name; those behind a search table are not `visible` to the plugin. */
function objectsOf(database: Database, plugin: string) {
  const catalogue = readCatalogue(database);
  const own = entriesOf(catalogue, plugin);
  const shadows = shadowTablesOf(catalogue, plugin);
  const tables = own.filter(({ type }) => type === "table").sort((a, b) => a.name < b.name ? -1 : 1);
  const visible = tables.filter(({ name }) => !shadows.has(name));
  const shortName = (name: string): string => name.slice(tablePrefix(plugin).length);
  return { catalogue, own, shadows, tables, visible, shortName };
}

function isPartOf(shadow: string, table: string): boolean {
  return shadow.slice(0, shadow.lastIndexOf("_")) === table;
}

function copyRows(source: Database, target: Database, table: string, shortName: string): void {
  const columns = source.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0").all([table])
    .map(([name]) => String(name));
  const names = columns.map(quoteName);
  // The row id is kept where there is one to keep: search tables point at rows by it.
  if (hasRowId(source, table, columns)) names.unshift("rowid");
  const values = names.map(() => "?").join(", ");
  const insert = target.prepare(
    `INSERT OR REPLACE INTO main.${quoteName(shortName)}(${names.join(", ")}) VALUES (${values})`,
  );
  const rows: SqlValue[][] = source.prepare(`SELECT ${names.join(", ")} FROM main.${quoteName(table)}`).all([]);
  for (const row of rows) insert.run(row);
}

function hasRowId(database: Database, table: string, columns: readonly string[]): boolean {
  if (columns.some((name) => name.toLowerCase() === "rowid")) return false;
  const [[without] = [0n]] = database.prepare("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?")
    .all([table]);
  return Number(without) === 0;
}

/** Copies the last AUTOINCREMENT value of a table, where it has one. */
function copySequence(source: Database, target: Database, table: string, shortName: string): void {
  if (source.prepare("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence'").all([]).length === 0) return;
  for (const [sequence] of source.prepare("SELECT seq FROM main.sqlite_sequence WHERE name = ?").all([table])) {
    target.run("DELETE FROM sqlite_sequence WHERE name = ?", [shortName]);
    target.run("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", [shortName, sequence!]);
  }
}
