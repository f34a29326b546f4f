/**
 * A plugin whose statements had to be stopped, again and again, waits before its next one.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";

const MAX_WAIT_MS = 60_000;

/** Counts, and says who has to wait. */
export class Patience {
  readonly #clock: Clock;
  readonly #unitMs: number;
  readonly #strikes: Map<string, { readonly count: number; readonly untilMs: number }> = new Map();

  /** The first wait is `unitMs`, after the second stop in a row; then it doubles. */
  constructor(clock: Clock, unitMs: number) {
    this.#clock = clock;
    this.#unitMs = unitMs;
  }

  /** Throws `storage.busy` while the plugin has to wait. */
  expect(plugin: string): void {
    const strikes = this.#strikes.get(plugin);
    const waitMs = strikes === undefined ? 0 : strikes.untilMs - this.#clock.monotonic();
    if (waitMs <= 0) return;
    throw new HostError("storage.busy", "Too many of the plugin's statements had to be stopped", {
      data: { retry_after_ms: Math.ceil(waitMs) },
      hint: `Try again in ${Math.ceil(waitMs / 1000)} s, with statements that end`,
    });
  }

  /** A statement of the plugin had to be stopped. */
  lose(plugin: string): void {
    const count = (this.#strikes.get(plugin)?.count ?? 0) + 1;
    const waitMs = count < 2 ? 0 : Math.min(MAX_WAIT_MS, this.#unitMs * 2 ** (count - 2));
    this.#strikes.set(plugin, { count, untilMs: this.#clock.monotonic() + waitMs });
  }

  /** A statement of the plugin came to its end. */
  restore(plugin: string): void {
    this.#strikes.delete(plugin);
  }
}
