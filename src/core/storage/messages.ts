/**
 * What the host and the storage process say to each other: one JSON object per line, one question at a time.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { ExecOutcome, QueryOutcome, SchemaOutcome, StatementCall } from "./engine_types.ts";
import type { StorageLimits } from "./limits.ts";
import type { StorageReport } from "./maintenance.ts";

/** What a storage process is told first. */
export interface StorageSetup {
  /** The database file. */
  readonly path: string;
  /** Whether it writes. */
  readonly writable: boolean;
  /** How much a call may return and a plugin may keep. */
  readonly limits: StorageLimits;
  /** Quotas that differ, by plugin. */
  readonly quotas: Readonly<Record<string, number>>;
}

/** Questions and what answers them. */
export interface StorageOperations {
  claim: { ask: { plugin: string }; answer: null };
  query: { ask: { plugin: string } & StatementCall; answer: QueryOutcome };
  exec: { ask: { plugin: string } & StatementCall; answer: ExecOutcome };
  batch: { ask: { plugin: string; statements: readonly StatementCall[] }; answer: ExecOutcome[] };
  schema: { ask: { plugin: string }; answer: SchemaOutcome };
  report: { ask: { plugin: string }; answer: StorageReport };
  drop: { ask: { plugin: string }; answer: string[] };
  export: { ask: { plugin: string; file: string }; answer: string[] };
}

/** Name of a question. */
export type StorageOperation = keyof StorageOperations;

/** A question. */
export type StorageQuestion = {
  [Name in StorageOperation]: { readonly op: Name } & StorageOperations[Name]["ask"];
}[StorageOperation];

/** An error in parts. */
export interface ErrorParts {
  /** Which failure. */
  readonly code: HostErrorCode;
  /** For a person. */
  readonly message: string;
  /** The next step. */
  readonly hint?: string;
  /** For a program. */
  readonly data?: unknown;
}

/** An answer: a value, or an error. */
export type StorageAnswer = { readonly ok: unknown } | { readonly error: ErrorParts };

/** Returns an error in parts. */
export function errorParts({ code, message, hint, data }: HostError): StorageAnswer {
  return {
    error: { code, message, ...(hint === undefined ? {} : { hint }), ...(data === undefined ? {} : { data }) },
  };
}

/** Returns the error that was sent in parts. */
export function errorFromParts({ code, message, hint, data }: ErrorParts): HostError {
  return new HostError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(data === undefined ? {} : { data }),
  });
}
