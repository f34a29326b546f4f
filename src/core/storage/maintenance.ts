/**
 * The operator's work on a plugin's data: report, export, drop. Everything here runs as the host, in one transaction.
 *
 * @module
 */
import type { Database, SqlValue } from "../ports/ports.ts";
import {
  type Catalogue,
  type CatalogueEntry,
  entriesOf,
  exportSpaceOf,
  ftsTablesOf,
  readCatalogue,
  shadowTablesOf,
  unclaim,
} from "./catalogue.ts";
import { quoteName, tablePrefix } from "./names.ts";
import { rewriteSql } from "./sql/rewrite.ts";

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
  const catalogue = readCatalogue(database);
  const prefix = tablePrefix(plugin);
  const sizes = sizesOf(database);
  const own = entriesOf(catalogue, plugin);
  const shadows = shadowTablesOf(catalogue, plugin);
  const tables = tablesOf(own).filter(({ name }) => !shadows.has(name)).map(({ name }): TableReport => {
    const parts = own.filter((entry) =>
      entry.table === name || (shadows.has(entry.table) && isPartOf(entry.table, name))
    );
    const bytes = parts.reduce((sum, part) => sum + (sizes.get(part.name) ?? 0), 0);
    const [[rows] = [null]] = database.prepare(`SELECT count(*) FROM main.${quoteName(name)}`).all([]);
    return { name: name.slice(prefix.length), rows: rows === null ? null : Number(rows), bytes };
  });
  return { tables, bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Drops everything a plugin has, and nothing else; returns the names of its tables. Its prefix is free again. */
export function dropStorage(database: Database, plugin: string): string[] {
  const catalogue = readCatalogue(database);
  const own = entriesOf(catalogue, plugin);
  const shadows = shadowTablesOf(catalogue, plugin);
  const tables = tablesOf(own).filter(({ name }) => !shadows.has(name));
  database.run("PRAGMA defer_foreign_keys = 1");
  for (const type of ["trigger", "view"]) {
    for (const { name } of own.filter((entry) => entry.type === type)) {
      database.run(`DROP ${type} main.${quoteName(name)}`);
    }
  }
  for (const { name } of tables) database.run(`DROP TABLE main.${quoteName(name)}`);
  unclaim(database, plugin);
  return tables.map(({ name }) => name.slice(tablePrefix(plugin).length));
}

/** Writes a plugin's tables, views, indexes and triggers to `target`, under the names the plugin knows. */
export function exportStorage(database: Database, plugin: string, target: Database): string[] {
  const catalogue = readCatalogue(database);
  const own = entriesOf(catalogue, plugin);
  const fts = new Set(ftsTablesOf(catalogue, plugin));
  const shadows = shadowTablesOf(catalogue, plugin);
  const make = (entry: CatalogueEntry): void => void target.run(unprefixed(entry, catalogue, plugin));
  target.run("PRAGMA foreign_keys = 0");
  target.run("BEGIN");
  const tables = tablesOf(own);
  for (const entry of tables) if (!fts.has(entry.name) && !shadows.has(entry.name)) make(entry);
  for (const entry of tables) if (fts.has(entry.name)) make(entry);
  for (const { name } of tables) if (!fts.has(name)) copyRows(database, target, name, plugin);
  copySequences(database, target, tables, plugin);
  for (const type of ["index", "view", "trigger"]) {
    for (const entry of own.filter((each) => each.type === type && each.sql !== "")) make(entry);
  }
  target.run("COMMIT");
  return tables.filter(({ name }) => !shadows.has(name)).map(({ name }) => name.slice(tablePrefix(plugin).length));
}

function tablesOf(entries: readonly CatalogueEntry[]): CatalogueEntry[] {
  return entries.filter(({ type }) => type === "table").sort((a, b) => a.name < b.name ? -1 : 1);
}

function isPartOf(shadow: string, table: string): boolean {
  return shadow.slice(0, shadow.lastIndexOf("_")) === table;
}

function sizesOf(database: Database): Map<string, number> {
  const sizes = database.prepare("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE").all([]);
  return new Map(sizes.map(([name, bytes]) => [String(name), Number(bytes)]));
}

/** The statement that makes an object, with the names the plugin knows. */
function unprefixed({ sql }: CatalogueEntry, catalogue: Catalogue, plugin: string): string {
  return rewriteSql(sql, exportSpaceOf(catalogue, plugin)).sql;
}

function copyRows(source: Database, target: Database, table: string, plugin: string): void {
  const columns = source.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0").all([table])
    .map(([name]) => String(name));
  const names = columns.map(quoteName);
  // The row id is kept where there is one to keep: search tables point at rows by it.
  if (hasRowId(source, table, columns)) names.unshift("rowid");
  const own = quoteName(table.slice(tablePrefix(plugin).length));
  const insert = target.prepare(
    `INSERT OR REPLACE INTO main.${own}(${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
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

function copySequences(source: Database, target: Database, tables: readonly CatalogueEntry[], plugin: string): void {
  if (source.prepare("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence'").all([]).length === 0) return;
  for (const { name } of tables) {
    for (const [sequence] of source.prepare("SELECT seq FROM main.sqlite_sequence WHERE name = ?").all([name])) {
      const own = name.slice(tablePrefix(plugin).length);
      target.run("DELETE FROM sqlite_sequence WHERE name = ?", [own]);
      target.run("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", [own, sequence!]);
    }
  }
}
