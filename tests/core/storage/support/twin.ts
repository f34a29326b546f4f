/**
 * One statement, twice: as written on a plain database, and through the engine on one where every name is prefixed. What
 * comes out must be the same.
 *
 * @module
 */
import { databases } from "../../../../src/adapters/shared/databases.ts";
import { HostError, messageOf } from "../../../../src/core/errors/host_error.ts";
import type { Database, SqlValue } from "../../../../src/core/ports/ports.ts";
import { StorageEngine } from "../../../../src/core/storage/engine.ts";
import { DEFAULT_LIMITS, SQL_LIMITS } from "../../../../src/core/storage/limits.ts";
import { rewriteSql } from "../../../../src/core/storage/sql/rewrite.ts";
import { bindParams, columnFacts, encodeRows } from "../../../../src/core/storage/values.ts";
import { HOST_TABLE, type RandomStatement } from "./random_sql.ts";
import { spoiledDatabase } from "./spoiled_database.ts";

/** What a statement came to. */
export interface Outcome {
  readonly columns: readonly string[];
  readonly rows: readonly unknown[];
  readonly changes: number;
  readonly error: string | null;
}

/** Why the engine refused what SQLite takes. */
type Refusal = "denied" | "dangling" | "limit" | null;

/** Two databases that must stay alike. */
export class Twin {
  readonly #plain: Database = databases.open(":memory:", { limits: SQL_LIMITS });
  readonly #prefixed: Database = databases.open(":memory:", { limits: SQL_LIMITS });
  readonly #engine: StorageEngine;

  /** `spoil` changes what the engine wrote before SQLite compiles it. */
  constructor(spoil: (sql: string) => string = (sql) => sql) {
    this.#prefixed.run(`CREATE TABLE ${HOST_TABLE}(token)`);
    this.#engine = new StorageEngine(spoiledDatabase(this.#prefixed, spoil), true, { limits: DEFAULT_LIMITS });
    this.#engine.claim("my-plugin");
    this.run({ sql: "CREATE TABLE one_column(a)", params: [] });
    this.run({ sql: "INSERT INTO one_column VALUES (1), (5)", params: [] });
  }

  /** Runs a statement on both; returns both outcomes, or null where a refusal is what is wanted. */
  run(statement: RandomStatement): { plain: Outcome; prefixed: Outcome } | null {
    const { refusal, ...prefixed } = this.#runPrefixed(statement);
    const plain = this.#runPlain(statement, refusal);
    if (refusal === "limit") return null;
    return refusal === "denied" && statement.sql.toLowerCase().includes(HOST_TABLE) ? null : { plain, prefixed };
  }

  /** Closes both. */
  close(): void {
    this.#plain.close();
    this.#prefixed.close();
  }

  #runPrefixed({ sql, params }: RandomStatement): Outcome & { refusal: Refusal } {
    try {
      const { rowsAffected, returned } = this.#engine.exec("my-plugin", { sql, params });
      const { columns, rows } = returned ?? { columns: [], rows: [] };
      return { columns, rows, changes: rowsAffected, error: null, refusal: null };
    } catch (error) {
      const { hint = "", code = "" } = error instanceof HostError ? error : {};
      const refusal = code === "storage.denied"
        ? "denied"
        : hint.startsWith("A view or trigger would be left")
        ? "dangling"
        : hint.startsWith("UPDATE and DELETE take no")
        ? "limit"
        : null;
      return { ...failed(error), refusal };
    }
  }

  /** As the engine does, but with the SQL as written. What the engine refused is undone here too. */
  #runPlain({ sql, params }: RandomStatement, refusal: Refusal): Outcome {
    const plain = this.#plain;
    plain.run("BEGIN");
    try {
      const outcome = runOn(plain, sql, params);
      // Something dangles only if it does so here as well.
      if (refusal === "dangling") renameProbe(plain);
      plain.run(refusal === null ? "COMMIT" : "ROLLBACK");
      return outcome;
    } catch (error) {
      if (plain.inTransaction) plain.run("ROLLBACK");
      return failed(error);
    }
  }
}

function renameProbe(database: Database): void {
  database.run("CREATE TABLE probe(x)");
  database.run("ALTER TABLE probe RENAME TO probed");
}

const SAME_NAMES = { translate: (name: string) => name, ftsTables: new Map<string, string>() };

function runOn(database: Database, sql: string, params: RandomStatement["params"]): Outcome {
  // Only to number named parameters, which drivers bind in different ways.
  const { parameterCount, parameterNames } = rewriteSql(sql.replace(/ LIMIT 1$/, ""), SAME_NAMES);
  const values: readonly SqlValue[] = bindParams({ parameterCount, parameterNames }, params);
  const statement = database.prepare(numbered(sql, parameterNames));
  const returnsRows = statement.columns.length > 0;
  if (!returnsRows) {
    const isDefinition = /^(\/\*.*?\*\/ )?(create|alter|drop)/i.test(sql);
    const changes = statement.run(values);
    return { columns: [], rows: [], changes: isDefinition ? 0 : changes, error: null };
  }
  const { columns, rows } = encodeRows(
    columnFacts(originalNames(statement.columns, parameterNames)),
    statement.all(values),
    DEFAULT_LIMITS,
  );
  const isQuery = /^(\/\*.*?\*\/ )?(select|values|with)/i.test(sql);
  return { columns, rows, changes: isQuery ? 0 : rows.length, error: null };
}

function numbered(sql: string, names: ReadonlyMap<string, number>): string {
  return [...names].reduce((text, [name, number]) => text.replaceAll(name, `?${number}`), sql);
}

function originalNames(columns: readonly string[], names: ReadonlyMap<string, number>): string[] {
  return columns.map((column) =>
    [...names].reduce((text, [name, number]) => text.replaceAll(`?${number}`, name), column)
  );
}

function failed(error: unknown): Outcome {
  return { columns: [], rows: [], changes: 0, error: messageOf(error) };
}
