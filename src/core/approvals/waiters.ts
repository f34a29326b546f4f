/**
 * The calls of one process that wait for a person.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import type { AskedCall, Ruling } from "./desk_types.ts";
import type { Approval } from "./types.ts";

/** A call of this process that waits. */
export interface Waiter {
  readonly call: AskedCall;
  readonly approval: Approval;
  readonly settle: (ruling: Ruling | HostError) => void;
  /** Tells the embedder's front end that the request has ended. */
  readonly over: AbortController;
}

/**
 * Those that wait, by their request. Several may wait for one: a job whose lease ran out is run again before the run that
 * lost it has noticed, and the same call of both joins the same request.
 */
export class Waiters {
  readonly #byId = new Map<string, readonly Waiter[]>();

  get size(): number {
    return this.all().length;
  }

  /** Ids of the requests that anybody waits for. */
  get ids(): string[] {
    return [...this.#byId.keys()];
  }

  all(): Waiter[] {
    return [...this.#byId.values()].flat();
  }

  of(id: string): readonly Waiter[] {
    return this.#byId.get(id) ?? [];
  }

  add(waiter: Waiter): void {
    const { id } = waiter.approval;
    this.#byId.set(id, [...this.of(id), waiter]);
  }

  remove(waiter: Waiter): void {
    const { id } = waiter.approval;
    const others = this.of(id).filter((one) => one !== waiter);
    if (others.length > 0) this.#byId.set(id, others);
    else this.#byId.delete(id);
  }

  /** Returns those that wait for a request, which nobody does from now on. */
  take(id: string): readonly Waiter[] {
    const found = this.of(id);
    this.#byId.delete(id);
    return found;
  }
}
