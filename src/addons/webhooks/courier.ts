/**
 * Delivers webhooks: attempt by attempt, a few at a time, each within its time, until one is taken or enough is enough.
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

/** One try to deliver. */
export interface DeliveryAttempt {
  /** When, ISO 8601. */
  readonly at: string;
  /** What the receiver answered, or null when it did not. */
  readonly status: number | null;
  /** How long it took, in ms. */
  readonly latencyMs: number;
  /** Whether it was taken: a status of 2xx. */
  readonly ok: boolean;
  /** Why it was not, or null. */
  readonly error: string | null;
}

/** What is delivered. */
export interface Letter {
  /** Id of the message, the same at each attempt. */
  readonly id: string;
  /** The body, JSON. */
  readonly body: string;
  /** Where to, and signed with what; asked at each attempt. */
  readonly endpoint: () => { readonly url: string; readonly secrets: readonly string[] };
  /** Hears of each attempt. */
  readonly onAttempt: (attempt: DeliveryAttempt) => void;
  /** Calls it off at once. */
  readonly abort: AbortSignal;
  /** Calls it off where it waits for another attempt; an attempt goes on. */
  readonly hurry: AbortSignal;
}

/** What came of it: taken, refused for good (410), given up after the last attempt, or called off. */
export type LetterFate = "delivered" | "gone" | "failed" | "aborted";

/** What a courier works with. */
export interface CourierOptions {
  /** The network. */
  readonly network: Network;
  /** Time. */
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** When to try again. */
  readonly retry: RetryPolicy;
  /** How long one attempt may take. */
  readonly timeoutMs: number;
  /** Where letters may go. */
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

/** Returns a courier. */
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
  const tell = (status: number | null, ok: boolean, error: string | null): void =>
    letter.onAttempt({ at, status, latencyMs: Math.round(clock.monotonic() - startedMs), ok, error });
  try {
    const { status, retryAfter } = await inTime(options, letter.abort, (signal) => send(letter, options, signal));
    const ok = status >= 200 && status < 300;
    tell(status, ok, ok ? null : `The receiver answered ${status}`);
    const fate = ok ? "delivered" : status === GONE ? "gone" : "again";
    return { fate, retryAfterMs: readRetryAfter(retryAfter, clock.now()) };
  } catch (thrown) {
    const isCalledOff = letter.abort.aborted;
    const { code, message } = asHostError(thrown);
    tell(null, false, isCalledOff ? "The attempt was called off" : message);
    if (isCalledOff) return { fate: "aborted", retryAfterMs: null };
    // Where a letter may not go it may not go in a second either.
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

/** Does `work`, and goes on without it when its time is over, even where it heeds no signal: a lookup does not. */
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
