/**
 * One firing of one hook: each handler in its turn, none for longer than it may.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { isPromise } from "../dispatch/in_turn.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { type Awaited, type Deadlines, NOT_YET } from "./deadlines.ts";
import { type Entry, isPolicy } from "./entry.ts";
import { Outcome, type OutcomePorts, type OutcomeTask, UNKNOWN } from "./outcome.ts";
import type { HookResult } from "./result.ts";
import type { HookCallContext, HookEvent, HookProgress } from "./types.ts";

/** The parts of an engine that all of its firings share. */
export interface FiringPorts extends OutcomePorts {
  /** Ends handlers that take too long. */
  readonly deadlines: Deadlines<Wait>;
  /** Runs `work`, and all that follows from it, as part of a firing: what it fires is known to come from there. */
  readonly within: <T>(firing: Firing, work: () => T) => T;
  /** The firing whose handler runs right now, until its next wait. */
  running: Firing | null;
}

/** The event of a firing, its handlers, and the place it was fired from. */
export interface FiringTask extends OutcomeTask {
  /** Whether the session's handlers of `Stop` have run already, and are not to run at its end. */
  readonly stopped: boolean;
  /** The firing it was fired from, or null. */
  readonly outer: Firing | null;
}

/** One firing, from its first handler to its last. */
export class Firing extends Outcome<FiringTask, FiringPorts> {
  /** Index of the handler that is waited for. */
  at: number = 0;
  /** Null until a handler has to be waited for, and again when all are done. */
  wait: Wait | null = null;

  /** Asks each handler in turn; at once, when all of them answer at once. Never throws for a handler. */
  run(): MaybePromise<HookResult> {
    const answer = this.askFrom(0);
    return answer === null ? this.result() : this.wait!.open(answer);
  }

  /** The handler that is waited for. */
  get current(): Entry {
    return this.task.entries[this.at]!;
  }

  /** Asks until one has to be waited for, and returns its promise; null when all are done. */
  askFrom(first: number): Promise<unknown> | null {
    const { task: { entries }, ports } = this;
    const before = ports.running;
    // Events that are fired meanwhile are fired by a handler of this firing.
    ports.running = this;
    try {
      for (let at = first; at < entries.length; at++) {
        const answer = this.askOne(entries[at]!);
        if (answer === null) continue;
        this.at = at;
        return answer;
      }
      return null;
    } finally {
      ports.running = before;
    }
  }

  /** Takes the outcome of the handler that was waited for. */
  settle(value: unknown, isError: boolean): void {
    const { current } = this;
    try {
      if (!isError) return this.take(current, value);
    } catch (error) {
      value = error;
    }
    this.fail(current, value);
  }

  protected askOne(entry: Entry): Promise<unknown> | null {
    try {
      return this.wants(entry) ? this.ask(entry) : null;
    } catch (error) {
      this.fail(entry, error);
      return null;
    }
  }

  /** Traces the handlers that are not asked. A session ends whatever a handler says: there a block ends no chain. */
  wants(entry: Entry): boolean {
    if (this.blockedBy !== null && !entry.telemetryOnly && this.event.hook !== "SessionEnd") {
      this.trace(entry, `blocked by ${this.blockedBy}`);
      return false;
    }
    const unwanted = whyUnwanted(entry, this.event, this.task.stopped);
    if (unwanted !== null) this.trace(entry, "skipped", { reason: unwanted });
    return unwanted === null;
  }

  /** Asks a handler and takes its answer, or returns its promise; its time begins when it has to be waited for. */
  ask(entry: Entry): Promise<unknown> | null {
    const { cut } = this.task;
    // A policy that cannot see all of it must not wave it through.
    if (cut !== null && isPolicy(entry)) throw cutError(entry, this.event, cut);
    this.asked++;
    const context = new CallContext(this);
    const answer: unknown = entry.handler(this.event, context);
    if (!isPromise(answer)) {
      this.take(entry, answer);
      return null;
    }
    (this.wait ??= new Wait(this)).begin(context);
    return answer;
  }

  override result(): HookResult {
    this.wait?.close();
    return super.result();
  }

  /** Gives up the handler that is waited for and goes on with the next: a late answer finds its wait without a firing. */
  giveUp(late: Wait): void {
    const error = timeoutError(this.current, this.event);
    const next = this.wait = new Wait(this).insteadOf(late);
    this.renewEvent();
    late.context?.abort(error);
    // A timer called this, and a timer belongs to whichever firing set it.
    this.ports.within(this, () => next.follow(Promise.reject(error)));
  }
}

type Resolve = (result: HookResult) => void;
type Reject = (error: unknown) => void;
let newResolve!: Resolve;
let newReject!: Reject;
/** One function for all promises, which are made one at a time. */
const keepResolvers = (resolve: Resolve, reject: Reject): void => {
  newResolve = resolve;
  newReject = reject;
};

/** The waits of one firing, one after another, until a handler is given up. */
export class Wait implements Awaited {
  /** Null once the firing is over, or has given up the handler whose promise this still follows. */
  firing: Firing | null;
  /** When the handler that is waited for is given up. */
  dueMs: number = NOT_YET;
  place: number = -1;
  /** The context of the handler that is waited for. */
  context: CallContext | null = null;
  resolve!: Resolve;
  reject!: Reject;
  readonly taken = (answer: unknown): void => this.goOn(answer, false);
  readonly failed = (error: unknown): void => this.goOn(error, true);

  constructor(firing: Firing) {
    this.firing = firing;
  }

  /** Returns the promise of the whole firing, whose first wait this is. */
  open(answer: Promise<unknown>): Promise<HookResult> {
    const result = new Promise<HookResult>(keepResolvers);
    this.resolve = newResolve;
    this.reject = newReject;
    this.follow(answer);
    return result;
  }

  insteadOf(late: Wait): this {
    this.firing!.ports.deadlines.forget(late);
    this.resolve = late.resolve;
    this.reject = late.reject;
    late.firing = null;
    return this;
  }

  begin(context: CallContext): void {
    this.context = context;
    this.dueMs = NOT_YET;
    this.firing!.ports.deadlines.watch(this);
  }

  /** Through a promise of the language: a thenable of another kind might call back at once, or twice. */
  follow(answer: Promise<unknown>): void {
    void Promise.resolve(answer).then(this.taken, this.failed);
  }

  goOn(value: unknown, isError: boolean): void {
    const { firing, resolve, reject } = this;
    if (firing === null) return;
    try {
      firing.settle(value, isError);
      const answer = firing.askFrom(firing.at + 1);
      if (answer === null) resolve(firing.result());
      else this.follow(answer);
    } catch (error) {
      this.close();
      reject(error);
    }
  }

  close(): void {
    const { firing } = this;
    if (firing === null) return;
    firing.ports.deadlines.forget(this);
    this.firing = firing.wait = null;
  }

  startTime(nowMs: number): void {
    const firing = this.firing!;
    if (firing.askedMs === UNKNOWN) firing.askedMs = nowMs;
    this.dueMs = firing.askedMs + firing.current.timeoutMs;
  }

  expire(): void {
    this.firing?.giveUp(this);
  }
}

/**
 * The context of one call of one handler. An `AbortController` costs more than most handlers do, and few look at the
 * signal: it is made when one does.
 */
class CallContext implements HookCallContext {
  readonly #firing: Firing;
  /** The controller, once a handler has looked; before that, why it was given up, if it was. */
  #end: AbortController | Error | null = null;

  constructor(firing: Firing) {
    this.#firing = firing;
  }

  get signal(): AbortSignal {
    if (this.#end instanceof AbortController) return this.#end.signal;
    const controller = new AbortController();
    if (this.#end !== null) controller.abort(this.#end);
    this.#end = controller;
    return controller.signal;
  }

  get firing(): object {
    return this.#firing.scope;
  }

  get soFar(): HookProgress {
    return this.#firing.progress;
  }

  /** Aborts the signal: the handler is given up. */
  abort(reason: Error): void {
    if (this.#end instanceof AbortController) this.#end.abort(reason);
    else this.#end = reason;
  }
}

function whyUnwanted({ agents, matches, turnEnd }: Entry, event: HookEvent, stopped: boolean): string | null {
  if (turnEnd && stopped) return "The loop has fired Stop in this session";
  if (agents !== null && !agents.includes(event.agent)) return `It is for ${agents.join(", ")}`;
  return matches === null || matches(event) ? null : "Its matcher does not want this event";
}

function timeoutError({ source: { id }, timeoutMs }: Entry, { hook }: HookEvent): HostError {
  return new HostError("hook.timeout", `${id} did not answer ${hook} within ${timeoutMs} ms`, {
    data: { hook, handler: id, timeoutMs },
  });
}

function cutError({ source: { id } }: Entry, { hook }: HookEvent, cut: string): HostError {
  return new HostError("hook.event_cut", `${id} cannot judge ${hook}: of the event a part is missing (${cut})`, {
    data: { hook, handler: id },
  });
}
