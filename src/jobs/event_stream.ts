/**
 * The events of a run, kept for readers that come late or come back. Readers share one buffer: each has a place in it and
 * none has a queue, so that a slow reader costs no memory and misses only events that the buffer has dropped.
 *
 * @module
 */

/** One event of a run, as a reader gets it. */
export class StreamEvent {
  /** `<attempt>-<number>`: what `Last-Event-ID` gives back. */
  readonly id: string;
  /**
   * The type that the agent chose; or `restarted` (the job was begun anew, earlier events no longer count), `lost` (events
   * are missing here: `data` says how many, or that they are in another process), `done` (the end: `data` is the job).
   */
  readonly type: string;
  /** Its data as JSON: one text for all readers. */
  readonly json: string;

  /** An event with its data as JSON. */
  constructor(id: string, type: string, json: string) {
    this.id = id;
    this.type = type;
    this.json = json;
  }

  /** Its data, the reader's own copy. */
  get data(): unknown {
    return JSON.parse(this.json);
  }
}

export interface StreamLimits {
  /** Events kept; the oldest are dropped. */
  readonly maxEvents: number;
  /** Characters of data kept, of all events together. */
  readonly maxChars: number;
}

/** Follows one stream. `return()` ends it at once, also while `next()` waits. */
export interface StreamReader extends AsyncIterableIterator<StreamEvent, undefined, void> {
  /** Takes what can be read without waiting, so many events at most. */
  ready(max: number): StreamEvent[];
  /** Ends the reading; a waiting `next()` resolves. */
  return(): Promise<IteratorResult<StreamEvent, undefined>>;
}

/** A place in a stream: after which event. */
export interface StreamPlace {
  /** Attempt of the job, counted from 1. */
  readonly attempt: number;
  /** Which event of it; 0 before the first. */
  readonly seq: number;
}

const TYPE = /^[A-Za-z0-9][A-Za-z0-9:._-]{0,63}$/;
const RESERVED: readonly string[] = ["done", "lost", "restarted"];

/** Returns the place an event id names, or null for anything else. */
export function placeOf(id: string): StreamPlace | null {
  const match = /^(\d{1,9})-(\d{1,15})$/.exec(id);
  return match && { attempt: Number(match[1]), seq: Number(match[2]) };
}

/** The events of one run, or of one job over all its attempts. */
export class EventStream {
  readonly #limits: StreamLimits;
  readonly #waiting = new Set<() => void>();
  #events: StreamEvent[] = [];
  #attempt = 0;
  /** Number of the first event that is kept, and of the next one to come. */
  #first = 1;
  #next = 1;
  #chars = 0;
  #end: StreamEvent | null = null;
  #isAbandoned = false;
  #readers = 0;
  /** Called when the last reader has left. */
  onIdle: () => void = () => {};

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Characters of all events that are kept. */
  get chars(): number {
    return this.#chars;
  }

  /** Number of readers that have not left. */
  get readers(): number {
    return this.#readers;
  }

  /** Whether it is at its end. */
  get isDone(): boolean {
    return this.#end !== null;
  }

  /** Whether a run has begun in this process. */
  get hasBegun(): boolean {
    return this.#attempt > 0;
  }

  /** A run begins: events of an earlier attempt are dropped. */
  begin(attempt: number): void {
    this.#attempt = attempt;
    this.#events = [];
    this.#chars = 0;
    this.#first = this.#next = 1;
    this.#wake();
  }

  /** Adds an event. Throws a `TypeError` for a type that is reserved or malformed, or data that JSON cannot hold. */
  push(type: string, data: unknown = null): void {
    if (!TYPE.test(type) || RESERVED.includes(type)) {
      throw new TypeError(`An event cannot be called ${JSON.stringify(type)}: see AgentContext.emit`);
    }
    const json = JSON.stringify(data);
    if (json === undefined) throw new TypeError(`The data of "${type}" is nothing that JSON can hold`);
    if (this.#end) return; // Events of a run that was cancelled reach nobody.
    this.#events.push(new StreamEvent(`${this.#attempt}-${this.#next++}`, type, json));
    this.#chars += json.length;
    this.#trim();
    this.#wake();
  }

  /** Ends it: every reader gets `done` after what is kept. */
  finish(outcome: unknown): void {
    this.#end ??= new StreamEvent(`${this.#attempt}-${this.#next}`, "done", JSON.stringify(outcome));
    this.#wake();
  }

  /** Lets every reader go, without an end: they may come back elsewhere. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#wake();
  }

  /** Follows it from after a place, or from the start. */
  read(after: StreamPlace | null = null): StreamReader {
    let place = after && this.#isAhead(after) ? null : after;
    let isLeft = false;
    let hasSeenLost = after?.attempt === 0; // Only a reader who got `lost` for another process has such a place.
    let wait: (() => void) | null = null;
    this.#readers++;
    const leave = (): void => {
      if (isLeft) return;
      isLeft = true;
      wait?.();
      if (--this.#readers === 0) this.onIdle();
    };
    const step = (): StreamEvent | null => {
      if (!this.hasBegun && this.#end && !hasSeenLost) {
        hasSeenLost = true;
        return lost("0-0", { reason: "not_here" });
      }
      if (place && place.attempt !== this.#attempt && this.hasBegun) {
        place = { attempt: this.#attempt, seq: 0 };
        return new StreamEvent(`${this.#attempt}-0`, "restarted", JSON.stringify({ attempt: this.#attempt }));
      }
      const seq = place?.seq ?? 0;
      if (seq >= this.#next - 1) return this.#end;
      const event = seq + 1 < this.#first ? this.#gap(seq) : this.#events[seq + 1 - this.#first]!;
      place = placeOf(event.id);
      return event;
    };
    const take = (): StreamEvent | null => {
      const event = isLeft ? null : step();
      if (event !== null && event === this.#end) leave();
      return event;
    };
    const next = async (): Promise<IteratorResult<StreamEvent, undefined>> => {
      while (!isLeft) {
        const event = take();
        if (event) return { done: false, value: event };
        if (this.#isAbandoned) leave();
        if (isLeft) break;
        await new Promise<void>((resolve) => this.#waiting.add(wait = resolve));
        if (wait) this.#waiting.delete(wait);
      }
      return { done: true, value: undefined };
    };
    return {
      next,
      ready(max) {
        const events: StreamEvent[] = [];
        for (let event = take(); event; event = events.length < max ? take() : null) events.push(event);
        return events;
      },
      return: () => {
        leave();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Whether a place is beyond the last event, the end included: no reader of this stream was there. */
  #isAhead({ attempt, seq }: StreamPlace): boolean {
    return this.hasBegun && attempt === this.#attempt && seq >= this.#next + (this.#end ? 1 : 0);
  }

  #gap(seq: number): StreamEvent {
    return lost(`${this.#attempt}-${this.#first - 1}`, { reason: "buffer", count: this.#first - 1 - seq });
  }

  #trim(): void {
    const { maxEvents, maxChars } = this.#limits;
    let drop = 0;
    while (drop < this.#events.length && (this.#events.length - drop > maxEvents || this.#chars > maxChars)) {
      this.#chars -= this.#events[drop++]!.json.length;
    }
    if (drop === 0) return;
    this.#events.splice(0, drop);
    this.#first += drop;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}

function lost(id: string, data: { reason: "buffer" | "not_here"; count?: number }): StreamEvent {
  return new StreamEvent(id, "lost", JSON.stringify(data));
}
