/**
 * Failures of hooks: firing them, answering them, and the files that name them.
 *
 * @module
 */
import { type ErrorRow, jsonRows, row, yamlRows } from "./row.ts";

/** What can be wrong with a hook file. */
function fileRow(cause: string, fix: string): ErrorRow {
  return row(-32602, 400, cause, fix);
}

/** The rows. */
export const HOOK_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("hook", "hook file"),
  ...jsonRows("hook"),
  "hook.unknown": row(-32601, 404, "There is no such hook", "Use one of the hooks in the guide"),
  "hook.result_invalid": row(-32603, 502, "A hook returned what it may not", "Return null, a text or { inject }"),
  "hook.option_invalid": row(-32602, 400, "A handler was registered with what it may not have", "Correct the option"),
  "hook.event_invalid": row(-32602, 400, "An event is not what handlers can be given", "Give it the named fields"),
  "hook.response_invalid": row(-32603, 502, "A handler answered what it may not", "Return null or an envelope"),
  "hook.timeout": row(-32603, 504, "A handler took longer than it may", "Make it faster, or give it a timeoutMs"),
  "hook.nobody": row(-32601, 404, "Nobody answers the hook", "Add a plugin that takes it"),
  "hook.ambiguous": row(-32602, 409, "Two plugins of one priority could answer", "Give one a lower priority"),
  "hook.unknown_participant": row(-32602, 404, "The plugin named for a hook does not take it", "Name one that does"),
  "hook.no_capability": row(-32601, 404, "No plugin has the capability asked for", "Add one, or a fallback"),
  "hook.input_invalid": row(-32602, 400, "A hook was fired with what its schema refuses", "Follow its schema"),
  "hook.notes_invalid": row(-32603, 500, "What a built-in handler kept cannot be read", "Move the file away"),
  "hook.output_invalid": row(-32603, 502, "A plugin answered what the schema refuses", "Follow its schema"),
  "hook.unknown_dialect": fileRow("The file is no hook file that is read here", "See docs/hook-files.md"),
  "hook.version_unknown": fileRow("The version of the hook file is not known", 'Write "version": 1'),
  "hook.unknown_event": fileRow("A moment is not known", "See the list of moments in docs/hook-files.md"),
  "hook.event_elsewhere": fileRow("A moment is one that only other hosts have", "Leave it: it does nothing here"),
  "hook.extension_event": fileRow("A moment is one that only this host fires", "Leave it: other hosts ignore it"),
  "hook.stop_is_session_end": fileRow(
    "Stop is read as the end of the session; other hosts fire it at the end of each turn",
    "For cleanup write sessionEnd (SessionEnd in .claude/settings.json), which means the same everywhere",
  ),
  "hook.type_unknown": fileRow("A hook has an unknown type", 'Write "type": "command"'),
  "hook.type_unsupported": fileRow("A hook is of a type that does not run here", "Write it as a command"),
  "hook.no_command": fileRow("A hook names no command", 'Write "bash" or "command"'),
  "hook.env_invalid": fileRow("A hook sets a variable it may not set", "Use letters, digits and _, and not LD_…"),
  "hook.timeout_invalid": fileRow("A timeout is not a number of seconds", "Write seconds, such as 10"),
  "hook.timeout_absurd": fileRow("A timeout makes no sense", "Write seconds, from 1 to 600"),
  "hook.matcher_invalid": fileRow("A matcher cannot be used", "Write names joined by |, or a plain pattern"),
  "hook.all_disabled": fileRow("The file switches all of its hooks off", "Remove disableAllHooks to use them"),
  "hook.outside": fileRow("A hook file leads out of its repository", "Put the file itself there, not a link"),
  "hook.too_many_files": fileRow(
    "A folder holds more hook files than are read",
    "Put hooks together into fewer files",
  ),
  "hook.uncoverable": row(
    -32003,
    403,
    "A hook file names more scripts than trust can cover",
    "Name fewer or smaller scripts, or split the file",
  ),
  "hook.untrusted": row(
    -32003,
    403,
    "A repository's hooks have not been trusted, or not as they are now",
    "Look at them and trust them: kaged hooks trust",
  ),
  "hook.changed": row(
    -32003,
    403,
    "A hook, or a script it runs, changed since it was trusted",
    "Look at the change and trust it again: kaged hooks trust",
  ),
  "hook.git_unsealed": row(
    -32003,
    403,
    "A hook could change where git finds its config and hooks",
    "Make .git a folder, or set git_writable = true",
  ),
  "hook.trust_unreadable": row(
    -32603,
    500,
    "The list of trusted hooks cannot be read",
    "Repair trust.json, or remove it and trust again",
  ),
  "hook.no_run": row(-32602, 404, "No run of hooks has been kept", "Run some first: kaged hooks run"),
  "hook.command_timeout": row(
    -32603,
    502,
    "A hook took too long and was ended",
    "Make it faster, or give it more time",
  ),
  "hook.command_failed": row(-32603, 502, "A hook ended with an error", "Run it by hand: kaged hooks run"),
  "hook.output_too_large": row(-32603, 502, "A hook printed more than a decision can need", "Print less"),
  "hook.answer_invalid": row(-32603, 502, "What a hook printed cannot be read", "Print one JSON object, or nothing"),
};
