/**
 * What the engine takes and gives.
 *
 * @module
 */
import type { StorageLimits } from "./limits.ts";
import type { EncodedRows } from "./rows.ts";

/** One statement of a plugin. */
export interface StatementCall {
  /** The SQL, as the plugin wrote it. */
  readonly sql: string;
  /** Values for its parameters, as they travelled. */
  readonly params: unknown;
}

/** What a query gives. */
export type QueryOutcome = EncodedRows;

/** What a statement gives. */
export interface ExecOutcome {
  /** Rows inserted, changed or deleted. */
  readonly rowsAffected: number;
  /** Rows, where the statement returns some. */
  readonly returned: EncodedRows | null;
}

/** What a plugin has. */
export interface SchemaOutcome {
  /** Its tables, FTS5 tables included. */
  readonly tables: string[];
  /** Its views. */
  readonly views: string[];
}

/** How an engine is set up. */
export interface EngineOptions {
  /** How much a call may return and a plugin may keep. */
  readonly limits: StorageLimits;
  /** A quota that differs from the one in `limits`, by plugin. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** Bytes left on the disk, or null when that cannot be told. */
  readonly freeBytes?: () => number | null;
}
