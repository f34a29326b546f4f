/**
 * The operator's work on a plugin's data: report, export, drop. Everything here runs as the host, in one transaction.
 *
 * @module
 */
import type { Database, SqlValue } from "../ports/ports.ts";
import {
  type CatalogueEntry,
  entriesOf,
  exportSpaceOf,
  ftsTablesOf,
  readCatalogue,
  shadowTablesOf,
  sizesOf,
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
