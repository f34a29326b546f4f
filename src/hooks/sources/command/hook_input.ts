/**
 * The stdin and the variables of a hook's command: the event in the words of the hook's own dialect.
 *
 * @module
 */
import { DIALECTS, eventOf, toolNames } from "../../files/dialects/all.ts";
import { type FactContext, type FactName, FACTS } from "../../files/dialects/facts.ts";
import type { DialectFields } from "../../files/dialects/types.ts";
import type { HookEvent } from "../../engine/types.ts";
import type { FileHook } from "../../files/types.ts";

/** The facts of one run that neither the hook nor the event has. */
export type RunFacts = Pick<FactContext, "cwd" | "dir" | "transcript" | "callId" | "envFile" | "dataDir" | "content">;

/** Returns the event as JSON. Beside the dialect's own fields stand those of the portable envelope (B-005). */
export function hookInput(hook: FileHook, event: HookEvent, run: RunFacts): string {
  const { input: _input, output: _output, details: _details, error: _error, timestamp: _time, ...envelope } = event;
  const own = filledIn(eventOf(hook).fields, factsFor(hook, event, run));
  return `${JSON.stringify({ ...envelope, ...own })}\n`;
}

/** Returns the variables that the dialect of a hook promises it at this event. */
export function hookVariables(hook: FileHook, event: HookEvent, run: RunFacts): Record<string, string> {
  const fields = { ...DIALECTS[hook.dialect].env, ...eventOf(hook).env };
  const values = filledIn(fields, factsFor(hook, event, run));
  const texts = Object.entries(values).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return Object.fromEntries(texts.filter(([, value]) => !value.includes("\0")));
}

function factsFor(hook: FileHook, event: HookEvent, run: RunFacts): FactContext {
  const { native, mcp } = toolNames(event.tool?.name ?? "", hook);
  return { ...run, event, nativeName: hook.nativeName, toolName: native, mcp };
}

/** Returns fields with their values; a name with a dot leads into a map, and `...` is a map that is laid out here. */
function filledIn(fields: DialectFields, context: FactContext): Record<string, unknown> {
  const filled: Record<string, unknown> = {};
  for (const [name, source] of Object.entries(fields)) {
    const value = typeof source === "string" ? FACTS[source as FactName](context) : source.fixed;
    if (value === undefined) continue;
    const [key, inner] = name.split(/\.(?=[a-z])/) as [string, string | undefined];
    if (name === "...") Object.assign(filled, value);
    else if (inner === undefined) filled[name] = value;
    else filled[key] = { ...filled[key] as object, [inner]: value };
  }
  return filled;
}
