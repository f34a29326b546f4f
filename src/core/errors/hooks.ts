/**
 * Failures of hook files, their trust and the hooks they name.
 *
 * @module
 */
import type { ErrorRow } from "./row.ts";

/** The rows. */
export const HOOKS_ERRORS: Readonly<Record<string, ErrorRow>> = {};
