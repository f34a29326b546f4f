/**
 * Failures of hooks: firing them, answering them, and the files that name them.
 *
 * @module
 */
import { type ErrorRow, jsonRows, row, rows, yamlRows } from "./row.ts";

export const HOOK_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("hook", "hook file"),
  ...jsonRows("hook"),
  "hook.unknown": row(-32601, 404, "There is no such hook", "Use one of the hooks in the guide"),
  ...rows("hook", -32603, 502, {
    result_invalid: ["A hook returned a value it may not return", "Return null, a text or { inject }"],
    response_invalid: ["The answer of a handler cannot be used", "Return null or an envelope"],
    event_cut: ["A policy cannot see the whole event", "Pass less, or nest it less deeply"],
    output_invalid: ["The schema of a hook refuses the answer of a plugin", "Follow the schema"],
    command_timeout: ["A hook took too long and was ended", "Make it faster, or give it more time"],
    command_failed: ["A hook ended with an error", "Run it by hand: kaged hooks run"],
    output_too_large: ["A hook printed more than a decision can need", "Print less"],
    answer_invalid: ["What a hook printed cannot be read", "Print one JSON object, or nothing"],
  }),
  ...rows("hook", -32602, 400, {
    option_invalid: ["A registration of a handler cannot be read", "Correct the option that is named"],
    event_invalid: ["An event lacks its session or agent", "Give it the fields that are named"],
    input_invalid: ["The schema of a hook refuses its input", "Follow the schema"],
    wrong_class: ["A hook was dispatched by the function of another class", "Use the function that is named"],
    unknown_dialect: ["The file is no hook file that is read here", "See docs/hook-files.md"],
    version_unknown: ["The version of the hook file is not known", 'Write "version": 1'],
    unknown_event: ["A moment is not known", "See the list of moments in docs/hook-files.md"],
    event_elsewhere: ["A moment is one that only other hosts have", "Leave it: it does nothing here"],
    extension_event: ["A moment is one that only this host fires", "Leave it: other hosts ignore it"],
    stop_is_session_end: [
      "Stop is read as the end of the session; other hosts fire it at the end of each turn",
      "For cleanup write sessionEnd (SessionEnd in .claude/settings.json), which means the same everywhere",
    ],
    type_unknown: ["A hook has an unknown type", 'Write "type": "command"'],
    type_unsupported: ["A hook is of a type that does not run here", "Write it as a command"],
    no_command: ["A hook names no command", 'Write "bash" or "command"'],
    env_invalid: ["A hook sets a variable it may not set", "Use letters, digits and _, and not LD_…"],
    timeout_invalid: ["A timeout is not a number of seconds", "Write seconds, such as 10"],
    timeout_absurd: ["A timeout makes no sense", "Write seconds, from 1 to 600"],
    matcher_invalid: ["A matcher cannot be used", "Write names joined by |, or a plain pattern"],
    all_disabled: ["The file switches all of its hooks off", "Remove disableAllHooks to use them"],
    outside: ["A hook file leads out of its repository", "Put the file itself there, not a link"],
    too_many_files: ["A folder holds more hook files than are read", "Put hooks together into fewer files"],
  }),
  "hook.timeout": row(-32603, 504, "A handler took longer than it may", "Make it faster, or give it a timeoutMs"),
  "hook.nobody": row(-32601, 404, "Nobody answers the hook", "Add a plugin that takes it"),
  "hook.ambiguous": row(-32602, 409, "Two plugins of one priority could answer", "Give one a lower priority"),
  "hook.unknown_kind": row(-32602, 404, "There is no such kind", "Use a kind of the project's hookspec"),
  "hook.unknown_participant": row(-32602, 404, "The plugin named for a hook does not take it", "Name one that does"),
  "hook.no_capability": row(-32601, 404, "No plugin has the capability asked for", "Add one, or a fallback"),
  ...rows("hook", -32603, 500, {
    notes_invalid: ["The notes of a built-in handler cannot be read", "Move the file away"],
    trust_unreadable: ["The list of trusted hooks cannot be read", "Repair trust.json, or remove it and trust again"],
  }),
  ...rows("hook", -32003, 403, {
    uncoverable: [
      "A hook file names more scripts than trust can cover",
      "Name fewer or smaller scripts, or split the file",
    ],
    untrusted: [
      "A repository's hooks have not been trusted, or not as they are now",
      "Look at them and trust them: kaged hooks trust",
    ],
    changed: [
      "A hook, or a script it runs, changed since it was trusted",
      "Look at the change and trust it again: kaged hooks trust",
    ],
    git_unsealed: [
      "A hook could change where git finds its config and hooks",
      "Make .git a folder, or set git_writable = true",
    ],
  }),
  "hook.no_run": row(-32602, 404, "No run of hooks has been kept", "Run some first: kaged hooks run"),
};
