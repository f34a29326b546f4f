/**
 * What can be wrong with a hookspec.
 *
 * @module
 */
import type { ErrorRow } from "./row.ts";

/** The rows. */
export const HOOKSPEC_ERRORS: Readonly<Record<string, ErrorRow>> = {};
