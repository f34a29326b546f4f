/**
 * The messages between the host and the storage process. A question is one line of JSON, one at a time. An answer is one
 * line too: a character that says how the question ended, then JSON.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { StorageLimits } from "./limits.ts";
import type { EncodedRows } from "./values.ts";

/** The first message to a storage process. */
export interface StorageSetup {
  readonly path: string;
  /** False for a process that only reads. */
  readonly writable: boolean;
  readonly limits: StorageLimits;
  /** Quotas in bytes that differ from the one in `limits`, by plugin. */
  readonly quotas: Readonly<Record<string, number>>;
}

/** One statement of a plugin. */
export interface StatementCall {
  /** The SQL, as the plugin wrote it. */
  readonly sql: string;
  /** Values for its parameters, as they travelled. */
  readonly params: unknown;
}

/** How rows are answered. */
interface RowForm {
  /** Whether rows are sent as arrays in the order of the columns; otherwise each is an object. */
  readonly asArrays: boolean;
}

/** An operation that a plugin may ask for; its answer is the very JSON that the plugin gets. */
export type PluginOperation =
  | { readonly op: "schema" }
  | { readonly op: "prepare"; readonly sql: string }
  | { readonly op: "query" | "exec" } & StatementCall & RowForm
  | { readonly op: "batch"; readonly statements: readonly StatementCall[] } & RowForm;

/** A question of the host. */
export type StorageQuestion =
  & { readonly plugin: string }
  & (PluginOperation | { readonly op: "claim" | "report" | "drop" } | { readonly op: "export"; readonly file: string });

/** The outcome of a statement that may write. */
export interface ExecOutcome {
  /** Rows inserted, changed or deleted. */
  readonly rowsAffected: number;
  /** Null where the statement returns no rows. */
  readonly returned: EncodedRows | null;
}

/** The first character of an answer: it went well, it went well and changed the schema, or it failed. */
export const ANSWER = { OK: "+", OK_DEFINED: "*", FAILED: "-" } as const;

/** A {@link HostError} without its class, which does not survive JSON. */
interface ErrorParts {
  readonly code: HostErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly data?: unknown;
}

/** Returns the answer that reports an error. */
export function failedAnswer({ code, message, hint, data }: HostError): string {
  const parts: ErrorParts = { code, message, ...(hint !== undefined && { hint }), ...(data !== undefined && { data }) };
  return ANSWER.FAILED + JSON.stringify(parts);
}

/** Returns the error that the JSON of such an answer holds. */
export function errorFrom(json: string): HostError {
  const { code, message, hint, data } = JSON.parse(json) as ErrorParts;
  return new HostError(code, message, { ...(hint !== undefined && { hint }), ...(data !== undefined && { data }) });
}
