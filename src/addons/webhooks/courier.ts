/**
 * Delivers webhooks: a few at a time, each attempt within its time, until the receiver takes it or the attempts are used
 * up.
 *
 * @module
 */
import { ByteReader } from "../../core/cage/net/byte_reader.ts";
import { asHostError, HostError, messageOf } from "../../core/errors/host_error.ts";
import { permits } from "../../core/values/permits.ts";
import type { Clock, Network, Socket } from "../../core/ports/ports.ts";
import { HOST_VERSION } from "../../core/values/version.ts";
import { signatureHeaders } from "./signatures.ts";
import { addressesOf, type AllowPrivate, readTarget, type WebhookTarget } from "./target.ts";

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

interface PostRequest {
  readonly target: WebhookTarget;
  /** Addresses of the target, tried in order. */
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Certificates to trust beside the system's (PEM). */
  readonly trusted: readonly string[];
}

interface PostAnswer {
  readonly status: number;
  /** The `Retry-After` header, or null. */
  readonly retryAfter: string | null;
}

const MAX_HEAD = 16 * 1024;
/** Answers such as 103 that may come before the real one. */
const MAX_EARLY = 8;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9][0-9]{2})(?: |$)/;

/**
 * Sends it, and gives up when the signal says so.
 *
 * @throws {HostError} `addons.webhook_unreachable` when nobody answers, or not in HTTP.
 */
async function post(request: PostRequest, network: Network, signal: AbortSignal): Promise<PostAnswer> {
  const socket = await connect(request, network, signal);
  const end = (): void => socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end(); // While the connection was handed over.
  try {
    return await exchange(socket, request);
  } catch (cause) {
    throw unreachable(request, cause);
  } finally {
    signal.removeEventListener("abort", end);
    socket.destroy();
  }
}

async function connect(request: PostRequest, network: Network, signal: AbortSignal): Promise<Socket> {
  const { addresses, trusted, target: { host, port, isSecure } } = request;
  const name = host.startsWith("[") ? host.slice(1, -1) : host;
  let failure: unknown = null;
  for (const address of addresses) {
    try {
      if (!isSecure) return await network.connect(address, port, signal);
      return await network.connectSecure(address, port, { name, signal, trusted });
    } catch (error) {
      failure = error;
    }
  }
  throw unreachable(request, failure);
}

async function exchange(socket: Socket, { target, headers, body }: PostRequest): Promise<PostAnswer> {
  const encoder = new TextEncoder();
  const content = encoder.encode(body);
  const fields = {
    host: target.authority,
    ...headers,
    "content-type": "application/json",
    "content-length": String(content.length),
    connection: "close",
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = encoder.encode(`POST ${target.path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const message = new Uint8Array(head.length + content.length);
  message.set(head);
  message.set(content, head.length);
  // Not awaited: a receiver may answer before it has read everything, and close.
  const written = socket.write(message).then(() => null, (error: unknown) => error);
  const reader = new ByteReader(socket);
  for (let early = 0; early <= MAX_EARLY; early++) {
    const answer = await reader.head(MAX_HEAD);
    if ("failure" in answer) throw (await written) ?? new Error(`the answer is ${answer.failure}`);
    const [first = "", ...rest] = answer.text.split("\r\n");
    const status = Number(STATUS_LINE.exec(first)?.[1] ?? 0);
    if (status === 0) throw new Error("the answer is not HTTP");
    if (status >= 200) return { status, retryAfter: fieldOf(rest, "retry-after") };
  }
  throw new Error("the answer never comes");
}

function fieldOf(lines: readonly string[], name: string): string | null {
  const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? null : line.slice(name.length + 1).trim();
}

function unreachable({ target }: PostRequest, cause: unknown): HostError {
  const message = `Cannot deliver to "${target.origin}": ${messageOf(cause)}`;
  return new HostError("addons.webhook_unreachable", message, { cause });
}

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
type RetryPolicy = Readonly<Required<RetryOptions>>;

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
