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
import { misplacedAsk, NO_ASKS, unansweredAsk } from "./asks.ts";
import { bothReasons, type Changes, type NormalResponse, readQuestion, readResponse, withAsk } from "./response.ts";
import type { HookAsk, HookResult, HookTrace, HookTraceOutcome } from "./result.ts";
import { hearAsks, type HearsAsks, replaceEvent, type SealedEvent } from "./sealed_event.ts";
import type { HookCallEvent, HookProgress, HookSource } from "./types.ts";

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
  /** Whether the caller sees to it that a person answers. */
  readonly canAsk: boolean;
}

type TraceFacts = Omit<HookTrace, "hook" | "session" | "agent" | "source" | "outcome" | "durationMs">;
type Injected = RoomText & { readonly source: HookSource };

const MAX_REASON_CHARS = 500;
const NOTHING: TraceFacts = {};
/** Most firings inject nothing and warn of nothing: their results share one list. */
export const NO_TEXTS: readonly string[] = Object.freeze([]);
/** A time at which the clock was not read. */
export const UNKNOWN = -1;

/** The parts of an outcome that most firings do without: to make them each time would cost as much as a small handler. */
class Rare {
  scope: object | null = null;
  room: ContextRoom | null = null;
  reason: string | null = null;
  injected: Injected[] = [];
  asks: readonly HookAsk[] = NO_ASKS;
  broke = 0;
  readonly warnings: string[] = [];
  /** The values that handlers left in the place of the caller's. */
  left: Changes | null = null;
}

/** The outcome of one firing so far. */
export class Outcome<Task extends OutcomeTask, Ports extends OutcomePorts> implements HearsAsks {
  readonly task: Task;
  readonly ports: Ports;
  /** The event as handlers have left it; frozen. */
  event: HookCallEvent;
  /** Id of the handler that blocked, or null. */
  blockedBy: string | null = null;
  /** Handlers that were asked. */
  asked: number = 0;
  /** Whether every handler is done. Work that a handler left running may fire the same hook again from then on. */
  isOver: boolean = false;
  /** When the handler at hand was asked; {@link UNKNOWN} while no trace or deadline needs it. */
  askedMs: number;
  /** The reason of the handler at hand, once it has called `event.ask()`. */
  #question: string | null = null;
  #rare: Rare | null = null;
  readonly #traces: HookTrace[];
  #traced = 0;

  constructor(task: Task, ports: Ports) {
    this.task = task;
    this.ports = ports;
    this.event = task.event;
    hearAsks(task.event, this);
    this.#traces = new Array(task.entries.length);
    if (task.cut !== null) this.warned.push(`Handlers saw a part of the event: ${task.cut}`);
    this.askedMs = ports.onTrace ? ports.clock.monotonic() : UNKNOWN;
  }

  /** The object the handlers of this firing share. */
  get scope(): object {
    return this.found.scope ??= this.task.scope ?? {};
  }

  /** A snapshot for handlers that ask how the firing stands. */
  get progress(): HookProgress {
    const { broke = 0, warnings = [], injected = [] } = this.#rare ?? {};
    return {
      asked: this.asked,
      broke,
      warnings: warnings.length,
      injections: injected.length,
      injectedBytes: injected.reduce((sum, { bytes }) => sum + bytes, 0),
      blockedBy: this.blockedBy ?? this.unanswered()?.source.id ?? null,
    };
  }

  /** Returns `event.ask` for the handler that is asked now; it has no effect once that handler is done. */
  asker(): HookCallEvent["ask"] {
    const turn = this.asked;
    return (question) => {
      if (turn === this.asked && !this.isOver) this.#question = bothReasons(this.#question, readQuestion(question));
    };
  }

  /** Acts on an answer. Throws when it cannot be used, before anything is changed. */
  take(entry: Entry, answer: unknown): void {
    const answered = readResponse(answer, this.event.hook);
    const question = this.takeQuestion();
    const response = question === null ? answered : withAsk(answered, question);
    if (response === null) return this.trace(entry, "quiet");
    if (isEmpty(response)) return this.trace(entry, "quiet", hookIdOf(response));
    if (entry.telemetryOnly) {
      return this.trace(entry, "ran", { action: response.action, hadNoSay: true, ...hookIdOf(response) });
    }
    if (response.warnings.length > 0) this.warned.push(...response.warnings);
    const facts = { action: response.action, ...this.inject(entry, response), ...hookIdOf(response) };
    if (response.action === "passThrough" || response.action === "injectContext") {
      return this.trace(entry, "ran", facts);
    }
    if (entry.advisory) {
      this.warned.push(`${entry.source.id} ${wishIn(response)}`);
      return this.trace(entry, "ran", { ...facts, hadNoSay: true });
    }
    if (response.action === "block") this.blockBy(entry, response.reason!);
    if (response.action === "ask") this.addAsk(entry, response.reason!);
    const changed = this.change(response.changes);
    this.trace(entry, "ran", {
      ...facts,
      ...(response.reason !== null && { reason: response.reason.slice(0, MAX_REASON_CHARS) }),
      ...(changed.length > 0 && { changed }),
    });
  }

  /** A handler broke: it has no say, unless its failure is to block or it had asked before. Never throws. */
  fail(entry: Entry, thrown: unknown): void {
    this.found.broke++;
    const message = failureText(thrown);
    this.warned.push(message);
    if (isPolicy(entry)) this.blockBy(entry, message);
    const question = this.takeQuestion();
    if (question !== null && entry.advisory) this.warned.push(`${entry.source.id} ${wouldAsk(question)}`);
    const counts = question !== null && !entry.advisory && !entry.telemetryOnly;
    if (counts) this.addAsk(entry, question);
    this.trace(entry, "broke", { reason: message, ...(counts && { action: "ask" }) });
  }

  /** Returns the outcome as the caller of `fire` gets it. */
  result(): HookResult {
    this.isOver = true;
    const unanswered = this.unanswered();
    if (unanswered !== null) this.stop(unanswered.source.id, unansweredAsk(unanswered.reason));
    const rare = this.#rare;
    const left = rare?.left ?? this.task.given;
    return {
      hook: this.event.hook,
      blocked: this.blockedBy !== null,
      blockedBy: this.blockedBy,
      reason: rare === null ? null : rare.reason,
      asked: rare === null ? NO_ASKS : rare.asks,
      input: left.input,
      output: left.output,
      context: rare === null || rare.injected.length === 0 ? NO_TEXTS : rare.injected.map(({ text }) => text),
      warnings: rare === null ? NO_TEXTS : rare.warnings,
      trace: this.#traces,
    };
  }

  protected get found(): Rare {
    return this.#rare ??= new Rare();
  }

  protected get warned(): string[] {
    return this.found.warnings;
  }

  /** At the end of a session later handlers may block too: the first one counts. */
  protected blockBy(entry: Entry, reason: string): void {
    if (this.blockedBy === null) this.stop(entry.source.id, reason);
  }

  protected stop(by: string, reason: string): void {
    this.blockedBy = by;
    this.found.reason = reason;
  }

  /** An ask leaves the chain running: a later handler may block, and then nobody needs to be asked. */
  protected addAsk(entry: Entry, reason: string): void {
    const { hook } = this.event;
    if (hook !== "PreToolUse") this.blockBy(entry, misplacedAsk(hook, reason));
    else this.found.asks = [...this.found.asks, { source: entry.source, reason }];
  }

  /** The first ask of a firing that is not blocked, where nobody will be asked. */
  protected unanswered(): HookAsk | null {
    if (this.#rare === null) return null;
    return this.task.canAsk || this.blockedBy !== null ? null : this.#rare.asks[0] ?? null;
  }

  protected takeQuestion(): string | null {
    const question = this.#question;
    this.#question = null;
    return question;
  }

  /** Gives the next handlers an event of their own, so that an earlier one cannot ask in their name. */
  protected renewEvent(changes: Changes = {}): void {
    this.event = replaceEvent(this.event, changes, this);
  }

  protected change(changes: Changes): (keyof Changes)[] {
    const changed = Object.keys(changes) as (keyof Changes)[];
    if (changed.length === 0) return changed;
    this.renewEvent(changes);
    this.found.left = { ...(this.found.left ?? this.task.given), ...changes };
    return changed;
  }

  protected inject({ source }: Entry, { context, overwrites }: NormalResponse): TraceFacts {
    if (context.length === 0 && !overwrites) return NOTHING;
    const found = this.found;
    const room = found.room ??= this.ports.openRoom(this.scope);
    if (overwrites) {
      for (const one of found.injected) room.giveBack(one.source, one.bytes);
      found.injected = [];
    }
    let injectedBytes = 0;
    let isCut = false;
    for (const each of context) {
      const taken = room.take(source, each);
      found.injected.push({ source, ...taken });
      injectedBytes += taken.bytes;
      isCut ||= taken.cut;
    }
    if (isCut) this.warned.push(`Text of ${source.id} was cut to fit: ${injectedBytes} bytes of it are injected`);
    return { injectedBytes, ...(isCut && { cut: true }) };
  }

  /** Traces the part that a handler had in the firing. */
  protected trace({ source }: Entry, outcome: HookTraceOutcome, facts: TraceFacts = NOTHING): void {
    const { hook, sessionId: session, agent } = this.event;
    const durationMs = this.duration();
    const trace: HookTrace = facts === NOTHING
      ? { hook, session, agent, source, outcome, durationMs }
      : { hook, session, agent, source, outcome, durationMs, ...facts };
    this.#traces[this.#traced++] = trace;
    const { onTrace } = this.ports;
    if (onTrace) reportTrace(trace, onTrace, this.warned);
  }

  /** Reading the clock costs as much as a small handler: it is read for a listener of traces, and after a wait. */
  protected duration(): number {
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

/** The decision of an advisory handler, which is only a wish. */
function wishIn({ action, reason }: NormalResponse): string {
  if (action === "block") return `would block: ${reason}`;
  return action === "ask" ? wouldAsk(reason!) : "would modify what it was given";
}

function wouldAsk(reason: string): string {
  return `would ask a person: ${reason}`;
}

function hookIdOf({ hookId }: NormalResponse): TraceFacts {
  return hookId === null ? NOTHING : { hookId };
}
