/**
 * Processes that another one has taken over from: they get no more calls, finish those they have, and go.
 *
 * @module
 */
import type { Generation } from "./generation.ts";

/** Time their calls have: twice what a call takes at most unless it asks for more. */
const DRAIN_MS = 60_000;

/** The retired processes of one instance. */
export class Retirement {
  readonly #leaving = new Map<Generation, Promise<void>>();

  /** Lets a process finish its calls, then ends it with `dismiss`. Resolves when it is gone. */
  async retire(generation: Generation, dismiss: () => Promise<void>): Promise<void> {
    const gone = generation.live.drain(DRAIN_MS).then(dismiss).finally(() => this.#leaving.delete(generation));
    this.#leaving.set(generation, gone);
    await gone;
  }

  /** Ends them all at once. Resolves when they are gone. */
  async stop(): Promise<void> {
    await Promise.all([...this.#leaving].map(async ([{ live }, gone]) => {
      await live.stop();
      await gone;
    }));
  }
}
