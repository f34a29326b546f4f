/**
 * What is in the database, read as the host: every object, who owns it, and which tables are FTS5 tables.
 *
 * @module
 */
import type { Database } from "../ports/ports.ts";
import { ownerOf, tablePrefix } from "./names.ts";
import { denied } from "./sql/refusals.ts";
import type { NameSpace } from "./sql/rewrite.ts";
import { foldName } from "./sql/tokens.ts";

/** One row of the catalogue. */
export interface CatalogueEntry {
  /** table, index, view or trigger. */
  readonly type: string;
  /** Its name. */
  readonly name: string;
  /** The table it belongs to. */
  readonly table: string;
  /** The statement that made it. */
  readonly sql: string;
}

/** The catalogue at one moment. */
export interface Catalogue {
  /** Every object. */
  readonly entries: readonly CatalogueEntry[];
  /** Plugins that have claimed their prefix. */
  readonly plugins: ReadonlySet<string>;
  /** Names of objects, folded. */
  readonly names: ReadonlySet<string>;
}

/** A view of this name, one per plugin, says that the plugin has claimed its prefix. */
export const CLAIM_PREFIX = "kaged_storage:";

// Of virtual tables there are no others: the rewriter and the authorizer both see to it.
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

/** Returns what `plugin` owns: its objects, its automatic indexes included. */
export function entriesOf(catalogue: Catalogue, plugin: string): CatalogueEntry[] {
  return catalogue.entries.filter(({ table }) => ownerOf(table, catalogue.plugins) === plugin);
}

/** Returns what the names in a plugin's SQL become: its prefix goes in front. */
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

/** Returns what the names in the catalogue become when a plugin's objects leave the host: the prefix goes. */
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

/** Returns the full names of the tables in which FTS5 keeps what it indexes. */
export function shadowTablesOf(catalogue: Catalogue, plugin: string): Set<string> {
  const parts = ["data", "idx", "content", "docsize", "config"];
  return new Set(ftsTablesOf(catalogue, plugin).flatMap((name) => parts.map((part) => `${name}_${part}`)));
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
export function strangersUnder(catalogue: Catalogue, plugin: string): CatalogueEntry[] {
  const prefix = tablePrefix(plugin);
  return catalogue.entries.filter(({ name }) => {
    const owner = foldName(name).startsWith(prefix) ? ownerOf(name, catalogue.plugins) : null;
    return owner !== null && tablePrefix(owner).length < prefix.length;
  });
}
