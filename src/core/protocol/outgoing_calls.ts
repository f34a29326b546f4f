/**
 * Calls that wait for their answer: each settles exactly once, by an answer, its deadline, its signal or the end.
 *
 * @module
 */
import { asHostError, HostError } from "../errors.ts";
import type { Clock } from "../ports.ts";
import type { CallOptions } from "./connection_types.ts";
import { errorFromWire } from "./wire_errors.ts";

/** Ids of abandoned calls kept in mind, so that their late answers pass without complaint. */
const MAX_ABANDONED = 1024;
/** Longest delay timers take. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** One call that waits. Listens to its own signal. */
class PendingCall implements EventListenerObject {
  readonly id: number;
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: HostError) => void;
  readonly calls: OutgoingCalls;
  timeoutMs: number = Infinity;
  deadlineMs: number = Infinity;
  signal: AbortSignal | undefined = undefined;
  onProgress: ((progress: unknown) => void) | undefined = undefined;

  constructor(
    calls: OutgoingCalls,
    method: string,
    resolve: (result: unknown) => void,
    reject: (error: HostError) => void,
  ) {
    this.calls = calls;
    this.id = calls.nextId;
    this.method = method;
    this.resolve = resolve;
    this.reject = reject;
  }

  handleEvent(): void {
    this.calls.abandon(this, cancelledError(this.method, this.signal!));
  }
}

/** The error of a call that its caller cancelled. */
export function cancelledError(method: string, signal: AbortSignal): HostError {
  return new HostError("protocol.cancelled", `The call of "${method}" was cancelled`, { cause: signal.reason });
}

/** Keeps the calls of one side, their ids and their deadlines. */
export class OutgoingCalls {
  readonly #clock: Clock;
  readonly #onAbandoned: (id: number) => void;
  readonly #pending = new Map<number, PendingCall>();
  readonly #abandoned = new Set<number>();
  #lastId = 0;
  /** When the one timer fires; Infinity when none is set. */
  #sweepAtMs = Infinity;
  #stopSweep: (() => void) | null = null;

  /** Makes an empty set of calls that tells `onAbandoned` which calls it gave up on its own. */
  constructor(clock: Clock, onAbandoned: (id: number) => void) {
    this.#clock = clock;
    this.#onAbandoned = onAbandoned;
  }

  /** The id {@link add} gives to the next call. */
  get nextId(): number {
    return this.#lastId + 1;
  }

  /** How many wait. */
  get size(): number {
    return this.#pending.size;
  }

  /** Takes on a call that goes out under {@link nextId}. */
  add(method: string, timeoutMs: number, options: CallOptions | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = new PendingCall(this, method, resolve, reject);
      this.#lastId = call.id;
      this.#pending.set(call.id, call);
      if (timeoutMs !== Infinity) this.#setDeadline(call, timeoutMs);
      if (options === undefined) return;
      call.onProgress = options.onProgress;
      call.signal = options.signal;
      call.signal?.addEventListener("abort", call);
    });
  }

  /** Settles a call with its answer. Returns false when nobody waits for it, and never did. */
  settle(id: unknown, result: unknown, error: unknown): boolean {
    const call = this.#pending.get(id as number);
    if (!call) return this.#abandoned.delete(id as number);
    this.#remove(call);
    if (error === undefined) call.resolve(result);
    else call.reject(errorFromWire(error, call.method));
    return true;
  }

  /** Fails a call whose answer cannot be understood. Returns false when nobody waits for it. */
  fail(id: unknown, reason: string): boolean {
    const call = this.#pending.get(id as number);
    if (!call) return false;
    this.#remove(call);
    const message = `The answer to "${call.method}" is no JSON-RPC 2.0 response: ${reason}`;
    call.reject(new HostError("protocol.invalid", message));
    return true;
  }

  /** Gives a call more time and tells its listener. A listener that throws fails its own call. */
  progress(id: unknown, progress: unknown): void {
    const call = this.#pending.get(id as number);
    if (!call) return;
    // The sweep may now be early: it looks again when it fires.
    if (call.timeoutMs !== Infinity) call.deadlineMs = this.#clock.monotonic() + call.timeoutMs;
    try {
      call.onProgress?.(progress);
    } catch (thrown) {
      this.abandon(call, asHostError(thrown));
    }
  }

  /** Gives up a call that still waits. */
  abandon(call: PendingCall, error: HostError): void {
    if (this.#pending.get(call.id) !== call) return;
    this.#remove(call);
    this.#abandoned.add(call.id);
    if (this.#abandoned.size > MAX_ABANDONED) {
      for (const oldest of this.#abandoned) {
        this.#abandoned.delete(oldest);
        break;
      }
    }
    call.reject(error);
    this.#onAbandoned(call.id);
  }

  /** Rejects every call with `reason`. */
  close(reason: HostError): void {
    this.#stopSweep?.();
    this.#stopSweep = null;
    const calls = [...this.#pending.values()];
    this.#abandoned.clear();
    for (const call of calls) {
      this.#remove(call);
      call.reject(reason);
    }
  }

  #remove(call: PendingCall): void {
    this.#pending.delete(call.id);
    if (call.signal !== undefined) call.signal.removeEventListener("abort", call);
  }

  #setDeadline(call: PendingCall, timeoutMs: number): void {
    const nowMs = this.#clock.monotonic();
    call.timeoutMs = timeoutMs;
    call.deadlineMs = nowMs + timeoutMs;
    if (call.deadlineMs < this.#sweepAtMs) this.#armSweep(call.deadlineMs, nowMs);
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
    for (const call of this.#pending.values()) {
      if (call.deadlineMs <= nowMs) expired.push(call);
      else if (call.deadlineMs < nextMs) nextMs = call.deadlineMs;
    }
    if (nextMs !== Infinity) this.#armSweep(nextMs, nowMs);
    for (const call of expired) {
      const message = `No answer to "${call.method}" within ${call.timeoutMs} ms`;
      const data = { method: call.method, timeout_ms: call.timeoutMs };
      this.abandon(call, new HostError("protocol.timeout", message, { data }));
    }
  };
}
