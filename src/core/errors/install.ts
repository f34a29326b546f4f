/**
 * Failures of installing, upgrading and uninstalling.
 *
 * @module
 */
import type { ErrorRow } from "./row.ts";

/** The rows. */
export const INSTALL_ERRORS: Readonly<Record<string, ErrorRow>> = {};
