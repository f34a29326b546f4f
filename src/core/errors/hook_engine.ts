/**
 * Failures of dispatching hooks and of the handlers that take them.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

/** The rows. */
export const HOOK_ENGINE_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "hooks.unknown_hook": row(-32601, 404, "There is no portable hook of that name", "Use one of the eleven names"),
  "hooks.option_invalid": row(-32602, 400, "A handler was registered with what it may not have", "Correct the option"),
  "hooks.event_invalid": row(-32602, 400, "An event is not what handlers can be given", "Give it the named fields"),
  "hooks.response_invalid": row(-32603, 502, "A handler answered what it may not", "Return null or an envelope"),
  "hooks.timeout": row(-32603, 504, "A handler took longer than it may", "Make it faster, or give it a timeoutMs"),
  "hooks.nobody": row(-32601, 404, "Nobody answers the hook", "Add a plugin that takes it"),
  "hooks.ambiguous": row(-32602, 409, "Two plugins of one priority could answer", "Give one a lower priority"),
  "hooks.unknown_participant": row(-32602, 404, "The plugin named for a hook does not take it", "Name one that does"),
  "hooks.no_capability": row(-32601, 404, "No plugin has the capability asked for", "Add one, or a fallback"),
  "hooks.input_invalid": row(-32602, 400, "A hook was fired with what its schema refuses", "Follow its schema"),
  "hooks.notes_invalid": row(-32603, 500, "What a built-in handler kept cannot be read", "Move the file away"),
  "hooks.output_invalid": row(-32603, 502, "A plugin answered what the schema refuses", "Follow its schema"),
};
