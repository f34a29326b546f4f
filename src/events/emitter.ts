/**
 * Hands lifecycle events to their subscribers, detached from the work they describe: nothing a subscriber does, throws
 * or never finishes reaches the agent.
 *
 * @module
 */
import { timestamps } from "../core/values/timestamps.ts";
import { plainCopy } from "./plain_copy.ts";
import {
  type EmittedEvents,
  type EmittedName,
  EVENT_NAMES,
  type EventLevel,
  type EventName,
  type Events,
  levelOf,
} from "./types.ts";
import { WaitingLine } from "./waiting_line.ts";

/** Something that went wrong between an event and a subscriber. */
export interface EventProblem {
  /** Name of the event. */
  readonly event: EmittedName;
  /** `failed`: the subscriber threw. `dropped`: it is too far behind. `uncopied`: the data cannot be copied. */
  readonly kind: "failed" | "dropped" | "uncopied";
  /** The value that was thrown, or an error that describes the problem. */
  readonly error: unknown;
}

/** How an emitter is set up. */
export interface EmitterOptions {
  /** At `summary`, the steps within a run are left out. */
  readonly level: EventLevel;
  /** Time of the events, in ms since 1970. */
  readonly clock: { now(): number };
  /** Called with problems, to log them. For a subscriber that is behind, once until that one has caught up. */
  readonly onError?: (problem: EventProblem) => void;
  /** Events that may wait for one subscriber; further ones are dropped. Default 1,000. */
  readonly maxWaiting?: number;
  /** Characters, roughly, that may wait for one subscriber, beyond a first event of any size. Default 8 Mi. */
  readonly maxWaitingChars?: number;
}

/** Emits lifecycle events to the subscribers it has. */
export interface Emitter {
  /**
   * Subscribes to one event, or to all with `"*"`. Events come one after the other in the order they are emitted: a
   * listener that returns a promise gets the next one when it settles. Each event is the listener's own copy. The
   * returned function ends it: the listener is not called again, not even for events that were waiting.
   *
   * @throws {TypeError} when there is no such event.
   */
  on<E extends EventName>(event: E, listener: (event: Events[E]) => unknown): () => void;
  /** Emits an event, stamped with the time. Returns before any listener runs, and never throws. */
  emit<E extends EmittedName>(event: E, data: Omit<EmittedEvents[E], "timestamp">): void;
  /** Whether the event has a subscriber: ask first where its data is costly to make. */
  wants(event: EmittedName): boolean;
  /** Events that subscribers missed because they were behind. */
  readonly dropped: number;
  /** Events that wait for subscribers. */
  readonly waiting: number;
}

/**
 * Returns an emitter without subscribers. Where no events are configured there is none: a host holds null.
 *
 * @throws {TypeError} when there is no such level, {RangeError} when nothing could wait.
 */
export function createEmitter(options: EmitterOptions): Emitter {
  const { level, maxWaiting = 1, maxWaitingChars = 1 } = options;
  if (level !== "summary" && level !== "trace") {
    throw new TypeError(`There is no level ${JSON.stringify(level)} of events: pass "summary" or "trace"`);
  }
  if (!(maxWaiting > 0 && maxWaitingChars > 0)) throw new RangeError("maxWaiting and maxWaitingChars are above 0");
  return new QueueingEmitter(options);
}

/** One event on its way, shared by its readers; the last of them may have it as its own. */
interface Snapshot {
  readonly name: EmittedName;
  readonly data: Record<string, unknown>;
  readonly weight: number;
  readers: number;
}

class Subscriber {
  readonly listener: (event: never) => unknown;
  readonly hearsAll: boolean;
  readonly line = new WaitingLine<Snapshot>();
  waitingChars = 0;
  isLive = true;
  isBusy = false;
  isBehind = false;

  constructor(listener: (event: never) => unknown, hearsAll: boolean) {
    this.listener = listener;
    this.hearsAll = hearsAll;
  }

  get waiting(): number {
    return this.line.length;
  }

  take(): Snapshot {
    const snapshot = this.line.take();
    if (this.line.length === 0) this.isBehind = false;
    this.waitingChars -= snapshot.weight;
    return snapshot;
  }
}

class QueueingEmitter implements Emitter {
  readonly #options: EmitterOptions & Required<Pick<EmitterOptions, "maxWaiting" | "maxWaitingChars">>;
  readonly #now: () => string;
  readonly #byEvent = new Map<EventName, readonly Subscriber[]>();
  #ready: Subscriber[] = [];
  #dropped = 0;

  constructor(options: EmitterOptions) {
    const { maxWaiting = 1000, maxWaitingChars = 8 * 1024 * 1024 } = options;
    this.#options = { ...options, maxWaiting, maxWaitingChars };
    this.#now = timestamps(options.clock);
  }

  get dropped(): number {
    return this.#dropped;
  }

  get waiting(): number {
    let sum = 0;
    for (const subscribers of this.#byEvent.values()) for (const { waiting } of subscribers) sum += waiting;
    return sum;
  }

  wants(event: EmittedName): boolean {
    if (this.#byEvent.size === 0) return false;
    if (this.#options.level === "summary" && levelOf(event) === "trace") return false;
    return this.#byEvent.has(event) || this.#byEvent.has("*");
  }

  on<E extends EventName>(event: E, listener: (event: Events[E]) => unknown): () => void {
    if (event !== "*" && !EVENT_NAMES.includes(event)) {
      throw new TypeError(`There is no event "${event}"; there are ${EVENT_NAMES.join(", ")} and *`);
    }
    const subscriber = new Subscriber(listener, event === "*");
    this.#byEvent.set(event, [...this.#byEvent.get(event) ?? [], subscriber]);
    return () => {
      if (!subscriber.isLive) return;
      subscriber.isLive = false;
      while (subscriber.waiting > 0) subscriber.take().readers--;
      const others = this.#byEvent.get(event)!.filter((other) => other !== subscriber);
      if (others.length > 0) this.#byEvent.set(event, others);
      else this.#byEvent.delete(event);
    };
  }

  emit<E extends EmittedName>(event: E, data: Omit<EmittedEvents[E], "timestamp">): void {
    if (!this.wants(event)) return;
    let snapshot: Snapshot;
    try {
      const { copy, weight } = plainCopy(data as Record<string, unknown>);
      copy["timestamp"] = this.#now();
      snapshot = { name: event, data: copy, weight, readers: 0 };
    } catch (error) {
      return this.#report({ event, kind: "uncopied", error });
    }
    for (const subscriber of this.#byEvent.get(event) ?? []) this.#enqueue(subscriber, snapshot);
    for (const subscriber of this.#byEvent.get("*") ?? []) this.#enqueue(subscriber, snapshot);
  }

  #enqueue(subscriber: Subscriber, snapshot: Snapshot): void {
    const { waiting, waitingChars } = subscriber;
    const { maxWaiting, maxWaitingChars } = this.#options;
    const isFull = waiting >= maxWaiting || waitingChars + snapshot.weight > maxWaitingChars;
    if (isFull && waiting > 0) return this.#drop(subscriber, snapshot);
    subscriber.line.push(snapshot);
    subscriber.waitingChars += snapshot.weight;
    snapshot.readers++;
    if (subscriber.isBusy || waiting > 0) return; // It goes on by itself, or is to be called already.
    if (this.#ready.length === 0) queueMicrotask(() => this.#deliverReady());
    this.#ready.push(subscriber);
  }

  #drop(subscriber: Subscriber, { name }: Snapshot): void {
    this.#dropped++;
    if (subscriber.isBehind) return;
    subscriber.isBehind = true;
    const error = new Error(`A subscriber is behind with ${subscriber.waiting} events: "${name}" is dropped`);
    this.#report({ event: name, kind: "dropped", error });
  }

  #deliverReady(): void {
    const ready = this.#ready;
    this.#ready = [];
    for (const subscriber of ready) this.#deliver(subscriber);
  }

  #deliver(subscriber: Subscriber): void {
    while (subscriber.waiting > 0) {
      const snapshot = subscriber.take();
      try {
        const result = subscriber.listener(ownCopy(subscriber, snapshot) as never);
        if (!isThenable(result)) continue;
        subscriber.isBusy = true;
        Promise.resolve(result)
          .catch((error) => this.#report({ event: snapshot.name, kind: "failed", error }))
          .then(() => {
            subscriber.isBusy = false;
            this.#deliver(subscriber);
          });
        return;
      } catch (error) {
        this.#report({ event: snapshot.name, kind: "failed", error });
      }
    }
  }

  #report(problem: EventProblem): void {
    try {
      this.#options.onError?.(problem);
    } catch {
      // An error thrown by onError itself is dropped: there is nowhere left to report it.
    }
  }
}

function ownCopy({ hearsAll }: Subscriber, snapshot: Snapshot): Record<string, unknown> {
  const own = --snapshot.readers === 0 ? snapshot.data : plainCopy(snapshot.data).copy;
  return hearsAll ? { type: snapshot.name, ...own } : own;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
