/**
 * Calls that wait for their answer: each settles exactly once, by an answer, its deadline, its signal or the end. And
 * requests of the other side while their handlers run.
 *
 * @module
 */
import { asHostError, HostError, messageOf } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";
import type { MessageId } from "./codec.ts";
import { type CallEnd, type CallOptions, HEALTH_METHODS, type IncomingRequest } from "./connection_types.ts";
import { PendingCalls } from "./pending_calls.ts";
import { errorFromWire } from "./wire_errors.ts";

/** Ids of abandoned calls kept in mind, so that their late answers pass without complaint. */
const MAX_ABANDONED = 1024;
/** Longest delay timers take. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** One call that waits. Small: there may be very many. */
interface PendingCall {
  readonly id: number;
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timeoutMs: number;
  readonly end: CallEnd | undefined;
  deadlineMs: number;
  /** Set for calls with a signal or a progress listener. */
  watch: CallWatch | undefined;
}

/** The signal and the listener of a call, and how to stop listening. */
interface CallWatch {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: unknown) => void) | undefined;
  readonly cancel: () => void;
}

/** The error of a call that its caller cancelled, with the reason where the caller gave one. */
export function cancelledError(method: string, { reason }: AbortSignal): HostError {
  const isGiven = reason !== undefined && !(reason instanceof DOMException && reason.name === "AbortError");
  const why = isGiven ? `: ${messageOf(reason)}` : "";
  return new HostError("protocol.cancelled", `The call of "${method}" was cancelled${why}`, { cause: reason });
}

/** Returns the promise of a call that was never sent. */
export function failedCall(error: unknown, end: CallEnd | undefined): Promise<unknown> {
  return end === undefined ? Promise.reject(error) : new Promise((resolve) => resolve(end.failed(error)));
}

/** Keeps the calls of one side, their ids and their deadlines. */
export class OutgoingCalls {
  readonly #clock: Clock;
  readonly #onAbandoned: (id: number) => void;
  readonly #onTimeout: ((error: HostError) => void) | undefined;
  readonly #pending = new PendingCalls<PendingCall>();
  readonly #abandoned = new Set<number>();
  #lastId = 0;
  #holds = 0;
  /** Signs that the other side works on calls: their answers, in time or late, and their progress; looks at its health aside. */
  answered = 0;
  /** When the one timer fires; Infinity when none is set. */
  #sweepAtMs = Infinity;
  #stopSweep: (() => void) | null = null;
  /** Resolvers of {@link idle}; null while nobody waits. */
  #onIdle: (() => void)[] | null = null;
  /** The time in this tick. Reading a clock can cost as much as the rest of a call: one look serves a whole tick. */
  #tickMs: number | null = null;

  /** `onAbandoned` is called for each call that was given up here, so that the other side can be asked to cancel it. */
  constructor(clock: Clock, onAbandoned: (id: number) => void, onTimeout?: (error: HostError) => void) {
    this.#clock = clock;
    this.#onAbandoned = onAbandoned;
    this.#onTimeout = onTimeout;
  }

  /** The id {@link add} gives to the next call. */
  get nextId(): number {
    return this.#lastId + 1;
  }

  /** Number of calls that wait for an answer. */
  get size(): number {
    return this.#pending.size;
  }

  /** Whether a call waits that is no look at the other side's health. */
  get isWorking(): boolean {
    return this.#pending.all().some(({ method }) => !HEALTH_METHODS.has(method));
  }

  /** Resolves when no call waits. */
  idle(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onIdle ??= []).push(resolve));
  }

  /** Takes on a call that goes out under {@link nextId}. */
  add(method: string, timeoutMs: number, options: CallOptions | undefined, end?: CallEnd): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      let deadlineMs = Infinity;
      if (timeoutMs !== Infinity) {
        const nowMs = this.#tickMs ??= this.#clock.monotonic();
        deadlineMs = nowMs + timeoutMs;
        if (deadlineMs < this.#sweepAtMs) this.#armSweep(deadlineMs, nowMs);
      }
      const call: PendingCall = { id, method, resolve, reject, timeoutMs, end, deadlineMs, watch: undefined };
      this.#pending.add(call);
      if (options?.signal || options?.onProgress) call.watch = this.#watch(id, method, options);
    });
  }

  /** Call it when the calls of this tick have been written. */
  endTick(): void {
    this.#tickMs = null;
  }

  /** Settles a call with its answer. Returns false when nobody waits for it, and never did. */
  settle(id: unknown, result: unknown, error: unknown): boolean {
    const call = this.#pending.get(id);
    if (!call) return this.#isLate(id as number);
    if (!HEALTH_METHODS.has(call.method)) this.answered++;
    this.#remove(call);
    if (error !== undefined) fail(call, errorFromWire(error, call.method));
    else if (call.end === undefined) call.resolve(result);
    else resolveBy(call, call.end, result);
    return true;
  }

  /** Fails a call whose answer cannot be understood. Returns false when nobody waits for it. */
  fail(id: unknown, reason: string): boolean {
    const call = this.#pending.get(id);
    if (!call) return false;
    this.#remove(call);
    const message = `The answer to "${call.method}" is no JSON-RPC 2.0 response: ${reason}`;
    fail(call, new HostError("protocol.invalid", message));
    return true;
  }

  /** Gives a call more time and calls its listener. A listener that throws fails its own call. */
  progress(id: unknown, progress: unknown): void {
    const call = this.#pending.get(id);
    if (!call) return;
    this.answered++;
    // The sweep may now be early: it looks again when it fires.
    if (call.timeoutMs !== Infinity) call.deadlineMs = this.#clock.monotonic() + call.timeoutMs;
    try {
      call.watch?.onProgress?.(progress);
    } catch (thrown) {
      this.#abandon(id as number, asHostError(thrown));
    }
  }

  /** Keeps calls from running out of time, until the returned function is called: then each has its whole time again. */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
      const nowMs = this.#clock.monotonic();
      for (const call of this.#pending.all()) this.#giveTime(call, nowMs);
    };
  }

  /** Rejects every call with `reason`. */
  close(reason: HostError): void {
    this.#stopSweep?.();
    this.#stopSweep = null;
    const calls = this.#pending.all();
    this.#abandoned.clear();
    for (const call of calls) {
      this.#remove(call);
      fail(call, reason);
    }
  }

  #watch(id: number, method: string, { signal, onProgress }: CallOptions): CallWatch {
    const cancel = (): void => void this.#abandon(id, cancelledError(method, signal!));
    signal?.addEventListener("abort", cancel);
    return { signal, onProgress, cancel };
  }

  #remove(call: PendingCall): void {
    this.#pending.remove(call);
    if (call.watch !== undefined) call.watch.signal?.removeEventListener("abort", call.watch.cancel);
    if (this.#onIdle === null || this.#pending.size > 0) return;
    for (const resolve of this.#onIdle) resolve();
    this.#onIdle = null;
  }

  /** Whether an answer is for a call that was given up. */
  #isLate(id: number): boolean {
    const isLate = this.#abandoned.delete(id);
    if (isLate) this.answered++;
    return isLate;
  }

  /** Gives up a call. Returns false when it has settled already. */
  #abandon(id: number, error: HostError): boolean {
    const call = this.#pending.get(id);
    if (!call) return false;
    this.#remove(call);
    this.#abandoned.add(id);
    if (this.#abandoned.size > MAX_ABANDONED) {
      for (const oldest of this.#abandoned) {
        this.#abandoned.delete(oldest);
        break;
      }
    }
    fail(call, error);
    this.#onAbandoned(id);
    return true;
  }

  /** A look at the other side's health waits for nobody. */
  #giveTime(call: PendingCall, nowMs: number): void {
    if (call.timeoutMs !== Infinity && !HEALTH_METHODS.has(call.method)) call.deadlineMs = nowMs + call.timeoutMs;
  }

  #armSweep(atMs: number, nowMs: number): void {
    this.#stopSweep?.();
    this.#sweepAtMs = atMs;
    const delayMs = Math.min(Math.max(1, Math.ceil(atMs - nowMs)), MAX_DELAY_MS);
    this.#stopSweep = this.#clock.after(delayMs, this.#sweep);
  }

  readonly #sweep = (): void => {
    const nowMs = this.#clock.monotonic();
    this.#stopSweep = null;
    this.#sweepAtMs = Infinity;
    const expired: PendingCall[] = [];
    let nextMs = Infinity;
    for (const call of this.#pending.all()) {
      if (this.#holds > 0 && call.deadlineMs <= nowMs) this.#giveTime(call, nowMs);
      if (call.deadlineMs <= nowMs) expired.push(call);
      else if (call.deadlineMs < nextMs) nextMs = call.deadlineMs;
    }
    if (nextMs !== Infinity) this.#armSweep(nextMs, nowMs);
    for (const { id, method, timeoutMs } of expired) {
      const message = `No answer to "${method}" within ${timeoutMs} ms`;
      const error = new HostError("protocol.timeout", message, { data: { method, timeout_ms: timeoutMs } });
      // A listener of one timeout may close the connection, and with it the other calls.
      if (this.#abandon(id, error)) this.#onTimeout?.(error);
    }
  };
}

function resolveBy({ resolve, reject }: PendingCall, end: CallEnd, result: unknown): void {
  try {
    resolve(end.ok(result));
  } catch (thrown) {
    reject(thrown);
  }
}

function fail({ resolve, reject, end }: PendingCall, error: HostError): void {
  if (end === undefined) return reject(error);
  try {
    resolve(end.failed(error));
  } catch (thrown) {
    reject(thrown);
  }
}

/** A request that is being handled. Its signal is made when a handler asks for it: most never do. */
class RunningRequest implements IncomingRequest {
  readonly method: string;
  readonly params: unknown;
  readonly id: MessageId;
  #controller: AbortController | null = null;
  #abortedBy: HostError | null = null;

  constructor(id: MessageId, method: string, params: unknown) {
    this.id = id;
    this.method = method;
    this.params = params;
  }

  get isAborted(): boolean {
    return this.#abortedBy !== null;
  }

  get takesText(): boolean {
    return true;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#abortedBy) this.#controller.abort(this.#abortedBy);
    return this.#controller.signal;
  }

  abort(reason: HostError): void {
    this.#abortedBy ??= reason;
    this.#controller?.abort(this.#abortedBy);
  }
}

/** Keeps the requests whose handlers run. */
export class IncomingRequests {
  readonly #running = new Map<MessageId, RunningRequest>();
  /** Requests so far, looks at the health of this side aside. */
  taken = 0;

  /** Number of requests whose handlers run. */
  get size(): number {
    return this.#running.size;
  }

  /** Takes on a request. Null when one of that id still runs. */
  start(id: MessageId, method: string, params: unknown): IncomingRequest | null {
    if (this.#running.has(id)) return null;
    const request = new RunningRequest(id, method, params);
    if (method !== "ping") this.taken++;
    this.#running.set(id, request);
    return request;
  }

  /** Forgets a request. Returns false when it was forgotten already, by {@link close}. */
  finish(request: IncomingRequest): boolean {
    return this.#running.get(request.id) === request && this.#running.delete(request.id);
  }

  /** Aborts the signal of a request, as its sender asked. It is answered all the same. */
  cancel(id: unknown): void {
    const request = this.#running.get(id as MessageId);
    request?.abort(new HostError("protocol.cancelled", `The caller of "${request.method}" cancelled it`));
  }

  /** Aborts and forgets every request. */
  close(reason: HostError): void {
    const requests = [...this.#running.values()];
    this.#running.clear();
    for (const request of requests) request.abort(reason);
  }
}
