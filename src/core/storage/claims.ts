/**
 * A plugin's claim to its prefix, kept in the schema itself: so every connection of every process sees it together with
 * the objects it is about.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Database } from "../ports/ports.ts";
import { CLAIM_PREFIX, readCatalogue, strangersUnder } from "./catalogue.ts";
import { ownerOf, quoteName, tablePrefix } from "./names.ts";

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
