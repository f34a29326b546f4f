/**
 * What a handler is given beside the event. An `AbortController` costs more than most handlers do, and few look at the
 * signal: it is made when one does.
 *
 * @module
 */
import type { HookCallContext, HookProgress } from "./types.ts";

/** What a context tells of its firing. */
export interface FiringState {
  /** The object handlers share. */
  readonly scope: object;
  /** What has come of it so far. */
  readonly progress: HookProgress;
}

/** The context of one call, and the end of it. */
export class CallContext implements HookCallContext {
  readonly #state: FiringState;
  #controller: AbortController | null = null;
  #reason: unknown = null;

  /** For one call of one handler. */
  constructor(state: FiringState) {
    this.#state = state;
  }

  /** Aborted when the handler is given up. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** One object for all handlers of one firing. */
  get firing(): object {
    return this.#state.scope;
  }

  /** What has come of the firing so far. */
  get soFar(): HookProgress {
    return this.#state.progress;
  }

  /** Gives the handler up. */
  abort(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
