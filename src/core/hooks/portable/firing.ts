/**
 * One firing of one hook: each handler in turn, what it may do to the event, and what is told of it.
 *
 * @module
 */
import { HostError, messageOf } from "../../errors.ts";
import type { Clock } from "../../ports.ts";
import { isPromise } from "../dispatch/in_turn.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { CallContext } from "./call_context.ts";
import type { ContextRoom } from "./context_room.ts";
import type { Awaited, Deadlines } from "./deadlines.ts";
import type { Entry } from "./entry.ts";
import { type NormalResponse, readResponse } from "./response.ts";
import type { HookResult, HookTrace, HookTraceOutcome } from "./result.ts";
import { changeEvent } from "./sealed_event.ts";
import type { HookEvent, HookProgress, HookSource } from "./types.ts";

/** What firings need of their engine. */
export interface FiringPorts {
  /** Time. */
  readonly clock: Pick<Clock, "monotonic">;
  /** Ends handlers that take too long. */
  readonly deadlines: Deadlines;
  /** Makes room for injected text. */
  readonly openRoom: (scope: object) => ContextRoom;
  /** Hears of each handler. */
  readonly onTrace: ((trace: HookTrace) => void) | null;
  /** Runs `work`, and all that follows from it, as part of a firing: what it fires is known to come from there. */
  readonly within: <T>(firing: Firing, work: () => T) => T;
  /** What follows runs as part of a firing until {@link leave}, without a wait; returns what to leave to. */
  readonly enter: (firing: Firing) => Firing | null;
  /** Hears that a firing has to wait (1), and that one that waited is over (-1). */
  readonly onWait: (change: 1 | -1) => void;
  /** Ends what {@link enter} began. */
  readonly leave: (before: Firing | null) => void;
}

/** What a firing is about. */
export interface FiringTask {
  /** The event, sealed. */
  readonly event: HookEvent;
  /** What the caller gave. */
  readonly given: Pick<HookEvent, "input" | "output">;
  /** The handlers, in order. */
  readonly entries: readonly Entry[];
  /** The object handlers of this firing share; null when the caller has none. */
  readonly scope: object | null;
  /** The firing it was fired from, or null. */
  readonly outer: Firing | null;
}

type TraceFacts = Omit<HookTrace, "hook" | "sessionId" | "agent" | "source" | "outcome" | "durationMs">;

interface Injected {
  readonly source: HookSource;
  readonly text: string;
  readonly bytes: number;
}

const MAX_REASON_CHARS = 500;
const NOTHING: TraceFacts = {};

/** One firing. */
export class Firing implements Awaited {
  /** The firing it was fired from, or null. */
  readonly outer: Firing | null;
  /** When the handler that is waited for is given up. */
  dueMs: number = Infinity;
  readonly #ports: FiringPorts;
  readonly #given: FiringTask["given"];
  readonly #entries: readonly Entry[];
  /** The event as it stands; frozen. */
  #event: HookEvent;
  #scope: object | null;
  #room: ContextRoom | null = null;
  /** The handler at hand. */
  #index = 0;
  #context: CallContext | null = null;
  /** When the handler at hand was asked; 0 while nobody wants to know. */
  #askedMs: number;
  /** Counts up when a handler is given up: whoever waits for it wakes up to find that others went on. */
  #turn = 0;
  #finish: ((result: HookResult) => void) | null = null;
  #changedInput = false;
  #changedOutput = false;
  #blockedBy: string | null = null;
  #reason: string | null = null;
  #injected: Injected[] = [];
  #asked = 0;
  #broke = 0;
  readonly #warnings: string[] = [];
  readonly #trace: HookTrace[] = [];

  /** Has asked nobody yet. */
  constructor({ event, given, entries, scope, outer }: FiringTask, ports: FiringPorts) {
    this.outer = outer;
    this.#event = event;
    this.#given = given;
    this.#entries = entries;
    this.#scope = scope;
    this.#ports = ports;
    this.#askedMs = ports.onTrace ? ports.clock.monotonic() : 0;
  }

  /** The hook. */
  get hook(): HookEvent["hook"] {
    return this.#event.hook;
  }

  /** The object its handlers share. */
  get scope(): object {
    return this.#scope ??= {};
  }

  /** What has come of it so far. */
  get progress(): HookProgress {
    return {
      asked: this.#asked,
      broke: this.#broke,
      warnings: this.#warnings.length,
      injections: this.#injected.length,
      injectedBytes: this.#injected.reduce((sum, { bytes }) => sum + bytes, 0),
      blockedBy: this.#blockedBy,
    };
  }

  /** Asks each handler in turn; at once, when all of them answer at once. Never throws for a handler. */
  run(): MaybePromise<HookResult> {
    const answer = this.#goOn();
    if (answer === null) return this.#result();
    this.#ports.onWait(1);
    return new Promise((resolve) => {
      this.#finish = resolve;
      void this.#follow(answer);
    });
  }

  /** Gives up the handler that is waited for and goes on with the next. */
  expire(): void {
    this.#turn++;
    const entry = this.#entries[this.#index]!;
    const error = new HostError("hooks.timeout", `No answer within ${entry.timeoutMs} ms`);
    this.#context?.abort(error);
    this.#fail(entry, error);
    this.#index++;
    // It was a timer that called, which belongs to whoever set it.
    this.#ports.within(this, () => this.#followOrFinish(this.#goOn()));
  }

  /** Asks handlers until one has to be waited for, and returns its answer; null when all are done. */
  #goOn(): PromiseLike<unknown> | null {
    const before = this.#ports.enter(this);
    let answer: PromiseLike<unknown> | null = null;
    for (; this.#index < this.#entries.length; this.#index++) {
      answer = this.#ask(this.#entries[this.#index]!);
      if (answer !== null) break;
    }
    this.#ports.leave(before);
    return answer;
  }

  /** Waits for the handler at hand, then for those after it. */
  async #follow(first: PromiseLike<unknown>): Promise<void> {
    const turn = this.#turn;
    let answer: PromiseLike<unknown> | null = first;
    while (answer !== null) {
      const entry: Entry = this.#entries[this.#index]!;
      try {
        const value: unknown = await answer;
        if (turn !== this.#turn) return;
        this.#take(entry, value);
      } catch (error) {
        if (turn !== this.#turn) return;
        this.#fail(entry, error);
      }
      this.#index++;
      answer = this.#goOn();
    }
    this.#followOrFinish(null);
  }

  #followOrFinish(answer: PromiseLike<unknown> | null): void {
    if (answer !== null) return void this.#follow(answer);
    this.#ports.deadlines.forget(this);
    this.#ports.onWait(-1);
    this.#finish!(this.#result());
  }

  /** Asks one handler. Returns what has to be waited for, else null. */
  #ask(entry: Entry): PromiseLike<unknown> | null {
    if (this.#blockedBy !== null && !entry.telemetryOnly) {
      this.#tell(entry, `blocked by ${this.#blockedBy}`, NOTHING);
      return null;
    }
    try {
      const unwanted = this.#whyUnwanted(entry);
      if (unwanted !== null) {
        this.#tell(entry, "skipped", { reason: unwanted });
        return null;
      }
      this.#asked++;
      const context = new CallContext(this);
      const answer: unknown = entry.handler(this.#event, context);
      if (isPromise(answer)) {
        this.#context = context;
        this.#watch(entry.timeoutMs);
        return answer;
      }
      this.#take(entry, answer);
    } catch (error) {
      this.#fail(entry, error);
    }
    return null;
  }

  #watch(timeoutMs: number): void {
    const { clock, deadlines } = this.#ports;
    if (this.#askedMs === 0) this.#askedMs = clock.monotonic();
    const isNew = this.dueMs === Infinity;
    this.dueMs = this.#askedMs + timeoutMs;
    if (isNew) deadlines.watch(this, this.#askedMs);
    else deadlines.move(this, this.#askedMs);
  }

  #whyUnwanted({ agents, matches }: Entry): string | null {
    if (agents !== null && !agents.includes(this.#event.agent)) return `It is for ${agents.join(", ")}`;
    return matches === null || matches(this.#event) ? null : "Its matcher does not want this event";
  }

  /** Acts on an answer. Throws when it cannot be used, before anything is changed. */
  #take(entry: Entry, answer: unknown): void {
    const response = readResponse(answer, this.#event.hook);
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

  #block(entry: Entry, reason: string): void {
    this.#blockedBy = entry.source.id;
    this.#reason = reason;
  }

  #change({ input, output }: NormalResponse): ("input" | "output")[] {
    if (!input && !output) return [];
    const change = { ...(input && { input: input.value }), ...(output && { output: output.value }) };
    this.#event = changeEvent(this.#event, change);
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

  #fail(entry: Entry, thrown: unknown): void {
    this.#broke++;
    const message = `Hook failed: ${messageOf(thrown).slice(0, MAX_REASON_CHARS)}`;
    this.#warnings.push(message);
    if (entry.onFailure === "block" && !entry.telemetryOnly && !entry.advisory) this.#block(entry, message);
    this.#tell(entry, "broke", { reason: message });
  }

  #tell({ source }: Entry, outcome: HookTraceOutcome, facts: TraceFacts): void {
    const { hook, sessionId, agent } = this.#event;
    const durationMs = this.#duration();
    const trace: HookTrace = facts === NOTHING
      ? { hook, sessionId, agent, source, outcome, durationMs }
      : { hook, sessionId, agent, source, outcome, durationMs, ...facts };
    this.#trace.push(trace);
    const { onTrace } = this.#ports;
    if (!onTrace) return;
    try {
      onTrace(trace);
    } catch (error) {
      this.#warnings.push(`Listener of traces failed: ${messageOf(error)}`);
    }
  }

  /** Reading the clock costs as much as a small handler: it is read when somebody listens, or there was a wait. */
  #duration(): number {
    const { clock, onTrace } = this.#ports;
    if (!onTrace && this.#askedMs === 0) return 0;
    const beforeMs = this.#askedMs;
    this.#askedMs = clock.monotonic();
    return this.#askedMs - beforeMs;
  }

  #result(): HookResult {
    return {
      hook: this.#event.hook,
      blocked: this.#blockedBy !== null,
      blockedBy: this.#blockedBy,
      reason: this.#reason,
      input: this.#changedInput ? this.#event.input : this.#given.input,
      output: this.#changedOutput ? this.#event.output : this.#given.output,
      context: this.#injected.map(({ text }) => text),
      warnings: this.#warnings,
      trace: this.#trace,
    };
  }
}

function isEmpty({ action, context, warnings, overwrites }: NormalResponse): boolean {
  return (action === "passThrough" || action === "injectContext") && context.length === 0 && warnings.length === 0 &&
    !overwrites;
}

function hookIdOf({ hookId }: NormalResponse): TraceFacts {
  return hookId === null ? NOTHING : { hookId };
}
