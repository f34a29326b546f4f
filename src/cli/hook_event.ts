/**
 * The fields of an event that `kaged hooks run` is given. What an event does not have would reach no hook, and the run
 * would show nothing of it: so it is an error.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import { isMap } from "../core/values/plain_data.ts";
import { shown } from "../core/values/shown_value.ts";

const OBJECTS: readonly string[] = ["tool", "error", "subagent", "budget", "details"];
const TEXTS: readonly string[] = ["sessionId", "repository", "branch", "timestamp"];
const FIELDS: readonly string[] = ["input", "output", ...OBJECTS, ...TEXTS];
/** Come from the command line; an event that was kept has them too. */
const IGNORED: readonly string[] = ["hook", "agent"];

/** Returns the fields of an event that stand in `source`. Throws `hook.event_invalid`, or `host.misuse`. */
export function eventFields(value: unknown, source: string): Readonly<Record<string, unknown>> {
  if (!isMap(value)) {
    throw new HostError("host.misuse", `"${source}" holds no JSON object`, {
      hint: 'Write { "tool": { "name": "Bash" } }',
    });
  }
  for (const [key, field] of Object.entries(value)) {
    if (IGNORED.includes(key)) continue;
    const wanted = OBJECTS.includes(key) ? "an object" : TEXTS.includes(key) ? "a text" : null;
    if (!FIELDS.includes(key)) {
      const hint = didYouMean(key, FIELDS, `Fields: ${FIELDS.join(", ")}`);
      throw new HostError("hook.event_invalid", `"${source}": an event has no field ${shown(key)}`, { hint });
    }
    if (wanted === null || (wanted === "a text" ? typeof field === "string" : isMap(field))) continue;
    throw new HostError("hook.event_invalid", `"${source}": the field "${key}" is not ${wanted}`, {
      hint: "See kaged hooks run --help for the fields of an event",
    });
  }
  return value;
}
