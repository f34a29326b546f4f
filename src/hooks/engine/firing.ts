/**
 * One firing of one hook: each handler in its turn, none for longer than it may.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { type Asking, isPromise, Turns } from "../dispatch/in_turn.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { type Awaited, type Deadlines, NOT_YET } from "./deadlines.ts";
import { type Entry, isPolicy } from "./entry.ts";
import { Outcome, type OutcomePorts, type OutcomeTask, UNKNOWN } from "./outcome.ts";
import type { HookResult } from "./result.ts";
import type { HookCallContext, HookEvent, HookProgress } from "./types.ts";

/** The parts of an engine that all of its firings share. */
export interface FiringPorts extends OutcomePorts {
  /** Ends handlers that take too long. */
  readonly deadlines: Deadlines<Firing>;
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
export class Firing extends Outcome<FiringTask, FiringPorts> implements Asking<Entry, unknown, HookResult>, Awaited {
  /** When the handler that is waited for is given up. */
  dueMs: number = NOT_YET;
  place: number = -1;
  readonly #turns: Turns<Entry, unknown, HookResult>;
  #before: Firing | null = null;
  #context: CallContext | null = null;

  constructor(task: FiringTask, ports: FiringPorts) {
    super(task, ports);
    this.#turns = new Turns<Entry, unknown, HookResult>(task.entries, this);
  }

  /** Asks each handler in turn; at once, when all of them answer at once. Never throws for a handler. */
  run(): MaybePromise<HookResult> {
    return this.#turns.run();
  }

  /** Marks events that are fired from here on as fired by a handler of this firing. */
  begin(): void {
    this.#before = this.ports.running;
    this.ports.running = this;
  }

  /** Ends the mark that {@link begin} has set. */
  rest(): void {
    this.ports.running = this.#before;
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

  /** Asks a handler; its time begins when it has to be waited for. */
  ask(entry: Entry): unknown {
    const { cut } = this.task;
    // A policy that cannot see all of it must not wave it through.
    if (cut !== null && isPolicy(entry)) throw cutError(entry, this.event, cut);
    this.asked++;
    const context = new CallContext(this);
    const answer: unknown = entry.handler(this.event, context);
    if (isPromise(answer)) {
      this.#context = context;
      this.dueMs = NOT_YET;
      this.ports.deadlines.watch(this);
    }
    return answer;
  }

  override result(): HookResult {
    this.ports.deadlines.forget(this);
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
    const error = timeoutError(this.#turns.current, this.event);
    this.renewEvent();
    this.#context?.abort(error);
    // A timer called this, and a timer belongs to whichever firing set it.
    this.ports.within(this, () => this.#turns.giveUp(error));
  }
}

/**
 * The context of one call of one handler. An `AbortController` costs more than most handlers do, and few look at the
 * signal: it is made when one does.
 */
class CallContext implements HookCallContext {
  readonly #firing: Firing;
  #controller: AbortController | null = null;
  #reason: unknown = null;

  constructor(firing: Firing) {
    this.#firing = firing;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get firing(): object {
    return this.#firing.scope;
  }

  get soFar(): HookProgress {
    return this.#firing.progress;
  }

  /** Aborts the signal: the handler is given up. */
  abort(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
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
