/**
 * When a delivery is tried again.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";

/** How often a delivery is tried, and how long it waits in between. */
export interface RetryOptions {
  /** Attempts in all. Default 3. */
  readonly maxAttempts?: number;
  /** Each wait is twice the one before, less a random part of up to half. */
  readonly backoff?: "exponential";
  /** First wait, in ms. Default 1 000. */
  readonly firstDelayMs?: number;
  /** Longest wait, in ms. Default 60 000. A receiver that says `Retry-After` may ask for more, up to an hour. */
  readonly maxDelayMs?: number;
}

/** The same with nothing left open. */
export type RetryPolicy = Readonly<Required<RetryOptions>>;

const MAX_RETRY_AFTER_MS = 3600_000;

/** Fills in the defaults. Throws `addons.invalid_option` for a number that cannot be one of them. */
export function retryPolicy(options: RetryOptions = {}): RetryPolicy {
  const { maxAttempts = 3, backoff = "exponential", firstDelayMs = 1000, maxDelayMs = 60_000 } = options;
  const isCount = Number.isInteger(maxAttempts) && maxAttempts >= 1 && maxAttempts <= 100;
  const areTimes = [firstDelayMs, maxDelayMs].every((ms) => Number.isFinite(ms) && ms >= 0);
  if (isCount && areTimes && backoff === "exponential") return { maxAttempts, backoff, firstDelayMs, maxDelayMs };
  throw new HostError("addons.invalid_option", "The retry options cannot be followed", {
    data: { maxAttempts, backoff, firstDelayMs, maxDelayMs },
    hint: 'Use 1 to 100 attempts, the backoff "exponential", and waits of 0 ms or more',
  });
}

/**
 * Returns how long to wait after the attempt of that number, the first being 1. `random` is from 0 up to 1: receivers
 * that failed together are not asked again together.
 */
export function delayAfter(
  attempt: number,
  { firstDelayMs, maxDelayMs }: RetryPolicy,
  { random, retryAfterMs }: { readonly random: number; readonly retryAfterMs: number | null },
): number {
  const backoffMs = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs) * (1 - random / 2);
  return Math.round(Math.max(backoffMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)));
}

/** Reads a `Retry-After` header (RFC 9110 §10.2.3): seconds, or a date. Null when it is neither. */
export function readRetryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  if (/^[0-9]{1,10}$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
