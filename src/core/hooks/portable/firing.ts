/**
 * One firing of one hook: each handler in its turn, none for longer than it may.
 *
 * @module
 */
import { HostError } from "../../errors.ts";
import { isPromise } from "../dispatch/in_turn.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { CallContext } from "./call_context.ts";
import { type Awaited, type Deadlines, NOT_YET } from "./deadlines.ts";
import type { Entry } from "./entry.ts";
import { Outcome, type OutcomePorts, UNKNOWN } from "./outcome.ts";
import type { HookResult } from "./result.ts";
import type { HookEvent, PortableHookName } from "./types.ts";

/** What firings need of their engine. */
export interface FiringPorts extends OutcomePorts {
  /** Ends handlers that take too long. */
  readonly deadlines: Deadlines<Firing>;
  /** Runs `work`, and all that follows from it, as part of a firing: what it fires is known to come from there. */
  readonly within: <T>(firing: Firing, work: () => T) => T;
  /** What follows runs as part of a firing until {@link leave}, without a wait; returns what to leave to. */
  readonly enter: (firing: Firing) => Firing | null;
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

/** One firing. */
export class Firing implements Awaited {
  /** The hook. */
  readonly hook: PortableHookName;
  /** The session. */
  readonly sessionId: string;
  /** The firing it was fired from, or null. */
  readonly outer: Firing | null;
  /** When the handler that is waited for is given up. */
  dueMs: number = NOT_YET;
  readonly #ports: FiringPorts;
  readonly #entries: readonly Entry[];
  readonly #outcome: Outcome;
  /** The handler at hand. */
  #index = 0;
  #context: CallContext | null = null;
  /** Counts up when a handler is given up: whoever waits for it wakes up to find that others went on. */
  #turn = 0;
  #isWatched = false;
  #finish: ((result: HookResult) => void) | null = null;

  /** Has asked nobody yet. */
  constructor({ event, given, entries, scope, outer }: FiringTask, ports: FiringPorts) {
    this.hook = event.hook;
    this.sessionId = event.sessionId;
    this.outer = outer;
    this.#entries = entries;
    this.#ports = ports;
    this.#outcome = new Outcome(event, given, scope, ports);
  }

  /** Asks each handler in turn; at once, when all of them answer at once. Never throws for a handler. */
  run(): MaybePromise<HookResult> {
    const answer = this.#goOn();
    if (answer === null) return this.#outcome.result();
    return new Promise((resolve) => {
      this.#finish = resolve;
      void this.#follow(answer);
    });
  }

  /** The time of the handler that is waited for begins. */
  begin(nowMs: number): void {
    const outcome = this.#outcome;
    if (outcome.askedMs === UNKNOWN) outcome.askedMs = nowMs;
    this.dueMs = outcome.askedMs + this.#entries[this.#index]!.timeoutMs;
  }

  /** Gives up the handler that is waited for and goes on with the next. */
  expire(): void {
    this.#turn++;
    const entry = this.#entries[this.#index]!;
    const error = new HostError("hooks.timeout", `No answer within ${entry.timeoutMs} ms`);
    this.#context?.abort(error);
    this.#outcome.fail(entry, error);
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
        this.#outcome.take(entry, value);
      } catch (error) {
        if (turn !== this.#turn) return;
        this.#outcome.fail(entry, error);
      }
      this.#index++;
      answer = this.#goOn();
    }
    this.#followOrFinish(null);
  }

  #followOrFinish(answer: PromiseLike<unknown> | null): void {
    if (answer !== null) return void this.#follow(answer);
    this.#ports.deadlines.forget(this);
    this.#finish!(this.#outcome.result());
  }

  /** Asks one handler. Returns what has to be waited for, else null. Never throws. */
  #ask(entry: Entry): PromiseLike<unknown> | null {
    const outcome = this.#outcome;
    if (outcome.blockedBy !== null && !entry.telemetryOnly) {
      outcome.passOver(entry);
      return null;
    }
    try {
      const unwanted = whyUnwanted(entry, outcome.event);
      if (unwanted !== null) {
        outcome.skip(entry, unwanted);
        return null;
      }
      outcome.asked++;
      const context = new CallContext(outcome);
      const answer: unknown = entry.handler(outcome.event, context);
      if (isPromise(answer)) {
        this.#context = context;
        this.dueMs = NOT_YET;
        if (this.#isWatched) this.#ports.deadlines.renew();
        else this.#ports.deadlines.watch(this);
        this.#isWatched = true;
        return answer;
      }
      outcome.take(entry, answer);
    } catch (error) {
      outcome.fail(entry, error);
    }
    return null;
  }
}

function whyUnwanted({ agents, matches }: Entry, event: HookEvent): string | null {
  if (agents !== null && !agents.includes(event.agent)) return `It is for ${agents.join(", ")}`;
  return matches === null || matches(event) ? null : "Its matcher does not want this event";
}
