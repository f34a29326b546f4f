/**
 * The outcome of a firing: how each answer changes the event, which texts and warnings add up, which handler blocked,
 * and the trace of each.
 *
 * @module
 */
import type { Clock } from "../../core/ports/ports.ts";
import type { ContextRoom, RoomText } from "./context_room.ts";
import { type Entry, isPolicy } from "./entry.ts";
import { failureText } from "./error_facts.ts";
import { type Changes, type NormalResponse, readResponse } from "./response.ts";
import type { HookResult, HookTrace, HookTraceOutcome } from "./result.ts";
import type { SealedEvent } from "./sealed_event.ts";
import type { HookEvent, HookProgress, HookSource } from "./types.ts";

/** The parts of an engine that outcomes use. */
export interface OutcomePorts {
  readonly clock: Pick<Clock, "monotonic">;
  /** Makes room for injected text. */
  readonly openRoom: (scope: object) => ContextRoom;
  /** Called with the trace of each handler. */
  readonly onTrace: ((trace: HookTrace) => void) | null;
}

/** The event, and the handlers it goes to. */
export interface OutcomeTask extends SealedEvent {
  /** The caller's own values, returned where no handler changes them. */
  readonly given: Changes;
  readonly entries: readonly Entry[];
  /** The object that handlers of this firing share; null when the caller has none. */
  readonly scope: object | null;
}

type TraceFacts = Omit<HookTrace, "hook" | "session" | "agent" | "source" | "outcome" | "durationMs">;
type Injected = RoomText & { readonly source: HookSource };

const MAX_REASON_CHARS = 500;
const NOTHING: TraceFacts = {};
/** A time at which the clock was not read. */
export const UNKNOWN = -1;

/** The outcome of one firing so far. */
export class Outcome<Task extends OutcomeTask, Ports extends OutcomePorts> {
  readonly task: Task;
  readonly ports: Ports;
  /** The event as handlers have left it; frozen. */
  event: HookEvent;
  /** Id of the handler that blocked, or null. */
  blockedBy: string | null = null;
  /** Handlers that were asked. */
  asked: number = 0;
  /** When the handler at hand was asked; {@link UNKNOWN} while no trace or deadline needs it. */
  askedMs: number;
  #scope: object | null = null;
  #room: ContextRoom | null = null;
  /** The caller's values, or those that handlers left in their place. */
  #left: Changes;
  #reason: string | null = null;
  #injected: Injected[] = [];
  #broke = 0;
  readonly #warnings: string[];
  readonly #traces: HookTrace[];
  #traced = 0;

  constructor(task: Task, ports: Ports) {
    this.task = task;
    this.ports = ports;
    this.event = task.event;
    this.#left = task.given;
    this.#traces = new Array(task.entries.length);
    this.#warnings = task.cut === null ? [] : [`Handlers saw a part of the event: ${task.cut}`];
    this.askedMs = ports.onTrace ? ports.clock.monotonic() : UNKNOWN;
  }

  /** The object the handlers of this firing share. */
  get scope(): object {
    return this.#scope ??= this.task.scope ?? {};
  }

  /** A snapshot for handlers that ask how the firing stands. */
  get progress(): HookProgress {
    return {
      asked: this.asked,
      broke: this.#broke,
      warnings: this.#warnings.length,
      injections: this.#injected.length,
      injectedBytes: this.#injected.reduce((sum, { bytes }) => sum + bytes, 0),
      blockedBy: this.blockedBy,
    };
  }

  /** Acts on an answer. Throws when it cannot be used, before anything is changed. */
  take(entry: Entry, answer: unknown): void {
    const response = readResponse(answer, this.event.hook);
    if (response === null) return this.trace(entry, "quiet");
    if (isEmpty(response)) return this.trace(entry, "quiet", hookIdOf(response));
    if (entry.telemetryOnly) {
      return this.trace(entry, "ran", { action: response.action, hadNoSay: true, ...hookIdOf(response) });
    }
    this.#warnings.push(...response.warnings);
    const facts = { action: response.action, ...this.#inject(entry, response), ...hookIdOf(response) };
    if (response.action !== "block" && response.action !== "modify") return this.trace(entry, "ran", facts);
    if (entry.advisory) {
      const wish = response.action === "block" ? `would block: ${response.reason}` : "would modify what it was given";
      this.#warnings.push(`${entry.source.id} ${wish}`);
      return this.trace(entry, "ran", { ...facts, hadNoSay: true });
    }
    if (response.action === "block") this.#block(entry, response.reason!);
    const changed = this.#change(response.changes);
    this.trace(entry, "ran", {
      ...facts,
      ...(response.reason !== null && { reason: response.reason.slice(0, MAX_REASON_CHARS) }),
      ...(changed.length > 0 && { changed }),
    });
  }

  /** A handler broke: it has no say, unless its failure is to block. Never throws. */
  fail(entry: Entry, thrown: unknown): void {
    this.#broke++;
    const message = failureText(thrown);
    this.#warnings.push(message);
    if (isPolicy(entry)) this.#block(entry, message);
    this.trace(entry, "broke", { reason: message });
  }

  /** Returns the outcome as the caller of `fire` gets it. */
  result(): HookResult {
    return {
      hook: this.event.hook,
      blocked: this.blockedBy !== null,
      blockedBy: this.blockedBy,
      reason: this.#reason,
      input: this.#left.input,
      output: this.#left.output,
      context: this.#injected.length === 0 ? [] : this.#injected.map(({ text }) => text),
      warnings: this.#warnings,
      trace: this.#traces,
    };
  }

  /** At the end of a session later handlers may block too: the first one counts. */
  #block(entry: Entry, reason: string): void {
    if (this.blockedBy !== null) return;
    this.blockedBy = entry.source.id;
    this.#reason = reason;
  }

  #change(changes: Changes): (keyof Changes)[] {
    const changed = Object.keys(changes) as (keyof Changes)[];
    if (changed.length === 0) return changed;
    this.event = Object.freeze({ ...this.event, ...changes });
    this.#left = { ...this.#left, ...changes };
    return changed;
  }

  #inject({ source }: Entry, { context, overwrites }: NormalResponse): TraceFacts {
    if (context.length === 0 && !overwrites) return NOTHING;
    const room = this.#room ??= this.ports.openRoom(this.scope);
    if (overwrites) {
      for (const one of this.#injected) room.giveBack(one.source, one.bytes);
      this.#injected = [];
    }
    let injectedBytes = 0;
    let isCut = false;
    for (const each of context) {
      const taken = room.take(source, each);
      this.#injected.push({ source, ...taken });
      injectedBytes += taken.bytes;
      isCut ||= taken.cut;
    }
    if (isCut) this.#warnings.push(`Text of ${source.id} was cut to fit: ${injectedBytes} bytes of it are injected`);
    return { injectedBytes, ...(isCut && { cut: true }) };
  }

  /** Traces the part that a handler had in the firing. */
  protected trace({ source }: Entry, outcome: HookTraceOutcome, facts: TraceFacts = NOTHING): void {
    const { hook, sessionId: session, agent } = this.event;
    const durationMs = this.#duration();
    const trace: HookTrace = facts === NOTHING
      ? { hook, session, agent, source, outcome, durationMs }
      : { hook, session, agent, source, outcome, durationMs, ...facts };
    this.#traces[this.#traced++] = trace;
    const { onTrace } = this.ports;
    if (onTrace) reportTrace(trace, onTrace, this.#warnings);
  }

  /** Reading the clock costs as much as a small handler: it is read for a listener of traces, and after a wait. */
  #duration(): number {
    const { clock, onTrace } = this.ports;
    if (this.askedMs === UNKNOWN) return 0;
    const [beforeMs, nowMs] = [this.askedMs, clock.monotonic()];
    this.askedMs = onTrace ? nowMs : UNKNOWN;
    return nowMs - beforeMs;
  }
}

/** Calls a listener of traces. An error it throws becomes a warning of the firing, and nothing else. */
export function reportTrace(trace: HookTrace, onTrace: (trace: HookTrace) => void, warnings: string[]): void {
  try {
    onTrace(trace);
  } catch (error) {
    warnings.push(failureText(error).replace("Hook failed", "Listener of traces failed"));
  }
}

function isEmpty({ action, context, warnings, overwrites }: NormalResponse): boolean {
  return (action === "passThrough" || action === "injectContext") && context.length === 0 && warnings.length === 0 &&
    !overwrites;
}

function hookIdOf({ hookId }: NormalResponse): TraceFacts {
  return hookId === null ? NOTHING : { hookId };
}
