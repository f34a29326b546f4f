/**
 * A JSON-RPC 2.0 connection over lines: calls both ways, within bounds of time and memory.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import * as codec from "./codec.ts";
import {
  type CallEnd,
  type CallNotices,
  type CallOptions,
  type Connection,
  type ConnectionOptions,
  type IncomingRequest,
  MAX_LINE_BYTES,
  SYSTEM_NOTICES,
} from "./connection_types.ts";
import { Outbox } from "./outbox.ts";
import { cancelledError, failedCall, IncomingRequests, OutgoingCalls } from "./calls.ts";
import { LineReader } from "./read_lines.ts";
import { LONE_REQUEST_COST, MESSAGE_COST, REQUEST_COST, type Turn } from "./read_turns.ts";
import { errorToWire } from "./wire_errors.ts";

const NOISE_CHARS = 200;

/** Makes a connection over `options.wire`; what comes from the other side is fed to {@link Connection.receive}. */
export function createConnection(options: ConnectionOptions): Connection {
  return new LineConnection(options);
}

class LineConnection implements Connection {
  features: ReadonlySet<string> = new Set();
  readonly #options: ConnectionOptions;
  readonly #maxLineBytes: number;
  readonly #maxQueuedBytes: number;
  readonly #maxIncoming: number;
  readonly #timeoutMs: number;
  readonly #notices: CallNotices;
  readonly #turn: Turn | undefined;
  readonly #reader: LineReader;
  readonly #outbox: Outbox;
  readonly #calls: OutgoingCalls;
  readonly #requests = new IncomingRequests();
  #closedBy: HostError | null = null;
  #paused = false;
  #isInParts = false;
  #notified = 0;
  /** Requests of the last chunk. */
  #arrived = 0;
  readonly #plain: codec.PlainResult = { id: 0, result: undefined };

  constructor(options: ConnectionOptions) {
    const { wire, bytes, clock, maxLineBytes = MAX_LINE_BYTES } = options;
    this.#options = options;
    this.#maxLineBytes = maxLineBytes;
    this.#maxQueuedBytes = options.maxQueuedBytes ?? 8 * 1024 * 1024;
    this.#maxIncoming = options.maxIncoming ?? 64;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#notices = options.notices ?? SYSTEM_NOTICES;
    this.#turn = options.turn;
    this.#turn?.onTurn(() => this.#reconsiderPause());
    this.#outbox = new Outbox(wire, bytes, () => this.#afterFlush());
    this.#calls = new OutgoingCalls(clock, (id) => this.#cancelRemote(id), options.onTimeout);
    this.#turn?.follow(this.#calls);
    this.#reader = new LineReader({
      line: (text, start, end) => this.#takeLine(text, start, end),
      isCrowded: () => this.#turn?.isCrowded === true,
      part: () => this.#letOthersLook(),
      undecodable: (start) => {
        this.#spend(start.length);
        options.onIrregularity({ kind: "noise", line: start.slice(0, NOISE_CHARS) });
      },
      oversize: () => options.onIrregularity({ kind: "oversize", limitBytes: maxLineBytes }),
    }, { bytes, maxLineBytes });
  }

  get pending(): number {
    return this.#calls.size;
  }

  get answered(): number {
    return this.#calls.answered;
  }

  activity({ callsAside = false }: { readonly callsAside?: boolean } = {}): number | null {
    if (this.#requests.size > 0 || (!callsAside && this.#calls.isWorking)) return null;
    return this.#calls.answered + this.#requests.taken + this.#notified;
  }

  hold(): () => void {
    return this.#calls.hold();
  }

  idle(): Promise<void> {
    return this.#calls.idle();
  }

  get closed(): boolean {
    return this.#closedBy !== null;
  }

  call(method: string, params?: unknown, options?: CallOptions, end?: CallEnd): Promise<unknown> {
    const timeoutMs = options?.timeoutMs ?? this.#timeoutMs;
    let line: string;
    try {
      if (!(timeoutMs >= 0)) throw new HostError("host.misuse", `Cannot wait ${timeoutMs} ms for "${method}"`);
      if (options?.signal?.aborted) throw cancelledError(method, options.signal);
      const { nextId } = this.#calls;
      const { callParams } = this.#notices;
      line = codec.requestLine(nextId, method, callParams === undefined ? params : callParams(method, params, nextId));
      this.#checkSendable(line, method);
    } catch (error) {
      return failedCall(error, end);
    }
    // The id is taken before anything is written: a write can lead back here.
    const answer = this.#calls.add(method, timeoutMs, options, end);
    this.#outbox.push(line, this.#calls.size);
    return answer;
  }

  notify(method: string, params?: unknown): void {
    const line = codec.notificationLine(method, params);
    this.#checkSendable(line, method);
    this.#outbox.push(line);
  }

  receive(chunk: Uint8Array): void {
    this.#arrived = 0;
    this.#reader.push(chunk);
  }

  drained(): void {
    if (this.#paused) this.#reconsiderPause();
  }

  close(reason: HostError): void {
    if (this.#closedBy !== null) return;
    this.#closedBy = reason;
    this.#options.onClosed?.(reason);
    this.#outbox.flush();
    this.#reader.end();
    // Bytes flow again, to nowhere: the end of the stream must be seen.
    if (this.#paused) this.#options.wire.resume();
    this.#calls.close(reason);
    this.#requests.close(reason);
  }

  #checkSendable(line: string, method: string): void {
    if (this.#closedBy !== null) throw this.#closedBy;
    if (!this.#outbox.isWithin(line, this.#maxLineBytes)) {
      const data = { method, limit_bytes: this.#maxLineBytes };
      throw new HostError("protocol.oversize_message", `Cannot send "${method}": ${this.#tooLong()}`, { data });
    }
    if (!this.#outbox.hasRoom(line, this.#maxQueuedBytes)) {
      const data = { method, limit_bytes: this.#maxQueuedBytes };
      const message = `Cannot send "${method}": ${this.#maxQueuedBytes} bytes wait to be read already`;
      throw new HostError("protocol.busy", message, { data, hint: "Try again once the other side has caught up" });
    }
  }

  #afterFlush(): void {
    this.#calls.endTick();
    if (this.#paused) this.#reconsiderPause();
  }

  #takeLine(text: string, start: number, end: number): void {
    const plain = this.#plain;
    if (codec.parsePlainResult(text, start, end, plain)) {
      const { id, result } = plain;
      plain.result = undefined;
      return this.#settle(id, result, undefined, end - start);
    }
    const line = text.slice(start, end);
    const value = codec.parseLine(line);
    const message = value as codec.Message;
    const kind = value === undefined ? "noise" : codec.kindOf(value);
    if (kind !== "response") this.#spend(line.length, kind === "request" ? this.#requestCost() : MESSAGE_COST);
    switch (kind) {
      case "response":
        return this.#settle(message.id, message.result, message.error, line.length);
      case "request":
        return this.#takeRequest(message.id as codec.MessageId, message.method as string, message.params, line);
      case "notification":
        return this.#takeNotification(message.method as string, message.params);
      case "batch":
        this.#answer(codec.errorLine(null, { code: -32600, message: "Batches are not supported" }));
        return this.#options.onIrregularity({ kind: "batch", line: line.slice(0, NOISE_CHARS) });
      case "invalid":
        return this.#takeInvalid(value, line);
      case "noise":
        return this.#options.onIrregularity({ kind: "noise", line: line.slice(0, NOISE_CHARS) });
    }
  }

  #settle(id: unknown, result: unknown, error: unknown, chars: number): void {
    if (this.#calls.settle(id, result, error)) return;
    this.#spend(chars);
    this.#options.onIrregularity({ kind: "unknown_response", id });
  }

  /** Goes on with a long text of many lines after the others. */
  #letOthersLook(): void {
    this.#isInParts = true;
    this.#reconsiderPause();
    this.#turn!.next(() => {
      this.#isInParts = false;
      this.#reconsiderPause();
    });
  }

  /** Counts a message that nobody asked for; once its sender's share is spent, the next one waits. */
  #spend(chars: number, cost = MESSAGE_COST): void {
    if (this.#turn?.spend(cost + chars) === false) this.#reconsiderPause();
  }

  /** Of one chunk only the first is alone: those after it may be a flood, though each is answered at once. */
  #requestCost(): number {
    return this.#arrived++ === 0 && this.#requests.size === 0 ? LONE_REQUEST_COST : REQUEST_COST;
  }

  #takeNotification(method: string, params: unknown): void {
    const { cancel, progress } = this.#notices;
    if (method === cancel) return this.#requests.cancel(this.#notices.cancelledId(params));
    if (method === progress && this.features.has("progress")) {
      return this.#calls.progress(this.#notices.progressId(params), params);
    }
    this.#notified++;
    this.#options.onNotification(method, params);
  }

  #takeRequest(id: codec.MessageId, method: string, params: unknown, line: string): void {
    const request = this.#requests.start(id, method, params);
    if (!request) return this.#refuse(id, "id is in use by a request that is still running", line);
    let result: unknown;
    try {
      result = this.#options.onRequest(request);
    } catch (thrown) {
      return this.#finish(request, codec.errorLine(id, errorToWire(thrown)));
    }
    if (!isThenable(result)) return this.#finish(request, this.#resultLine(id, result));
    result.then(
      (value) => this.#finish(request, this.#resultLine(id, value)),
      (thrown) => this.#finish(request, codec.errorLine(id, errorToWire(thrown))),
    );
    this.#reconsiderPause();
  }

  #takeInvalid(value: unknown, line: string): void {
    const reason = codec.invalidReason(value) ?? "invalid";
    const { id, method } = (value ?? {}) as codec.Message;
    // Whoever waits for that id learns at once that its answer is lost.
    const wasAnswer = method === undefined && this.#calls.fail(id, reason);
    if (!wasAnswer && !codec.looksLikeResponse(value)) {
      return this.#refuse(codec.isMessageId(id) ? id : null, reason, line);
    }
    this.#options.onIrregularity({ kind: "invalid", line: line.slice(0, NOISE_CHARS), reason });
  }

  #refuse(id: codec.MessageId | null, reason: string, line: string): void {
    this.#answer(codec.errorLine(id, { code: -32600, message: `Invalid request: ${reason}` }));
    this.#options.onIrregularity({ kind: "invalid", line: line.slice(0, NOISE_CHARS), reason });
  }

  #resultLine(id: codec.MessageId, result: unknown): string {
    try {
      return codec.resultLine(id, result);
    } catch (thrown) {
      return codec.errorLine(id, { ...errorToWire(thrown), code: -32603 });
    }
  }

  #finish(request: IncomingRequest, line: string): void {
    if (!this.#requests.finish(request)) return;
    if (!this.#outbox.isWithin(line, this.#maxLineBytes)) {
      const method = request.method.slice(0, NOISE_CHARS);
      line = codec.errorLine(request.id, { code: -32603, message: `Cannot answer "${method}": ${this.#tooLong()}` });
    } else if (!this.#outbox.hasRoom(line, 2 * this.#maxQueuedBytes)) {
      line = codec.errorLine(request.id, { code: -32005, message: "Too many answers wait to be read" });
    }
    this.#answer(line);
  }

  #answer(line: string): void {
    this.#outbox.push(line);
    this.#reconsiderPause();
  }

  /** Reads on only while the other side leaves room for its answers and for its requests that run, and in its turn. */
  #reconsiderPause(): void {
    if (this.#closedBy !== null) return;
    const isFull = this.#isInParts || this.#turn?.isWaiting === true || this.#requests.size >= this.#maxIncoming ||
      !this.#outbox.hasRoom("", 2 * this.#maxQueuedBytes);
    if (isFull === this.#paused) return;
    this.#paused = isFull;
    if (isFull) {
      this.#reader.pause();
      this.#options.wire.pause();
    } else {
      // Its own lines first: while they last, the wire need not flow.
      this.#reader.resume();
      if (!this.#paused) this.#options.wire.resume();
    }
  }

  #cancelRemote(id: number): void {
    if (!this.features.has("cancel")) return;
    const line = codec.notificationLine(this.#notices.cancel, this.#notices.cancelParams(id));
    // A side that has stopped reading learns nothing from one line more.
    if (this.#outbox.hasRoom(line, this.#maxQueuedBytes)) this.#outbox.push(line);
  }

  #tooLong(): string {
    return `the line would be longer than ${this.#maxLineBytes} bytes`;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
