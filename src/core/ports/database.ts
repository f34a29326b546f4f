/**
 * What the core needs of a runtime to keep data: SQLite.
 *
 * @module
 */

/** A value SQLite stores. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** A compiled statement. */
export interface Statement {
  /** Names of its result columns. */
  readonly columns: readonly string[];
  /** Runs it; the number of changed rows. */
  run(params: readonly SqlValue[]): number;
  /** Runs it and returns its rows: integers as bigint, blobs as bytes. */
  all(params: readonly SqlValue[]): SqlValue[][];
  /** Like {@link all}, but integers are numbers, which is faster. Throws a `RangeError` at one beyond ±2^53. */
  allNumbers(params: readonly SqlValue[]): SqlValue[][];
}

/** Limits SQLite keeps for one connection, as `sqlite3_limit` names them. */
export interface SqlLimits {
  /** Bytes of one value or row. */
  readonly length: number;
  /** Bytes of one statement. */
  readonly sqlLength: number;
  /** Columns of a table, a result, an index. */
  readonly column: number;
  /** Depth of an expression. */
  readonly exprDepth: number;
  /** Terms of a compound SELECT. */
  readonly compoundSelect: number;
  /** Arguments of a function. */
  readonly functionArg: number;
  /** Attached databases. */
  readonly attach: number;
  /** Bytes of a LIKE or GLOB pattern. */
  readonly likePatternLength: number;
  /** Highest parameter number. */
  readonly variableNumber: number;
  /** Depth of triggers that set off triggers. */
  readonly triggerDepth: number;
}

/** Asked by SQLite while it compiles: action code and arguments. False refuses the statement. */
export type Authorizer = (
  action: number,
  first: string | null,
  second: string | null,
  schema: string | null,
  via: string | null,
) => boolean;

/** How a database is opened. */
export interface DatabaseOptions {
  /** Nothing can be written. */
  readonly readOnly?: boolean;
  /** Limits of the connection; with them the connection also takes no double-quoted strings and guards its schema. */
  readonly limits?: SqlLimits;
  /** Whether SQL may not write what only SQLite itself should: the tables behind a search table. Default true. */
  readonly defensive?: boolean;
  /** Time to wait for a lock, in ms. Default 5 000. */
  readonly busyMs?: number;
}

/** An open SQLite database. */
export interface Database {
  /** Compiles one statement. Errors of SQLite carry its result code as `errcode`. */
  prepare(sql: string): Statement;
  /** Runs one statement that returns nothing; the number of changed rows. */
  run(sql: string, params?: readonly SqlValue[]): number;
  /** Runs one statement and returns its rows. */
  all(sql: string, params?: readonly SqlValue[]): Record<string, SqlValue>[];
  /** Asks `authorizer` at every compilation from now on. One that throws refuses. */
  setAuthorizer(authorizer: Authorizer): void;
  /** Whether a transaction is open. */
  readonly inTransaction: boolean;
  /** Closes it. */
  close(): void;
}

/** Opens databases. */
export interface DatabaseOpener {
  /** Opens the file, made when missing, for this user alone; `:memory:` keeps it in memory. */
  open(path: string, options?: DatabaseOptions): Database;
  /** Version of the SQLite library, or null when this runtime has none. */
  version(): string | null;
  /** Whether a connection can have an authorizer and limits here: without them no plugin's statement may run. */
  isFenced(): boolean;
  /** Text of the program that runs plugins' statements in a process of its own, for this runtime. */
  storageProgram(): Promise<string>;
}
