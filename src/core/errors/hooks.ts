/**
 * Failures of hook files, their trust and the hooks they name.
 *
 * @module
 */
import { type ErrorRow, row, yamlRows } from "./row.ts";

/** What can be wrong with a hook file. */
function fileRow(cause: string, fix: string): ErrorRow {
  return row(-32602, 400, cause, fix);
}

/** The rows. */
export const HOOKS_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("hooks", "hook file"),
  "hooks.json_syntax": fileRow("The JSON cannot be read", "Correct the syntax at this place"),
  "hooks.json_comment": fileRow(
    "The file is JSON with comments, and JSON has none",
    "Take the comments out; say what you have to say in a description",
  ),
  "hooks.duplicate_key": fileRow("A key stands twice in one map", "Keep one of the two"),
  "hooks.unknown_dialect": fileRow("The file is no hook file that is read here", "See docs/hook-files.md"),
  "hooks.version_unknown": fileRow("The version of the hook file is not known", 'Write "version": 1'),
  "hooks.unknown_event": fileRow("A moment is not known", "See the list of moments in docs/hook-files.md"),
  "hooks.event_elsewhere": fileRow("A moment is one that only other hosts have", "Leave it: it does nothing here"),
  "hooks.extension_event": fileRow("A moment is one that only this host fires", "Leave it: other hosts ignore it"),
  "hooks.stop_is_session_end": fileRow(
    "Stop is read as the end of the session; other hosts fire it at the end of each turn",
    "For cleanup write sessionEnd (SessionEnd in .claude/settings.json), which means the same everywhere",
  ),
  "hooks.type_unknown": fileRow("A hook has an unknown type", 'Write "type": "command"'),
  "hooks.type_unsupported": fileRow("A hook is of a type that does not run here", "Write it as a command"),
  "hooks.no_command": fileRow("A hook names no command", 'Write "bash" or "command"'),
  "hooks.env_invalid": fileRow("A hook sets a variable it may not set", "Use letters, digits and _, and not LD_…"),
  "hooks.timeout_invalid": fileRow("A timeout is not a number of seconds", "Write seconds, such as 10"),
  "hooks.timeout_absurd": fileRow("A timeout makes no sense", "Write seconds, from 1 to 600"),
  "hooks.matcher_invalid": fileRow("A matcher cannot be used", "Write names joined by |, or a plain pattern"),
  "hooks.all_disabled": fileRow("The file switches all of its hooks off", "Remove disableAllHooks to use them"),
  "hooks.outside": fileRow("A hook file leads out of its repository", "Put the file itself there, not a link"),
  "hooks.too_many_files": fileRow(
    "A folder holds more hook files than are read",
    "Put hooks together into fewer files",
  ),
  "hooks.uncoverable": row(
    -32003,
    403,
    "A hook file names more scripts than trust can cover",
    "Name fewer or smaller scripts, or split the file",
  ),
  "hooks.untrusted": row(
    -32003,
    403,
    "A repository's hooks have not been trusted, or not as they are now",
    "Look at them and trust them: kaged hooks trust",
  ),
  "hooks.changed": row(
    -32003,
    403,
    "A hook, or a script it runs, changed since it was trusted",
    "Look at the change and trust it again: kaged hooks trust",
  ),
  "hooks.git_unsealed": row(
    -32003,
    403,
    "A hook could change where git finds its config and hooks",
    "Make .git a folder, or set git_writable = true",
  ),
  "hooks.trust_unreadable": row(
    -32603,
    500,
    "The list of trusted hooks cannot be read",
    "Repair trust.json, or remove it and trust again",
  ),
  "hooks.no_run": row(-32602, 404, "No run of hooks has been kept", "Run some first: kaged hooks run"),
  "hooks.command_timeout": row(
    -32603,
    502,
    "A hook took too long and was ended",
    "Make it faster, or give it more time",
  ),
  "hooks.command_failed": row(-32603, 502, "A hook ended with an error", "Run it by hand: kaged hooks run"),
  "hooks.output_too_large": row(-32603, 502, "A hook printed more than a decision can need", "Print less"),
  "hooks.answer_invalid": row(-32603, 502, "What a hook printed cannot be read", "Print one JSON object, or nothing"),
};
