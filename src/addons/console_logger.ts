/**
 * Prints events to the console, for people or as JSON.
 *
 * @module
 */
import type { AnyEvent, EmittedEvents, EmittedName, TokenUsage } from "../events/types.ts";
import { checkOptions, FUNCTION, listOf, oneOf, type OptionChecks, TEXT } from "../core/values/check_options.ts";
import { printable } from "../core/values/printable.ts";
import { type EventSource, hearEvents } from "./event_source.ts";

/** Selects the events to print, and their form. */
export interface ConsoleLoggerOptions {
  /** Events to print. Default: all that are emitted. */
  readonly events?: readonly EmittedName[];
  /** `pretty`: a line for a person. `json`: the event as one line of JSON. Default `pretty`. */
  readonly format?: "pretty" | "json";
  /** Takes each line. Default: `console.log`. */
  readonly write?: (line: string) => void;
}

const CHECKS: OptionChecks<ConsoleLoggerOptions> = {
  events: listOf(TEXT),
  format: oneOf("pretty", "json"),
  write: FUNCTION,
};

/**
 * Prints events as they happen; the returned function ends it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createEmitter } from "@kaged/plugin-host/events";
 * import { createConsoleLogger } from "@kaged/plugin-host/addons";
 *
 * const emitter = createEmitter({ level: "trace", clock: Date });
 * const lines: string[] = [];
 * createConsoleLogger(emitter, { events: ["tool:execute"], write: (line) => lines.push(line) });
 * const call = { agentName: "email-checker", toolName: "searchEmails", duration: 890, conversationId: "ses_1" };
 * emitter.emit("tool:execute", { ...call, input: {}, output: null });
 * await Promise.resolve();
 * assert.deepEqual(lines, ["[tool]  searchEmails called by email-checker (890ms)"]);
 * ```
 * @throws {HostError} `addons.unknown_event` for a name that no event has, `addons.invalid_option`.
 */
export function createConsoleLogger(source: EventSource, options: ConsoleLoggerOptions = {}): () => void {
  checkOptions("createConsoleLogger()", options, CHECKS, "addons.invalid_option");
  const { events, format = "pretty", write = (line) => console.log(line) } = options;
  const line = format === "json" ? jsonLine : prettyLine;
  return hearEvents(source, events, (event) => write(line(event)));
}

/** JSON escapes most control characters; the rest is escaped here, which JSON reads as the same text. */
function jsonLine(event: AnyEvent): string {
  return printable(JSON.stringify(event));
}

/** Width of the longest tag, `[agent]`. */
const TAG_WIDTH = 7;

/** Returns the line, without a line break. */
function prettyLine(event: AnyEvent): string {
  const text = (LINES[event.type] as (event: AnyEvent) => string)(event);
  const family = event.type.slice(0, event.type.indexOf(":"));
  return `${`[${TAGS[family] ?? family}]`.padEnd(TAG_WIDTH)} ${printable(text)}`;
}

/** Families of events that stand under another tag than their own name. */
const TAGS: Readonly<Record<string, string>> = { delegate: "agent", compaction: "agent" };

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
