/**
 * Failures of making and checking a plugin.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const CHECK_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...rows("check", -32602, 422, {
    conformance_mcp: ["The rules of the plugin wire are not those of MCP", "Check it without them"],
    imports_leave: ["A plugin imports modules that its cage will not hold", "Bundle it into its folder"],
  }),
  "check.not_running": row(-32603, 422, "The plugin cannot be started again", "Look at the rule that failed first"),
  "check.rule_unknown": row(-32602, 400, "There is no rule of this name", "Take one of docs/conformance.md"),
  "check.methods_missing": row(-32601, 422, "A declared method is not offered", "Offer it or do not declare it"),
  "check.ping_answer": row(-32603, 422, "Ping was answered wrongly", 'Answer {"status": "ok"}'),
  "check.shutdown": row(-32603, 422, "The plugin did not end well by itself", "Exit with 0 on shutdown"),
  "check.stdout_noise": row(-32700, 422, "Stdout holds lines that are no messages", "Log to stderr"),
  "scaffold.name_invalid": row(-32602, 400, "No plugin may have this name", "Use a-z, 0-9 and -"),
  "scaffold.not_empty": row(-32602, 409, "The folder for a new plugin is not empty", "Name a new or empty folder"),
};
