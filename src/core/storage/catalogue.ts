/**
 * What is in the database, read as the host: every object, who owns it, and which tables are FTS5 tables.
 *
 * @module
 */
import type { Database } from "../ports.ts";
import { ownerOf, tablePrefix } from "./names.ts";
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

/** Returns the names of `plugin` for the rewriter. */
export function nameSpaceOf(catalogue: Catalogue, plugin: string): NameSpace {
  const prefix = tablePrefix(plugin);
  const ftsTables = new Map<string, string>();
  for (const { type, name, sql } of entriesOf(catalogue, plugin)) {
    if (type !== "table" || !FTS5.test(sql)) continue;
    const own = name.slice(prefix.length);
    ftsTables.set(foldName(own), own);
  }
  return { prefix, owns: (name) => ownerOf(name, catalogue.plugins) === plugin, ftsTables };
}

/** Returns other plugins' objects under the prefix of `plugin`, which its claim would take from them. */
export function strangersUnder(catalogue: Catalogue, plugin: string): CatalogueEntry[] {
  const prefix = tablePrefix(plugin);
  return catalogue.entries.filter(({ name }) => {
    const owner = foldName(name).startsWith(prefix) ? ownerOf(name, catalogue.plugins) : null;
    return owner !== null && owner !== plugin;
  });
}
