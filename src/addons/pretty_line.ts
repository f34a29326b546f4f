/**
 * An event as one line for a person.
 *
 * @module
 */
import type { AnyEvent, EmittedEvents, EmittedName, TokenUsage } from "../events/types.ts";

/** Width of the longest tag, `[agent]`. */
const TAG_WIDTH = 7;
// Controls and direction marks: an agent's error must not write elsewhere on the terminal, or be read backwards.
// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns the line, without a line break. */
export function prettyLine(event: AnyEvent): string {
  const text = (LINES[event.type] as (event: AnyEvent) => string)(event);
  const family = event.type.slice(0, event.type.indexOf(":"));
  return `${`[${TAGS[family] ?? family}]`.padEnd(TAG_WIDTH)} ${visible(text)}`;
}

/** Families of events that stand under another tag than their own name. */
const TAGS: Readonly<Record<string, string>> = { delegate: "agent", compaction: "agent" };

/** Returns text with the characters that a terminal would obey written as escapes. */
export function visible(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const LINES: { readonly [E in EmittedName]: (event: EmittedEvents[E]) => string } = {
  "agent:start": ({ agentName }) => `${agentName} started`,
  "agent:end": ({ agentName, duration, usage, toolsUsed }) =>
    `${agentName} completed in ${ms(duration)} (${tokens(usage)}) — ${counted(toolsUsed.length, "tool")} used`,
  "agent:error": ({ agentName, error, duration }) => `${agentName} failed: ${error} (${ms(duration)})`,
  "job:start": ({ jobId, agentName }) => `${jobId} accepted for ${agentName}`,
  "job:end": ({ jobId, agentName, duration, usage }) =>
    `${jobId} of ${agentName} completed in ${ms(duration)} (${tokens(usage)})`,
  "job:error": ({ jobId, agentName, error, duration }) => `${jobId} of ${agentName} failed: ${error} (${ms(duration)})`,
  "job:cancelled": ({ jobId, agentName, duration }) => `${jobId} of ${agentName} cancelled (${ms(duration)})`,
  "cron:executed": ({ cronId, agentName, status, duration }) =>
    `${cronId} ${status} for ${agentName} (${ms(duration)})`,
  "tool:execute": ({ toolName, agentName, duration }) => `${toolName} called by ${agentName} (${ms(duration)})`,
  "delegate:start": ({ parentAgent, childAgent }) => `${parentAgent} hands over to ${childAgent}`,
  "delegate:end": ({ parentAgent, childAgent, duration }) =>
    `${childAgent} hands back to ${parentAgent} (${ms(duration)})`,
  "model:call": ({ model, agentName, promptTokens, completionTokens, duration }) =>
    `${model} called by ${agentName} (${number(promptTokens)} + ${number(completionTokens)} tokens, ${ms(duration)})`,
  "hook:execute": ({ hook, plugin, outcome, duration }) => `${hook} ${outcome} in ${plugin} (${ms(duration)})`,
  "hook:metric": ({ agentName, hook, figures }) => {
    const listed = Object.entries(figures).map(([name, value]) => `${name} ${value}`).join(", ");
    return `${hook} measured in ${agentName} (${listed})`;
  },
  "compaction:execute": ({ agentName, by, before, after, duration }) =>
    `${agentName} compacted by ${by}: ${number(before.tokens)} → ${number(after.tokens)} tokens (${ms(duration)})`,
};

const number = (value: number): string => value.toLocaleString("en-US");
const ms = (duration: number): string => `${Math.round(duration)}ms`;
const tokens = ({ totalTokens }: TokenUsage): string => counted(totalTokens, "token");
const counted = (count: number, what: string): string => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
