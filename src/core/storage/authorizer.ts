/**
 * The second wall: SQLite asks here before it compiles an access. Whatever the rewriter did or missed, a statement
 * reaches only the tables and functions that are allowed here.
 *
 * @module
 */
import type { StatementKind } from "./sql/rewrite.ts";
import { foldName, words } from "./sql/tokens.ts";

/** The rules of the statement that runs. */
export interface CallRules {
  /** Whether a full name belongs to the plugin. */
  owns(name: string): boolean;
  /** The kind that the rewriter found. */
  readonly kind: StatementKind;
  /** False in a process that only reads. */
  readonly writes: boolean;
}

/** An access SQLite asks about, as `sqlite3_set_authorizer` hands it over. */
export interface Access {
  readonly action: number;
  readonly first: string | null;
  readonly second: string | null;
  /** `main`, `temp`, or null where the action has no schema. */
  readonly schema: string | null;
}

/** SQLite's action codes (sqlite3.h). */
export const ACTION = {
  CREATE_INDEX: 1,
  CREATE_TABLE: 2,
  CREATE_TRIGGER: 7,
  CREATE_VIEW: 8,
  DELETE: 9,
  DROP_INDEX: 10,
  DROP_TABLE: 11,
  DROP_TRIGGER: 16,
  DROP_VIEW: 17,
  INSERT: 18,
  PRAGMA: 19,
  READ: 20,
  SELECT: 21,
  UPDATE: 23,
  ALTER_TABLE: 26,
  REINDEX: 27,
  CREATE_VTABLE: 29,
  DROP_VTABLE: 30,
  FUNCTION: 31,
  RECURSIVE: 33,
} as const;

const CATALOGUES = new Set(["sqlite_master", "sqlite_temp_master", "sqlite_schema"]);
const TABLE_FUNCTIONS = new Set(["json_each", "json_tree"]);
const DEFINES: ReadonlySet<StatementKind> = new Set(["create", "alter", "drop"]);

/** Whether the call may make the access. Everything unknown is denied. */
export function mayAccess(rules: CallRules, access: Access): boolean {
  const { action, first, second, schema } = access;
  const isAltering = rules.kind === "alter";
  const isDefining = rules.writes && DEFINES.has(rules.kind);
  const name = first === null ? "" : foldName(first);
  const owns = (text: string | null): boolean => text !== null && rules.owns(text);
  // ALTER TABLE passes the schema first, then the table, then perhaps a column where the schema would stand.
  if (action === ACTION.ALTER_TABLE) return isDefining && name === "main" && owns(second);
  if (schema !== null && schema !== "main" && !(isAltering && name === "sqlite_temp_master")) return false;

  switch (action) {
    case ACTION.SELECT:
    case ACTION.RECURSIVE:
      return true;
    case ACTION.READ:
      if (CATALOGUES.has(name)) return isDefining && mayReadCatalogue(rules.kind, second);
      if (name === "sqlite_sequence") return isDefining;
      if (name === "pragma_quick_check") return isAltering;
      return TABLE_FUNCTIONS.has(name) || owns(first);
    case ACTION.INSERT:
    case ACTION.DELETE:
    case ACTION.UPDATE:
      if (CATALOGUES.has(name) || name === "sqlite_sequence") return isDefining;
      return rules.writes && owns(first);
    case ACTION.FUNCTION:
      return mayCall(rules.kind, foldName(second ?? ""));
    case ACTION.CREATE_TABLE:
      return isDefining && (owns(first) || name === "sqlite_sequence");
    case ACTION.CREATE_VIEW:
    case ACTION.DROP_TABLE:
    case ACTION.DROP_VIEW:
      return isDefining && owns(first);
    case ACTION.CREATE_INDEX:
    case ACTION.DROP_INDEX:
      return isDefining && owns(second) && (owns(first) || name.startsWith("sqlite_autoindex_"));
    case ACTION.CREATE_TRIGGER:
    case ACTION.DROP_TRIGGER:
      return isDefining && owns(first) && owns(second);
    case ACTION.REINDEX:
      return rules.kind === "create" && rules.writes && owns(first);
    case ACTION.CREATE_VTABLE:
    case ACTION.DROP_VTABLE:
      return isDefining && owns(first) && foldName(second ?? "") === "fts5";
    case ACTION.PRAGMA:
      // FTS5 asks for data_version; ALTER TABLE … ADD … CHECK checks what is there with quick_check.
      return (name === "data_version" && second === null) || (name === "quick_check" && isAltering);
    default:
      return false;
  }
}

/** CREATE TABLE … AS SELECT runs a query while it may touch the catalogue: of that it may read the row id only. */
function mayReadCatalogue(kind: StatementKind, column: string | null): boolean {
  return kind !== "create" || foldName(column ?? "") === "rowid";
}

function mayCall(kind: StatementKind, name: string): boolean {
  return ALLOWED_FUNCTIONS.has(name) || (kind === "alter" && ALTER_FUNCTIONS.has(name));
}

/**
 * Keeps the rules of one connection. The host's hold until {@link close}; a plugin's only while its work runs. An access
 * that nobody's rules allow is refused.
 */
export class RuleKeeper {
  /** A plugin's rules, the host's, or nobody's, which refuses everything. */
  #rules: CallRules | "host" | null = "host";
  #refused: Access | null = null;
  #refusesCompiling = false;

  /** Lets nothing through from now on but in {@link asHost} and {@link asPlugin}. */
  close(): void {
    this.#rules = null;
  }

  /** Whether SQLite may go on; remembers the first access that it may not have. */
  allows(access: Access): boolean {
    if (this.#rules === "host") return true;
    if (this.#rules !== null && !this.#refusesCompiling && mayAccess(this.#rules, access)) return true;
    this.#refused ??= access;
    return false;
  }

  /** Runs work of the host itself, to which everything is allowed. */
  asHost<T>(run: () => T): T {
    const rules = this.#rules;
    this.#rules = "host";
    try {
      return run();
    } finally {
      this.#rules = rules;
    }
  }

  /** Runs work of a plugin under its rules. */
  asPlugin<T>(rules: CallRules, run: () => T): T {
    this.#rules = rules;
    try {
      return run();
    } finally {
      this.#rules = null;
    }
  }

  /** Runs a statement that is compiled already; null when SQLite would have had to compile it again. */
  unlessCompiled<T>(run: () => T): T | null {
    this.#refusesCompiling = true;
    try {
      return run();
    } catch (error) {
      if (this.takeRefused() === null) throw error;
      return null;
    } finally {
      this.#refusesCompiling = false;
    }
  }

  /** Whether a refusal waits for {@link takeRefused}. */
  get hasRefused(): boolean {
    return this.#refused !== null;
  }

  /** Returns the first refused access, and forgets it. */
  takeRefused(): Access | null {
    const refused = this.#refused;
    this.#refused = null;
    return refused;
  }
}

/** Functions that only compute. */
const ALLOWED_FUNCTIONS: ReadonlySet<string> = words(`
  abs changes char coalesce concat concat_ws format glob hex if ifnull iif instr last_insert_rowid length like likelihood
  likely lower ltrim match max min nullif octet_length printf quote random randomblob regexp replace round rtrim sign soundex
  sqlite_version substr substring subtype total_changes trim typeof unhex unicode unistr unistr_quote unlikely upper zeroblob
  avg count group_concat string_agg sum total median percentile percentile_cont percentile_disc
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
  date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp
  json json_array json_array_insert json_array_length json_error_position json_extract json_group_array json_group_object
  json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid
  jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object
  jsonb_patch jsonb_remove jsonb_replace jsonb_set -> ->>
  acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
  radians sin sinh sqrt tan tanh trunc
  bm25 highlight snippet`);

/** Functions SQLite itself calls while it alters a table. */
const ALTER_FUNCTIONS: ReadonlySet<string> = words(`
  sqlite_rename_column sqlite_rename_table sqlite_rename_test sqlite_rename_quotefix sqlite_drop_column
  sqlite_drop_constraint sqlite_add_constraint sqlite_find_constraint sqlite_fail like substr printf length`);
