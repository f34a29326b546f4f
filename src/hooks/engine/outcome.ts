/**
 * What comes of a firing: how each answer changes the event, what adds up, who blocked, and what is told of it.
 *
 * @module
 */
import type { Clock } from "../../core/ports/ports.ts";
import type { ContextRoom } from "./context_room.ts";
import type { Entry } from "./entry.ts";
import { failureText } from "./failure_text.ts";
import { type NormalResponse, readResponse } from "./response.ts";
import type { HookResult, HookTrace, HookTraceOutcome } from "./result.ts";
import { changeEvent } from "./sealed_event.ts";
import type { HookEvent, HookProgress, HookSource } from "./types.ts";

/** What an outcome needs of its engine. */
export interface OutcomePorts {
  /** Time. */
  readonly clock: Pick<Clock, "monotonic">;
  /** Makes room for injected text. */
  readonly openRoom: (scope: object) => ContextRoom;
  /** Hears of each handler. */
  readonly onTrace: ((trace: HookTrace) => void) | null;
}

type TraceFacts = Omit<HookTrace, "hook" | "sessionId" | "agent" | "source" | "outcome" | "durationMs">;

interface Injected {
  readonly source: HookSource;
  readonly text: string;
  readonly bytes: number;
}

const MAX_REASON_CHARS = 500;
const NOTHING: TraceFacts = {};
/** A time at which nobody looked. */
export const UNKNOWN = -1;

/** What has come of one firing so far. */
export class Outcome {
  /** The event as it stands; frozen. */
  event: HookEvent;
  /** Who blocked, or null. */
  blockedBy: string | null = null;
  /** Handlers that were asked. */
  asked: number = 0;
  /** When the handler at hand was asked; {@link UNKNOWN} while nobody wants to know, or has looked at the clock. */
  askedMs: number;
  readonly #ports: OutcomePorts;
  readonly #given: Pick<HookEvent, "input" | "output">;
  #scope: object | null;
  #room: ContextRoom | null = null;
  #changedInput = false;
  #changedOutput = false;
  #reason: string | null = null;
  #injected: Injected[] = [];
  #broke = 0;
  readonly #warnings: string[] = [];
  readonly #trace: HookTrace[];
  #told = 0;

  /** Nothing has come of it. */
  constructor(
    event: HookEvent,
    given: Pick<HookEvent, "input" | "output">,
    { scope, handlers }: { readonly scope: object | null; readonly handlers: number },
    ports: OutcomePorts,
  ) {
    this.event = event;
    this.#given = given;
    this.#scope = scope;
    this.#ports = ports;
    this.#trace = new Array(handlers);
    this.askedMs = ports.onTrace ? ports.clock.monotonic() : UNKNOWN;
  }

  /** The object the handlers of this firing share. */
  get scope(): object {
    return this.#scope ??= {};
  }

  /** For handlers that want to know. */
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
    if (response === null) return this.#tell(entry, "quiet", NOTHING);
    if (isEmpty(response)) return this.#tell(entry, "quiet", hookIdOf(response));
    if (entry.telemetryOnly) {
      return this.#tell(entry, "ran", { action: response.action, hadNoSay: true, ...hookIdOf(response) });
    }
    this.#warnings.push(...response.warnings);
    const facts = { action: response.action, ...this.#inject(entry, response), ...hookIdOf(response) };
    if (response.action !== "block" && response.action !== "modify") return this.#tell(entry, "ran", facts);
    if (entry.advisory) {
      const wish = response.action === "block" ? `would block: ${response.reason}` : "would modify what it was given";
      this.#warnings.push(`${entry.source.id} ${wish}`);
      return this.#tell(entry, "ran", { ...facts, hadNoSay: true });
    }
    if (response.action === "block") this.#block(entry, response.reason!);
    const changed = this.#change(response);
    this.#tell(entry, "ran", {
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
    if (entry.onFailure === "block" && !entry.telemetryOnly && !entry.advisory) this.#block(entry, message);
    this.#tell(entry, "broke", { reason: message });
  }

  /** A handler is not asked: this event is not for it. */
  protected skip(entry: Entry, reason: string): void {
    this.#tell(entry, "skipped", { reason });
  }

  /** A handler is not asked: another one has blocked. */
  protected passOver(entry: Entry): void {
    this.#tell(entry, `blocked by ${this.blockedBy}`, NOTHING);
  }

  /** What the caller gets. */
  result(): HookResult {
    return {
      hook: this.event.hook,
      blocked: this.blockedBy !== null,
      blockedBy: this.blockedBy,
      reason: this.#reason,
      input: this.#changedInput ? this.event.input : this.#given.input,
      output: this.#changedOutput ? this.event.output : this.#given.output,
      context: this.#injected.length === 0 ? [] : this.#injected.map(({ text }) => text),
      warnings: this.#warnings,
      trace: this.#trace,
    };
  }

  #block(entry: Entry, reason: string): void {
    this.blockedBy = entry.source.id;
    this.#reason = reason;
  }

  #change({ input, output }: NormalResponse): ("input" | "output")[] {
    if (!input && !output) return [];
    const change = { ...(input && { input: input.value }), ...(output && { output: output.value }) };
    this.event = changeEvent(this.event, change);
    this.#changedInput ||= input !== undefined;
    this.#changedOutput ||= output !== undefined;
    return Object.keys(change) as ("input" | "output")[];
  }

  #inject({ source }: Entry, { context, overwrites }: NormalResponse): TraceFacts {
    if (context.length === 0 && !overwrites) return NOTHING;
    const room = this.#room ??= this.#ports.openRoom(this.scope);
    if (overwrites) {
      for (const one of this.#injected) room.giveBack(one.source, one.bytes);
      this.#injected = [];
    }
    let injectedBytes = 0;
    let isCut = false;
    for (const each of context) {
      const { text, bytes, cut } = room.take(source, each);
      this.#injected.push({ source, text, bytes });
      injectedBytes += bytes;
      isCut ||= cut;
    }
    if (isCut) this.#warnings.push(`Text of ${source.id} was cut to fit: ${injectedBytes} bytes of it are injected`);
    return { injectedBytes, ...(isCut && { cut: true }) };
  }

  #tell({ source }: Entry, outcome: HookTraceOutcome, facts: TraceFacts): void {
    const { hook, sessionId, agent } = this.event;
    const durationMs = this.#duration();
    const trace: HookTrace = facts === NOTHING
      ? { hook, sessionId, agent, source, outcome, durationMs }
      : { hook, sessionId, agent, source, outcome, durationMs, ...facts };
    this.#trace[this.#told++] = trace;
    const { onTrace } = this.#ports;
    if (onTrace) tellOf(trace, onTrace, this.#warnings);
  }

  /** Reading the clock costs as much as a small handler: it is read when somebody listens, or there was a wait. */
  #duration(): number {
    const { clock, onTrace } = this.#ports;
    if (this.askedMs === UNKNOWN) return 0;
    const [beforeMs, nowMs] = [this.askedMs, clock.monotonic()];
    this.askedMs = onTrace ? nowMs : UNKNOWN;
    return nowMs - beforeMs;
  }
}

/** Tells a listener; that it failed becomes a warning, and nothing else. */
export function tellOf(trace: HookTrace, onTrace: (trace: HookTrace) => void, warnings: string[]): void {
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
