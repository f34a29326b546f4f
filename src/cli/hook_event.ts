/**
 * The fields of an event that `kaged hooks run` is given. An unknown field would reach no hook, and the run would not show
 * why: so it is an error.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import { isMap } from "../core/values/plain_data.ts";
import { shown } from "../core/values/shown_value.ts";

type FieldType = "an object" | "a text" | "anything";

const FIELDS: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ...["input", "output"].map((name) => [name, "anything"] as const),
  ...["tool", "error", "subagent", "budget", "details"].map((name) => [name, "an object"] as const),
  ...["sessionId", "repository", "branch", "timestamp"].map((name) => [name, "a text"] as const),
]);
/** The command line sets these; an event that was recorded has them too. */
const IGNORED: readonly string[] = ["hook", "agent"];

/** Returns the fields of the event in `source`. Throws `hook.event_invalid`, or `host.misuse`. */
export function eventFields(value: unknown, source: string): Readonly<Record<string, unknown>> {
  if (!isMap(value)) {
    throw new HostError("host.misuse", `"${source}" holds no JSON object`, {
      hint: 'Write { "tool": { "name": "Bash" } }',
    });
  }
  for (const [key, field] of Object.entries(value)) {
    const wanted = IGNORED.includes(key) ? "anything" : FIELDS.get(key);
    if (wanted === undefined) {
      const names = [...FIELDS.keys()];
      const hint = didYouMean(key, names, `Fields: ${names.join(", ")}`);
      throw new HostError("hook.event_invalid", `"${source}": an event has no field ${shown(key)}`, { hint });
    }
    if (wanted === "anything" || (wanted === "a text" ? typeof field === "string" : isMap(field))) continue;
    throw new HostError("hook.event_invalid", `"${source}": the field "${key}" is not ${wanted}`, {
      hint: "See kaged hooks run --help for the fields of an event",
    });
  }
  return value;
}
