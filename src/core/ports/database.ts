/**
 * The SQLite part of a runtime.
 *
 * @module
 */

/** A value of SQLite. Integers are bigint where they were read by {@link Statement.all}. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** A compiled statement of one connection. */
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
  /** Most bytes of one value or row. */
  readonly length: number;
  /** Most bytes of one statement's text. */
  readonly sqlLength: number;
  /** Most columns of a table, a result or an index. */
  readonly column: number;
  /** Most levels of an expression. */
  readonly exprDepth: number;
  /** Most terms of a compound SELECT. */
  readonly compoundSelect: number;
  /** Most arguments of one function call. */
  readonly functionArg: number;
  /** Most databases attached to the connection. */
  readonly attach: number;
  /** Most bytes of a LIKE or GLOB pattern. */
  readonly likePatternLength: number;
  /** Highest parameter number. */
  readonly variableNumber: number;
  /** Most levels of triggers that set off triggers. */
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
  /** Whether the file is opened for reading only. Default false. */
  readonly readOnly?: boolean;
  /** Limits of the connection; with them the connection also takes no double-quoted strings and guards its schema. */
  readonly limits?: SqlLimits;
  /** Whether SQL is kept from writing the tables behind a search table, which SQLite itself fills. Default true. */
  readonly defensive?: boolean;
  /** Time to wait for a lock, in ms. Default 5 000. */
  readonly busyMs?: number;
}

/** One connection to an SQLite database. */
export interface Database {
  /** Compiles one statement. Errors of SQLite carry its result code as `errcode`. */
  prepare(sql: string): Statement;
  /** Runs one statement that returns nothing; the number of changed rows. */
  run(sql: string, params?: readonly SqlValue[]): number;
  /** Asks `authorizer` at every compilation from now on. One that throws refuses. */
  setAuthorizer(authorizer: Authorizer): void;
  /** Whether a transaction is open. */
  readonly inTransaction: boolean;
  /** Closes the connection; compiled statements cannot be run any more. */
  close(): void;
}

/** Opens SQLite databases on this runtime. */
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
