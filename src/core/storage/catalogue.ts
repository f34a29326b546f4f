/**
 * The catalogue of the database, read as the host: every object, its owner, which tables are FTS5 tables, and the
 * plugins' claims to their prefixes. A claim is kept in the schema itself, so every connection of every process sees it
 * together with the objects it is about.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Database } from "../ports/ports.ts";
import { ownerOf, quoteName, tablePrefix } from "./names.ts";
import { denied } from "./sql/refusals.ts";
import type { NameSpace } from "./sql/rewrite.ts";
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
