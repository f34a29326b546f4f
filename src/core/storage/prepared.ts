/**
 * Prepared statements of plugins: short names for SQL that the host keeps. A handle gives its plugin nothing that the SQL
 * itself would not: capability, rewriter and authorizer judge each call anew.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";

/** Handles that one plugin has at a time; a further one takes the place of the oldest. */
const MAX_HANDLES = 256;

/** The handles of one plugin. */
interface Handles {
  readonly byId: Map<string, string>;
  readonly bySql: Map<string, string>;
}

/** Keeps the handles of all plugins. */
export class PreparedStatements {
  readonly #owners: Map<string, Handles> = new Map();
  readonly #epoch: string;
  #last = 0;

  /** `epoch` is part of each handle, so that one of an earlier storage never means other SQL here. */
  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  /** Returns the handle of a statement; the same one while the plugin prepares the same SQL. */
  add(plugin: string, sql: string): string {
    let own = this.#owners.get(plugin);
    if (!own) this.#owners.set(plugin, own = { byId: new Map(), bySql: new Map() });
    const known = own.bySql.get(sql);
    if (known !== undefined) return known;
    if (own.byId.size >= MAX_HANDLES) {
      const [id, oldest] = own.byId.entries().next().value!;
      own.byId.delete(id);
      own.bySql.delete(oldest);
    }
    const id = `${this.#epoch}.${++this.#last}`;
    own.byId.set(id, sql);
    own.bySql.set(sql, id);
    return id;
  }

  /** Returns the SQL of a plugin's own handle. Throws `storage.statement_unknown`. */
  sqlOf(plugin: string, handle: string): string {
    const sql = this.#owners.get(plugin)?.byId.get(handle);
    if (sql !== undefined) return sql;
    throw new HostError("storage.statement_unknown", `There is no prepared statement "${handle.slice(0, 100)}"`, {
      hint: "Prepare it again: a change of the plugin's tables ends its handles, and so does a new host",
    });
  }

  /** Ends all handles of a plugin. */
  forget(plugin: string): void {
    this.#owners.delete(plugin);
  }
}
