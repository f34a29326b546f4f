/**
 * The connection as both of its sides see it.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import type { Bytes, Clock } from "../ports/ports.ts";
import type { Turn } from "./read_turns.ts";

/** Methods with which the host asks whether the other side is well: their answers say nothing about its work. */
export const HEALTH_METHODS: ReadonlySet<string> = new Set(["ping", "server/discover"]);

/** Longest line either side may send: 4 MiB, its newline not counted. */
export const MAX_LINE_BYTES: number = 4 * 1024 * 1024;

/** The stream below a connection; {@link ChildProcess} is one. */
export interface Wire {
  /** Queues text. Writing after the end does nothing. */
  write(text: string): void;
  /** Bytes queued that the other side's pipe has not taken. */
  bufferedBytes(): number;
  /** Stops the flow of incoming bytes until {@link resume}. */
  pause(): void;
  /** Lets incoming bytes flow again. */
  resume(): void;
}

/** A breach of the protocol by the other side. */
export type Irregularity =
  /** A line that is not JSON, or not UTF-8. `line` is at most 200 characters. */
  | { readonly kind: "noise"; readonly line: string }
  /** A JSON array: answered with -32600. */
  | { readonly kind: "batch"; readonly line: string }
  /** JSON, but no JSON-RPC 2.0 message. */
  | { readonly kind: "invalid"; readonly line: string; readonly reason: string }
  /** A response to an id that was never used, or was settled already. */
  | { readonly kind: "unknown_response"; readonly id: unknown }
  /** A line longer than the cap: nothing more is read. */
  | { readonly kind: "oversize"; readonly limitBytes: number };

/** A request of the other side, as its handler gets it. */
export interface IncomingRequest {
  /** Name of the method, such as `kaged.storage.query`. */
  readonly method: string;
  /** Params as they came: object, array, or undefined. */
  readonly params: unknown;
  /** The id the other side gave it. */
  readonly id: number | string;
  /** Aborts when the other side cancels the request or the connection ends. */
  readonly signal: AbortSignal;
  /** As `signal.aborted`, and makes no signal. */
  readonly isAborted?: boolean;
  /** Whether the answer may be a `JsonText`, which is sent as it is. */
  readonly takesText?: boolean;
}

/** The notifications with which calls are cancelled and report progress. */
export interface CallNotices {
  /** Method of the notification that cancels a call. */
  readonly cancel: string;
  /** Method of the notification that reports progress. */
  readonly progress: string;
  /** Params of a cancellation. */
  cancelParams(id: number): unknown;
  /** The call that a cancellation is about. */
  cancelledId(params: unknown): unknown;
  /** The call that a report is about. */
  progressId(params: unknown): unknown;
  /** Adds the token that progress reports refer to. Absent: they refer to the call's id. */
  callParams?(method: string, params: unknown, id: number): unknown;
}

/** How a connection is set up. */
export interface ConnectionOptions {
  readonly wire: Wire;
  readonly clock: Clock;
  readonly bytes: Bytes;
  /** Answers a request of the other side; an error it throws becomes the error response. */
  readonly onRequest: (request: IncomingRequest) => unknown;
  /** Takes a notification of the other side. */
  readonly onNotification: (method: string, params: unknown) => void;
  /** Called for each {@link Irregularity}. */
  readonly onIrregularity: (irregularity: Irregularity) => void;
  /** Called for each call that got no answer in time, after the call was rejected. */
  readonly onTimeout?: (error: HostError) => void;
  /** Called when the connection is closed, before its calls are rejected. */
  readonly onClosed?: (reason: HostError) => void;
  /** Longest line in either direction, in bytes without the newline. Default 4 MiB. */
  readonly maxLineBytes?: number;
  /** Most bytes queued towards the other side before calls fail with `protocol.busy`. Default 8 MiB. */
  readonly maxQueuedBytes?: number;
  /** Requests of the other side handled at once; reading pauses above. Default 64. */
  readonly maxIncoming?: number;
  /** Time a call may take when it says nothing itself. Default 30 000 ms. */
  readonly timeoutMs?: number;
  /** The share of what the other side sends unasked; absent, all of it is read at once. */
  readonly turn?: Turn | undefined;
  /** How calls are cancelled and report progress. Default: `system.cancel` and `system.progress`. */
  readonly notices?: CallNotices;
}

/** Settings of one call. */
export interface CallOptions {
  /** Time it may take; Infinity for none. */
  readonly timeoutMs?: number;
  /** Cancels the call when it aborts. */
  readonly signal?: AbortSignal;
  /** Called for each progress report of this call; a report also starts the timeout anew. */
  readonly onProgress?: (progress: unknown) => void;
}

/**
 * Has the last word on how a call ends, in the turn in which it ends: one promise serves every room that a call passes,
 * where each would else hang a promise of its own to it. A promise that it returns is awaited; what it throws, the call
 * rejects with.
 */
export interface CallEnd {
  ok(result: unknown): unknown;
  failed(error: unknown): unknown;
}

/** A JSON-RPC 2.0 connection over lines. */
export interface Connection {
  /**
   * Calls a method. Settles exactly once, whatever dies. Rejects with a {@link HostError}. `end` is called once, also for
   * a call that cannot be sent.
   */
  call(method: string, params?: unknown, options?: CallOptions, end?: CallEnd): Promise<unknown>;
  /** Sends a notification. Throws `protocol.oversize_message`, `protocol.busy` or `protocol.unserializable`. */
  notify(method: string, params?: unknown): void;
  /** Takes bytes that came from the other side. */
  receive(chunk: Uint8Array): void;
  /** Call it when the wire has taken everything that was queued. */
  drained(): void;
  /** Optional notifications the other side understands; set once the handshake said so. */
  features: ReadonlySet<string>;
  /** Calls waiting for an answer. */
  readonly pending: number;
  /** Answers and progress of calls so far, late ones included; those of {@link HEALTH_METHODS} do not count. */
  readonly answered: number;
  /**
   * Counts what was called, asked and notified so far, looks at health aside: between two equal counts nothing happened.
   * Null while a request of the other side is handled and, unless they are left aside, while a call waits.
   */
  activity(options?: { readonly callsAside?: boolean }): number | null;
  /**
   * Keeps calls from running out of time, until the returned function is called: the other side waits for something itself.
   * Looks at its health run out as ever.
   */
  hold(): () => void;
  /** Resolves when no call waits for an answer. */
  idle(): Promise<void>;
  /** Whether {@link close} was called. */
  readonly closed: boolean;
  /** Ends it: each waiting call rejects with `reason`, incoming requests are aborted, later calls fail at once. */
  close(reason: HostError): void;
}

/** `system.cancel { id }` and `system.progress { id, … }`. */
export const SYSTEM_NOTICES: CallNotices = {
  cancel: "system.cancel",
  progress: "system.progress",
  cancelParams: (id) => ({ id }),
  cancelledId: idIn,
  progressId: idIn,
};

function idIn(params: unknown): unknown {
  return (params as { id?: unknown } | undefined)?.id;
}
