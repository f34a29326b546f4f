/**
 * Prints events to the console, for people or as JSON.
 *
 * @module
 */
import type { AnyEvent, EmittedName } from "../events/types.ts";
import { type EventSource, hearEvents } from "./event_source.ts";
import { prettyLine, visible } from "./pretty_line.ts";

/** Selects the events to print, and their form. */
export interface ConsoleLoggerOptions {
  /** Events to print. Default: all that are emitted. */
  readonly events?: readonly EmittedName[];
  /** `pretty`: a line for a person. `json`: the event as one line of JSON. Default `pretty`. */
  readonly format?: "pretty" | "json";
  /** Takes each line. Default: `console.log`. */
  readonly write?: (line: string) => void;
}

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
 * @throws {HostError} `addons.unknown_event` for a name that no event has.
 */
export function createConsoleLogger(source: EventSource, options: ConsoleLoggerOptions = {}): () => void {
  const { events, format = "pretty", write = (line) => console.log(line) } = options;
  const line = format === "json" ? jsonLine : prettyLine;
  return hearEvents(source, events, (event) => write(line(event)));
}

/** JSON escapes most control characters; the rest is escaped here, which JSON reads as the same text. */
function jsonLine(event: AnyEvent): string {
  return visible(JSON.stringify(event));
}
