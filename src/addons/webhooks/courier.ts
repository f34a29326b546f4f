/**
 * Delivers webhooks: a few at a time, each attempt within its time, until the receiver takes it or the attempts are used
 * up.
 *
 * @module
 */
import { asHostError, HostError } from "../../core/errors/host_error.ts";
import { permits } from "../../core/values/permits.ts";
import type { Clock, Network } from "../../core/ports/ports.ts";
import { HOST_VERSION } from "../../core/values/version.ts";
import { post } from "./post.ts";
import { delayAfter, readRetryAfter, type RetryPolicy } from "./retry.ts";
import { signatureHeaders } from "./signatures.ts";
import { addressesOf, type AllowPrivate, readTarget } from "./target.ts";

/** One attempt at a delivery. */
export interface DeliveryAttempt {
  /** When it began, ISO 8601. */
  readonly at: string;
  /** HTTP status of the answer, or null when there was none. */
  readonly status: number | null;
  /** Time until the answer, in ms. */
  readonly latencyMs: number;
  /** Whether the receiver took it: a status of 2xx. */
  readonly ok: boolean;
  /** The reason of a failure, or null. */
  readonly error: string | null;
}

/** A message for one receiver. */
interface Letter {
  /** The same at each attempt. */
  readonly id: string;
  readonly body: string;
  /** Returns the receiver's URL and the signing secrets; called at each attempt. */
  readonly endpoint: () => { readonly url: string; readonly secrets: readonly string[] };
  readonly onAttempt: (attempt: DeliveryAttempt) => void;
  /** Ends the delivery at once. */
  readonly abort: AbortSignal;
  /** Ends the wait for another attempt; a running attempt goes on. */
  readonly hurry: AbortSignal;
}

/** The end of a delivery: taken, refused for good (410), given up after the last attempt, or called off. */
export type LetterFate = "delivered" | "gone" | "failed" | "aborted";

interface CourierOptions {
  readonly network: Network;
  readonly clock: Clock;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly allowPrivate: AllowPrivate;
  /** Certificates to trust beside the system's (PEM). */
  readonly trusted: readonly string[];
}

/** Delivers letters. Never rejects. */
export type Courier = (letter: Letter) => Promise<LetterFate>;

interface Verdict {
  readonly fate: LetterFate | "again";
  readonly retryAfterMs: number | null;
}

/** Attempts of one courier under way at once. */
const MAX_UNDER_WAY = 8;
const GONE = 410;

/** Returns a courier with at most eight attempts under way. */
export function createCourier(options: CourierOptions): Courier {
  const { clock, random, retry } = options;
  const turns = permits(MAX_UNDER_WAY);

  return async (letter) => {
    for (let number = 1;; number++) {
      const { fate, retryAfterMs } = await turns(() => attempt(letter, options));
      if (fate !== "again") return fate;
      if (number >= retry.maxAttempts) return "failed";
      const calledOff = [letter.abort, letter.hurry];
      await wait(delayAfter(number, retry, { random: random(), retryAfterMs }), clock, calledOff);
      if (calledOff.some((signal) => signal.aborted)) return "aborted";
    }
  };
}

async function attempt(letter: Letter, options: CourierOptions): Promise<Verdict> {
  if (letter.abort.aborted) return { fate: "aborted", retryAfterMs: null };
  const { clock } = options;
  const startedMs = clock.monotonic();
  const at = new Date(clock.now()).toISOString();
  const report = (status: number | null, ok: boolean, error: string | null): void =>
    letter.onAttempt({ at, status, latencyMs: Math.round(clock.monotonic() - startedMs), ok, error });
  try {
    const { status, retryAfter } = await inTime(options, letter.abort, (signal) => send(letter, options, signal));
    const ok = status >= 200 && status < 300;
    report(status, ok, ok ? null : `The receiver answered ${status}`);
    const fate = ok ? "delivered" : status === GONE ? "gone" : "again";
    return { fate, retryAfterMs: readRetryAfter(retryAfter, clock.now()) };
  } catch (thrown) {
    const isCalledOff = letter.abort.aborted;
    const { code, message } = asHostError(thrown);
    report(null, false, isCalledOff ? "The attempt was called off" : message);
    if (isCalledOff) return { fate: "aborted", retryAfterMs: null };
    // A forbidden address stays forbidden: another attempt would fail as well.
    return { fate: code === "addons.webhook_refused" ? "failed" : "again", retryAfterMs: null };
  }
}

async function send(
  { id, body, endpoint }: Letter,
  { network, clock, allowPrivate, trusted }: CourierOptions,
  signal: AbortSignal,
): Promise<{ status: number; retryAfter: string | null }> {
  const { url, secrets } = endpoint();
  const target = readTarget(url, allowPrivate);
  const addresses = await addressesOf(target, allowPrivate, network.resolve);
  const signed = await signatureHeaders({ id, body, nowMs: clock.now() }, secrets);
  const headers = { "user-agent": `kaged-plugin-host/${HOST_VERSION}`, ...signed };
  return await post({ target, addresses, headers, body, trusted }, network, signal);
}

/** Rejects when `work` takes too long, also where it heeds no signal, as a lookup does. */
async function inTime<T>(
  { clock, timeoutMs }: CourierOptions,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  const cancel = clock.after(timeoutMs, end);
  outer.addEventListener("abort", end);
  try {
    const ended = new Promise<never>((_, reject) => {
      over.signal.addEventListener("abort", () => {
        reject(new HostError("addons.webhook_unreachable", `The receiver did not answer within ${timeoutMs} ms`));
      });
    });
    return await Promise.race([work(over.signal), ended]);
  } finally {
    cancel();
    outer.removeEventListener("abort", end);
  }
}

/** Waits so long, or until one of the signals is aborted. */
function wait(ms: number, clock: Clock, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    for (const signal of signals) signal.addEventListener("abort", done);
    if (signals.some((signal) => signal.aborted)) done();
  });
}
