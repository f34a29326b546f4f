/**
 * Failures of background jobs.
 *
 * @module
 */
import type { ErrorRow } from "./row.ts";

/** The rows. */
export const JOBS_ERRORS: Readonly<Record<string, ErrorRow>> = {};
