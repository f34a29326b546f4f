/**
 * Failures of making and checking a plugin, of recording and replaying it.
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
  "check.tools_left_out": row(-32601, 422, "Agents can have none of the tools that a server lists", "Mend the tools"),
  "check.ping_answer": row(-32603, 422, "Ping was answered wrongly", 'Answer {"status": "ok"}'),
  "check.shutdown": row(-32603, 422, "The plugin did not end well by itself", "Exit with 0 on shutdown"),
  "check.stdout_noise": row(-32700, 422, "Stdout holds lines that are no messages", "Log to stderr"),
  "scaffold.name_invalid": row(-32602, 400, "No plugin may have this name", "Use a-z, 0-9 and -"),
  "scaffold.not_empty": row(-32602, 409, "The folder for a new plugin is not empty", "Name a new or empty folder"),
  "tape.exists": row(-32602, 409, "A tape would overwrite something", "Name a new file"),
  "tape.invalid": row(-32602, 422, "A file is no tape, or is damaged", "Record it again"),
  "tape.other_plugin": row(-32602, 409, "A tape is of another plugin", "Name the folder of the plugin it is of"),
  "tape.secret_missing": row(-32602, 422, "Secrets are not on a tape", "Give them with --config"),
  "tape.unreadable": row(-32602, 404, "A tape cannot be read", "Check the path and its permissions"),
  "tape.unwritable": row(-32603, 500, "A tape cannot be written", "Check the path, its permissions and the disk"),
  "tape.version": row(-32602, 422, "A tape has another format", "Record it again"),
};
