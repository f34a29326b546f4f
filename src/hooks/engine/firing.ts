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
import { type Entry, isPolicy } from "./entry.ts";
import { Outcome, type OutcomePorts, type OutcomeTask, UNKNOWN } from "./outcome.ts";
import type { HookResult } from "./result.ts";
import type { HookEvent } from "./types.ts";

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
export class Firing extends Outcome implements Asking<Entry, unknown, HookResult>, Awaited {
  /** When the handler that is waited for is given up. */
  dueMs: number = NOT_YET;
  place: number = 0;
  /** Whether every handler is done. Work that a handler left running may fire the same hook again from then on. */
  isOver: boolean = false;
  readonly #task: FiringTask;
  readonly #ports: FiringPorts;
  readonly #turns: Turns<Entry, unknown, HookResult>;
  #before: Firing | null = null;
  #context: CallContext | null = null;
  #isWatched = false;

  constructor(task: FiringTask, ports: FiringPorts) {
    super(task, ports);
    this.#task = task;
    this.#ports = ports;
    this.#turns = new Turns<Entry, unknown, HookResult>(task.entries, this);
  }

  /** The firing it was fired from, or null. */
  get outer(): Firing | null {
    return this.#task.outer;
  }

  /** Asks each handler in turn; at once, when all of them answer at once. Never throws for a handler. */
  run(): MaybePromise<HookResult> {
    return this.#turns.run();
  }

  /** Whether it is one of those that share these ports. */
  isOf(ports: FiringPorts): boolean {
    return this.#ports === ports;
  }

  /** Marks events that are fired from here on as fired by a handler of this firing. */
  begin(): void {
    this.#before = this.#ports.running;
    this.#ports.running = this;
  }

  /** Ends the mark that {@link begin} has set. */
  rest(): void {
    this.#ports.running = this.#before;
  }

  /** Traces the handlers that are not asked. A session ends whatever a handler says: there a block ends no chain. */
  wants(entry: Entry): boolean {
    if (this.blockedBy !== null && !entry.telemetryOnly && this.event.hook !== "SessionEnd") {
      this.passOver(entry);
      return false;
    }
    const unwanted = whyUnwanted(entry, this.event, this.#task.stopped);
    if (unwanted !== null) this.skip(entry, unwanted);
    return unwanted === null;
  }

  /** Asks a handler; its time begins when it has to be waited for. */
  ask(entry: Entry): unknown {
    const { cut } = this.#task;
    // A policy that cannot see all of it must not wave it through.
    if (cut !== null && isPolicy(entry)) throw cutError(entry, this.event, cut);
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

  override result(): HookResult {
    this.isOver = true;
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
    const error = timeoutError(this.#turns.current, this.event);
    this.#context?.abort(error);
    // A timer called this, and a timer belongs to whichever firing set it.
    this.#ports.within(this, () => this.#turns.giveUp(error));
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
