/**
 * Requests of the other side while their handlers run.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { MessageId } from "./codec.ts";
import type { IncomingRequest } from "./connection_types.ts";

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

  /** Number of requests whose handlers run. */
  get size(): number {
    return this.#running.size;
  }

  /** Takes on a request. Null when one of that id still runs. */
  start(id: MessageId, method: string, params: unknown): IncomingRequest | null {
    if (this.#running.has(id)) return null;
    const request = new RunningRequest(id, method, params);
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
