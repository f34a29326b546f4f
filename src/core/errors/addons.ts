/**
 * Failures of add-ons.
 *
 * @module
 */
import type { ErrorRow } from "./row.ts";

/** The rows. */
export const ADDONS_ERRORS: Readonly<Record<string, ErrorRow>> = {};
