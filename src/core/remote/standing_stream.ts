/**
 * The standing stream of a session: servers of the older revisions may ask their first question over it, and nobody would
 * hear a question that comes before the stream is open.
 *
 * @module
 */
import type { Clock } from "../ports/ports.ts";
import type { DirectFetch } from "./direct_fetch.ts";

/** Longest that requests wait for it: some servers open it with their first message, which may never come. */
const OPEN_MS = 2_000;

/** Knows whether requests of a session may be sent: after the greeting, and once its stream is open or refused. */
export class StandingStream {
  readonly #clock: Pick<Clock, "after">;
  readonly #answered = Promise.withResolvers<void>();
  #ready: Promise<void> = Promise.resolve();

  /** Nothing waits before {@link greets} is called. */
  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Resolves when requests may be sent. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Returns `send` as a function that notes when the stream has been answered. */
  watching(send: DirectFetch): DirectFetch {
    return async (url, init) => {
      if (init?.method !== "GET") return await send(url, init);
      try {
        return await send(url, init);
      } finally {
        this.#answered.resolve();
      }
    };
  }

  /** The greeting is on its way: the SDK opens the stream when the server has taken it. */
  greets(sent: Promise<void>): Promise<void> {
    const opened = async (): Promise<void> => {
      await sent;
      const cancel = this.#clock.after(OPEN_MS, () => this.#answered.resolve());
      await this.#answered.promise;
      cancel();
    };
    this.#ready = opened().catch(() => {}); // A greeting that fails has ended the link.
    return sent;
  }
}
