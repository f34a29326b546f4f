/**
 * Failures of the HTTP API.
 *
 * @module
 */
import type { ErrorRow } from "./row.ts";

/** The rows. */
export const HTTP_ERRORS: Readonly<Record<string, ErrorRow>> = {};
