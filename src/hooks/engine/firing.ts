/**
 * One firing of one hook: each handler in its turn, none for longer than it may.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { type Asking, isPromise, Turns } from "../dispatch/in_turn.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { CallContext } from "./call_context.ts";
import { type Awaited, type Deadlines, NOT_YET } from "./deadlines.ts";
import type { Entry } from "./entry.ts";
import { Outcome, type OutcomePorts, UNKNOWN } from "./outcome.ts";
import type { HookResult } from "./result.ts";
import type { HookEvent } from "./types.ts";

/** What firings need of their engine, one for all of its firings. */
export interface FiringPorts extends OutcomePorts {
  /** Ends handlers that take too long. */
  readonly deadlines: Deadlines<Firing>;
  /** Runs `work`, and all that follows from it, as part of a firing: what it fires is known to come from there. */
  readonly within: <T>(firing: Firing, work: () => T) => T;
  /** The firing whose handler runs right now, until its next wait. */
  running: Firing | null;
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

/** One firing. */
export class Firing extends Outcome implements Asking<Entry, unknown, HookResult>, Awaited {
  /** The firing it was fired from, or null. */
  readonly outer: Firing | null;
  /** When the handler that is waited for is given up. */
  dueMs: number = NOT_YET;
  /** See {@link Awaited.place}. */
  place: number = 0;
  readonly #ports: FiringPorts;
  readonly #turns: Turns<Entry, unknown, HookResult>;
  #before: Firing | null = null;
  #context: CallContext | null = null;
  #isWatched = false;

  /** Has asked nobody yet. */
  constructor({ event, given, entries, scope, outer }: FiringTask, ports: FiringPorts) {
    super(event, given, { scope, handlers: entries.length }, ports);
    this.outer = outer;
    this.#ports = ports;
    this.#turns = new Turns<Entry, unknown, HookResult>(entries, this);
  }

  /** Asks each handler in turn; at once, when all of them answer at once. Never throws for a handler. */
  run(): MaybePromise<HookResult> {
    return this.#turns.run();
  }

  /** Whether it is one of those that share these ports. */
  isOf(ports: FiringPorts): boolean {
    return this.#ports === ports;
  }

  /** What is fired from here on comes from this firing. */
  begin(): void {
    this.#before = this.#ports.running;
    this.#ports.running = this;
  }

  /** What is fired from here on does not. */
  rest(): void {
    this.#ports.running = this.#before;
  }

  /** Tells of handlers that are not asked. */
  wants(entry: Entry): boolean {
    if (this.blockedBy !== null && !entry.telemetryOnly) {
      this.passOver(entry);
      return false;
    }
    const unwanted = whyUnwanted(entry, this.event);
    if (unwanted !== null) this.skip(entry, unwanted);
    return unwanted === null;
  }

  /** Asks a handler; its time begins when it has to be waited for. */
  ask(entry: Entry): unknown {
    this.asked++;
    const context = new CallContext(this);
    const answer: unknown = entry.handler(this.event, context);
    if (isPromise(answer)) {
      this.#context = context;
      this.dueMs = NOT_YET;
      if (this.#isWatched) this.#ports.deadlines.renew();
      else this.#ports.deadlines.watch(this);
      this.#isWatched = true;
    }
    return answer;
  }

  /** What the caller gets. */
  override result(): HookResult {
    if (this.#isWatched) this.#ports.deadlines.forget(this);
    return super.result();
  }

  /** The time of the handler that is waited for begins. */
  startTime(nowMs: number): void {
    if (this.askedMs === UNKNOWN) this.askedMs = nowMs;
    this.dueMs = this.askedMs + this.#turns.current.timeoutMs;
  }

  /** Gives up the handler that is waited for and goes on with the next. */
  expire(): void {
    this.dueMs = NOT_YET;
    const error = new HostError("hook.timeout", `No answer within ${this.#turns.current.timeoutMs} ms`);
    this.#context?.abort(error);
    // It was a timer that called, which belongs to whoever set it.
    this.#ports.within(this, () => this.#turns.giveUp(error));
  }
}

function whyUnwanted({ agents, matches }: Entry, event: HookEvent): string | null {
  if (agents !== null && !agents.includes(event.agent)) return `It is for ${agents.join(", ")}`;
  return matches === null || matches(event) ? null : "Its matcher does not want this event";
}
