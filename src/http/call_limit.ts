/**
 * A limit on calls per second, as a token bucket: after a quiet second, a whole second's worth may come at once.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";

/** Counts calls against a limit. */
export interface CallLimit {
  /** Counts one call. Throws `http.rate_limited` when the bucket is empty. */
  take(): void;
}

/** Returns a limit of `perSecond` calls. */
export function callLimit(perSecond: number, clock: Clock): CallLimit {
  let left = perSecond;
  let atMs = clock.monotonic();
  return {
    take() {
      const nowMs = clock.monotonic();
      left = Math.min(perSecond, left + (nowMs - atMs) * perSecond / 1000);
      atMs = nowMs;
      if (left < 1) {
        throw new HostError("http.rate_limited", `More than ${perSecond} calls arrived in a second`, {
          data: { calls_per_second: perSecond },
          hint: "Wait a second, or raise calls_per_second under [http] in config.toml",
        });
      }
      left--;
    },
  };
}
