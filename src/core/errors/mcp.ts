/**
 * Failures of MCP servers and of serving as one.
 *
 * @module
 */
import type { ErrorRow } from "./row.ts";

/** The rows. */
export const MCP_ERRORS: Readonly<Record<string, ErrorRow>> = {};
