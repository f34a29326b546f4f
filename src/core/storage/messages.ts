/**
 * The messages between the host and the storage process: one JSON object per line, one question at a time.
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

/** An operation that a plugin may ask for. */
export type PluginOperation =
  | { readonly op: "schema" }
  | { readonly op: "query" | "exec" } & StatementCall
  | { readonly op: "batch"; readonly statements: readonly StatementCall[] };

/** A question, answered with the outcome that the engine's method of the same name returns. */
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

/** A {@link HostError} without its class, which does not survive JSON. */
interface ErrorParts {
  readonly code: HostErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly data?: unknown;
}

/** An answer: a value, or an error. */
export type StorageAnswer = { readonly ok: unknown } | { readonly error: ErrorParts };

/** Returns the answer that reports an error. */
export function errorParts({ code, message, hint, data }: HostError): StorageAnswer {
  return {
    error: { code, message, ...(hint === undefined ? {} : { hint }), ...(data === undefined ? {} : { data }) },
  };
}

/** Returns the error of such an answer. */
export function errorFromParts({ code, message, hint, data }: ErrorParts): HostError {
  return new HostError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(data === undefined ? {} : { data }),
  });
}
