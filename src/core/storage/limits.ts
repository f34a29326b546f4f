/**
 * How much one plugin may take.
 *
 * @module
 */
import type { SqlLimits } from "../ports/ports.ts";

/** Bounds on what a call may return and on what a plugin may keep. */
export interface StorageLimits {
  /** Time a call may run, in ms. Default 5 000. */
  readonly deadlineMs: number;
  /** Most rows a call returns. Default 10 000. */
  readonly maxRows: number;
  /** Most bytes of JSON a call returns. Default 3 MiB, so that an answer fits into one line of the protocol. */
  readonly maxResultBytes: number;
  /** Most bytes a plugin's tables and indexes take. Default 64 MiB. */
  readonly quotaBytes: number;
  /** Most memory the process that runs the statement may take, in bytes. Default 512 MiB. */
  readonly maxMemoryBytes: number;
  /** Most statements in a batch. Default 1 000. */
  readonly maxBatch: number;
}

/** The limits of a host whose operator sets none. */
export const DEFAULT_LIMITS: StorageLimits = {
  deadlineMs: 5_000,
  maxRows: 10_000,
  maxResultBytes: 3 * 1024 * 1024,
  quotaBytes: 64 * 1024 * 1024,
  maxMemoryBytes: 512 * 1024 * 1024,
  maxBatch: 1_000,
};

/** Limits SQLite itself keeps while plugins' statements run. */
export const SQL_LIMITS: SqlLimits = {
  length: 8_000_000,
  sqlLength: 400_000,
  column: 200,
  exprDepth: 200,
  compoundSelect: 50,
  functionArg: 100,
  attach: 0,
  likePatternLength: 1_000,
  variableNumber: 1_000,
  triggerDepth: 20,
};
