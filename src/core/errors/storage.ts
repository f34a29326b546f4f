/**
 * Failures of plugins' private tables.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const STORAGE_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "storage.denied": row(-32003, 403, "Storage outside the plugin's own tables", "Use the plugin's own tables"),
  "storage.sql": row(-32000, 422, "SQLite refused the statement", "Correct the SQL"),
  "storage.params_invalid": row(-32602, 400, "A storage call has the wrong params", "See docs/storage.md"),
  "storage.statement_unknown": row(
    -32602,
    409,
    "A prepared statement is not known, or no longer",
    "Prepare it again; the SDKs do",
  ),
  ...rows("storage", -32603, 502, {
    timeout: ["A statement ran past its deadline", "Make it cheaper, or split it"],
    disk_full: ["The disk is full", "Make room; nothing was written"],
    disk_failed: ["The disk reported an error", "Check the disk and its permissions"],
    failed: ["The storage process failed", "Try again; then see the host's log"],
    unavailable: ["This runtime has no SQLite that can be fenced", "Use a newer runtime"],
  }),
  "storage.layout_newer": row(
    -32603,
    500,
    "A newer version of this package wrote the database",
    "Use that version, or a copy of the file from before",
  ),
  "storage.too_large": row(-32000, 422, "A result or a value is larger than the limit", "Use LIMIT"),
  "storage.out_of_memory": row(-32000, 422, "A statement took more memory than it may", "Make it cheaper, or split it"),
  "storage.quota": row(-32000, 422, "The plugin's byte quota is used up", "Delete rows, or raise the quota"),
  "storage.busy": row(-32005, 409, "Another process holds the database", "Try again"),
  "storage.prefix_taken": row(
    -32003,
    409,
    "Another plugin keeps tables under this plugin's prefix",
    "Rename those tables, or uninstall that plugin",
  ),
};
