/**
 * Runs plugins' statements on one connection: rewrites, compiles under the authorizer, binds, runs, checks, commits.
 * Processes and deadlines are its caller's business.
 *
 * @module
 */
import type { Database, SqlValue, Statement } from "../ports/ports.ts";
import { type CallRules, RuleKeeper } from "./authorizer.ts";
import { type Compiled, CompiledStatements, isDefinition, type PreparedFacts } from "./compiled.ts";
import { type Catalogue, claim, nameSpaceOf, readCatalogue, schemaOf } from "./catalogue.ts";
import { failureOf, isFull, quotaExceeded, withIndex } from "./failures.ts";
import type { StorageLimits } from "./limits.ts";
import type { ExecOutcome, StatementCall } from "./messages.ts";
import { ownerOf } from "./names.ts";
import { setPragmas } from "./pragmas.ts";
import { Quota, type QuotaCall } from "./quota.ts";
import { checkSchema } from "./schema_check.ts";
import { denied, sqlError } from "./sql/refusals.ts";
import { type NameSpace, rewriteSql } from "./sql/rewrite.ts";
import { bindParams, columnFacts, type EncodedRows, encodeRows } from "./values.ts";

export interface EngineOptions {
  readonly limits: StorageLimits;
  /** Quotas in bytes that differ from the one in `limits`, by plugin. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** Bytes left on the disk, or null when that is unknown. */
  readonly freeBytes?: () => number | null;
}

/** Of so many statements in a row that are known, one looks whether another process has written. */
const LOOK_EVERY = 8;

/** The engine of one connection. */
export class StorageEngine {
  readonly #database: Database;
  readonly #options: EngineOptions;
  readonly #writable: boolean;
  readonly #schemaVersion: Statement;
  readonly #dataVersion: Statement | null;
  readonly #begin: Statement | null;
  readonly #commit: Statement | null;
  readonly #quota: Quota | null;
  readonly #compiled = new CompiledStatements();
  readonly #nameSpaces: Map<string, NameSpace> = new Map();
  #version: SqlValue = null;
  #seenDataVersion: SqlValue = null;
  #sinceLook = 0;
  #hasDefined = false;
  #catalogue: Catalogue = { entries: [], plugins: new Set(), names: new Set() };
  readonly #keeper = new RuleKeeper();
  readonly #runBegin = (): unknown => this.#begin!.run([]);
  readonly #runCommit = (): unknown => this.#commit!.run([]);

  /** Sets the connection up; unless `writable`, no statement on it can write. */
  constructor(database: Database, writable: boolean, options: EngineOptions) {
    this.#database = database;
    this.#options = options;
    this.#writable = writable;
    // Set once, because replacing it would expire every compiled statement.
    database.setAuthorizer((action, first, second, schema) => this.#keeper.allows({ action, first, second, schema }));
    setPragmas(database, writable);
    this.#schemaVersion = database.prepare("PRAGMA schema_version");
    this.#dataVersion = writable ? database.prepare("PRAGMA data_version") : null;
    this.#begin = writable ? database.prepare("BEGIN IMMEDIATE") : null;
    this.#commit = writable ? database.prepare("COMMIT") : null;
    this.#quota = writable ? new Quota(database) : null;
    this.#keeper.close();
  }

  /** Whether the last transaction has changed the schema. */
  get hasDefined(): boolean {
    return this.#hasDefined;
  }

  /** Claims the plugin's prefix. Throws `storage.prefix_taken` when another plugin keeps something under it. */
  claim(plugin: string): void {
    this.#refreshFor(plugin);
    if (this.#catalogue.plugins.has(plugin)) return;
    this.asHost((database) => claim(database, plugin));
  }

  /** Runs a query. Whatever the SQL says, nothing is written. */
  query(plugin: string, { sql, params }: StatementCall): EncodedRows {
    try {
      const known = this.#compiled.get(plugin, sql);
      const rows = known?.isSelfContained ? this.#unlessStale(known, params) : null;
      if (rows) return rows;
      this.#refresh();
      const compiled = this.#compile(plugin, sql);
      if (compiled.rewritten.kind !== "select") throw denied("Cannot write in a query", "Use kaged.storage.exec");
      return this.#rows(compiled, bindParams(compiled.rewritten, params));
    } catch (error) {
      throw this.#failure(error, plugin);
    }
  }

  /**
   * Runs a query that was compiled before, without asking first whether the schema has changed. If it has, SQLite compiles
   * the query again and asks the authorizer, which refuses: nothing is read by rules that may be out of date.
   */
  #unlessStale(known: Compiled, params: unknown): EncodedRows | null {
    const values = bindParams(known.rewritten, params);
    const rows = this.#keeper.unlessCompiled(() => this.#rows(known, values));
    if (rows === null) this.#version = null;
    return rows;
  }

  /** Runs one statement in a transaction of its own. */
  exec(plugin: string, call: StatementCall): ExecOutcome {
    const known = this.#compiled.get(plugin, call.sql);
    const outcome = known?.isSelfContained && this.#sinceLook++ % LOOK_EVERY > 0 && this.#quota?.isAmpleFor(plugin)
      ? this.#execKnown(plugin, known, call.params)
      : null;
    return outcome ?? this.#transaction(plugin, (quota) => this.#execOne(plugin, call, quota));
  }

  /** Runs statements in one transaction: all of them or none. An error names the statement that failed. */
  batch(plugin: string, calls: readonly StatementCall[]): ExecOutcome[] {
    let index = 0;
    try {
      return this.#transaction(plugin, (quota) => {
        const outcomes: ExecOutcome[] = [];
        for (index = 0; index < calls.length; index++) outcomes.push(this.#execOne(plugin, calls[index]!, quota));
        return outcomes;
      });
    } catch (error) {
      throw index < calls.length ? withIndex(error, index) : error;
    }
  }

  /** Compiles a statement and returns the facts about it; it stays compiled for the calls to come. */
  prepare(plugin: string, sql: string): PreparedFacts {
    try {
      this.#hasDefined = false;
      this.#refresh();
      const { rewritten, columns } = this.#compile(plugin, sql);
      if (isDefinition(rewritten)) throw sqlError("a definition runs once", "Send it to kaged.storage.exec");
      const kind = rewritten.kind === "select" ? "query" : "exec";
      return { kind, parameters: rewritten.parameterCount, columns: columns.names };
    } catch (error) {
      throw this.#failure(error, plugin);
    }
  }

  /**
   * Runs a statement that was compiled before, for a plugin that is far from its quota, as {@link #unlessStale} runs a
   * query. Null when it has to go the long way: nothing has been changed then.
   */
  #execKnown(plugin: string, known: Compiled, params: unknown): ExecOutcome | null {
    let outcome: ExecOutcome | null = null;
    this.#hasDefined = false;
    try {
      const values = bindParams(known.rewritten, params);
      this.#keeper.asHost(this.#runBegin);
      outcome = this.#keeper.unlessCompiled(() => this.#run(known, values));
      if (outcome !== null) this.#keeper.asHost(this.#runCommit);
    } catch (error) {
      outcome = null;
      if (!isFull(error)) throw this.#rolledBack(error, plugin);
    }
    if (outcome === null) {
      this.#version = null;
      this.#rollBack();
    }
    return outcome;
  }

  /** Runs work of the host's own in one transaction, under no plugin's rules. */
  asHost<T>(run: (database: Database) => T): T {
    return this.#transaction("", () => this.#keeper.asHost(() => run(this.#database)), { isHostWork: true });
  }

  /** Lists the plugin's tables, FTS5 tables included, and its views. */
  schema(plugin: string): { tables: string[]; views: string[] } {
    this.#refreshFor(plugin);
    return schemaOf(this.#catalogue, plugin);
  }

  /** Reads the catalogue again when any connection has changed the schema. */
  #refresh(): void {
    this.#keeper.asHost(() => {
      const version = this.#schemaVersion.all([])[0]![0]!;
      if (version === this.#version) return;
      this.#forget();
      this.#catalogue = readCatalogue(this.#database);
      this.#version = version;
    });
  }

  /** As {@link #refresh}, with a failure as the plugin gets to see it. */
  #refreshFor(plugin: string): void {
    try {
      this.#refresh();
    } catch (error) {
      throw this.#failure(error, plugin);
    }
  }

  /** Reads the catalogue again when another connection has written since this one last did. */
  #refreshIfForeign(): void {
    const version = this.#keeper.asHost(() => this.#dataVersion!.all([])[0]![0]!);
    if (version === this.#seenDataVersion && this.#version !== null) return;
    if (version !== this.#seenDataVersion) this.#quota?.forgetPages();
    this.#seenDataVersion = version;
    this.#refresh();
  }

  #forgetAll(): void {
    this.#forget();
    this.#quota?.forget();
  }

  #forget(): void {
    this.#version = null;
    this.#compiled.clear();
    this.#nameSpaces.clear();
  }

  #nameSpace(plugin: string): NameSpace {
    let names = this.#nameSpaces.get(plugin);
    if (!names) {
      names = nameSpaceOf(this.#catalogue, plugin);
      this.#nameSpaces.set(plugin, names);
    }
    return names;
  }

  #ownedBy(plugin: string): CallRules["owns"] {
    const { plugins } = this.#catalogue;
    return (name) => ownerOf(name, plugins) === plugin;
  }

  #compile(plugin: string, sql: string): Compiled {
    const known = this.#compiled.get(plugin, sql);
    if (known) return known;
    const names = this.#nameSpace(plugin);
    const rewritten = rewriteSql(sql, names);
    const rules: CallRules = { owns: this.#ownedBy(plugin), kind: rewritten.kind, writes: this.#writable };
    const statement = this.#keeper.asPlugin(rules, () => this.#database.prepare(rewritten.sql));
    const isSelfContained = names.ftsTables.size === 0;
    const columns = columnFacts(rewritten.returnsRows ? statement.columns : []);
    const compiled: Compiled = { rewritten, statement, rules, columns, isSelfContained, hasBigIntegers: false };
    if (!isDefinition(rewritten)) this.#compiled.keep(plugin, sql, compiled);
    return compiled;
  }

  /** Reads rows with integers as numbers, which is faster, unless the statement writes or once gave a larger one. */
  #rows(compiled: Compiled, values: readonly SqlValue[]): EncodedRows {
    const { statement, rules, columns, rewritten } = compiled;
    const { limits } = this.#options;
    if (rewritten.kind === "select" && !compiled.hasBigIntegers) {
      try {
        return encodeRows(columns, this.#keeper.asPlugin(rules, () => statement.allNumbers(values)), limits, true);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        compiled.hasBigIntegers = true;
      }
    }
    return encodeRows(columns, this.#keeper.asPlugin(rules, () => statement.all(values)), limits);
  }

  #execOne(plugin: string, { sql, params }: StatementCall, quota: QuotaCall): ExecOutcome {
    if (this.#hasDefined) this.#refresh();
    const compiled = this.#compile(plugin, sql);
    const { rewritten } = compiled;
    const outcome = this.#run(compiled, bindParams(rewritten, params));
    this.#hasDefined ||= isDefinition(rewritten);
    if (rewritten.kind !== "select" && !this.#keeper.asHost(() => quota.isWithin())) throw quotaExceeded();
    return outcome;
  }

  #run(compiled: Compiled, values: readonly SqlValue[]): ExecOutcome {
    const { rewritten, statement, rules } = compiled;
    if (!rewritten.returnsRows) {
      const changes = this.#keeper.asPlugin(rules, () => statement.run(values));
      return { rowsAffected: isDefinition(rewritten) ? 0 : changes, returned: null };
    }
    const returned = this.#rows(compiled, values);
    return { rowsAffected: rewritten.kind === "select" ? 0 : returned.rows.length, returned };
  }

  /** Checks the schema that the transaction made of `before`; bodies of views and triggers compile under the plugin's rules. */
  #checkSchema(plugin: string, before: Catalogue): void {
    this.#refresh();
    if (before === this.#catalogue) return;
    const rules: CallRules = { owns: this.#ownedBy(plugin), kind: "write", writes: true };
    checkSchema(before, this.#catalogue, {
      database: this.#database,
      plugin,
      asHost: (run) => this.#keeper.asHost(run),
      mayCompile: (sql) => {
        try {
          this.#keeper.asPlugin(rules, () => this.#database.prepare(sql));
        } catch {
          // A body that does not compile cannot be used; only a refusal on the way matters here.
        }
        return !this.#keeper.hasRefused;
      },
    });
  }

  #transaction<T>(
    plugin: string,
    run: (quota: QuotaCall) => T,
    { isHostWork = false, exactly = false }: { readonly isHostWork?: boolean; readonly exactly?: boolean } = {},
  ): T {
    if (!this.#begin || !this.#commit || !this.#quota) {
      throw denied("Cannot write in a query", "Use kaged.storage.exec");
    }
    const { limits, quotas } = this.#options;
    try {
      this.#keeper.asHost(this.#runBegin);
      this.#hasDefined = isHostWork;
      this.#refreshIfForeign();
      const quota = this.#keeper.asHost(() =>
        this.#quota!.begin(plugin, quotas?.[plugin] ?? limits.quotaBytes, this.#catalogue, exactly)
      );
      const before = this.#catalogue;
      const outcome = run(quota);
      if (!isHostWork && this.#hasDefined) this.#checkSchema(plugin, before);
      this.#keeper.asHost(this.#runCommit);
      quota.commit();
      if (isHostWork) this.#forgetAll();
      return outcome;
    } catch (error) {
      const failure = this.#rolledBack(error, plugin);
      // The limit of an uncounted call is below the plugin's quota.
      if (!exactly && isFull(error)) return this.#transaction(plugin, run, { isHostWork, exactly: true });
      throw failure;
    }
  }

  /** Ends a transaction that is still open: INSERT OR ROLLBACK and RAISE(ROLLBACK) end it themselves. */
  #rollBack(): void {
    if (this.#database.inTransaction) this.#keeper.asHost(() => this.#database.prepare("ROLLBACK").run([]));
    if (this.#hasDefined) this.#forget();
  }

  #rolledBack(error: unknown, plugin: string): Error {
    const failure = this.#failure(error, plugin);
    this.#rollBack();
    return failure;
  }

  #failure(error: unknown, plugin: string): Error {
    const facts = { refused: this.#keeper.takeRefused(), freeBytes: this.#options.freeBytes?.() ?? null };
    return failureOf(error, { plugin, catalogue: this.#catalogue, ...facts });
  }
}
