/**
 * What a handler is given beside the event. An `AbortController` costs more than most handlers do, and few look at the
 * signal: it is made when one does.
 *
 * @module
 */
import type { HookCallContext, HookProgress } from "./types.ts";

/** The context of one call, and the end of it. */
export class CallContext implements HookCallContext {
  /** One object for all handlers of one firing. */
  readonly firing: object;
  readonly #state: { readonly progress: HookProgress };
  #controller: AbortController | null = null;
  #reason: unknown = null;

  /** For one call of one handler. */
  constructor(state: { readonly progress: HookProgress }, firing: object) {
    this.#state = state;
    this.firing = firing;
  }

  /** Aborted when the handler is given up. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
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
