/**
 * The second argument of a handler. An `AbortController` costs more than most handlers do, and few look at the signal:
 * it is made when one does.
 *
 * @module
 */
import type { HookCallContext, HookProgress } from "./types.ts";

/** The part of a firing that its contexts show. */
export interface FiringState {
  readonly scope: object;
  readonly progress: HookProgress;
}

/** The context of one call of one handler. */
export class CallContext implements HookCallContext {
  readonly #state: FiringState;
  #controller: AbortController | null = null;
  #reason: unknown = null;

  constructor(state: FiringState) {
    this.#state = state;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get firing(): object {
    return this.#state.scope;
  }

  get soFar(): HookProgress {
    return this.#state.progress;
  }

  /** Aborts the signal: the handler is given up. */
  abort(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
