/**
 * Failures of the audit trails.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

export const AUDIT_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "audit.busy": row(-32603, 503, "Another process holds the lock of the trail", "End the process that holds it"),
  "audit.trail_unknown": row(-32602, 404, "The home has no such trail, or several", "Name one that it has"),
  "audit.invalid_query": row(-32602, 400, "The query of a trail has a cursor or a time that is none", "Correct it"),
};
