/**
 * The settings and ports that a forwarder and a manager of webhooks share.
 *
 * @module
 */
import { clock as systemClock } from "../../adapters/shared/clock.ts";
import { ids as systemIds } from "../../adapters/shared/ids.ts";
import { network as systemNetwork } from "../../adapters/shared/network.ts";
import type { Clock, Ids, Network } from "../../core/ports/ports.ts";
import { warner } from "../event_source.ts";
import { type Courier, createCourier, type RetryOptions, retryPolicy } from "./courier.ts";
import type { ContentChoice } from "./payload.ts";
import type { AllowPrivate } from "./target.ts";

/** The ports that webhooks are sent with. */
export interface WebhookRuntime {
  /** Looks receivers up and connects to them. */
  readonly network: Network;
  /** Times attempts and the waits between them. */
  readonly clock: Clock;
  /** Makes ids of messages and webhooks. */
  readonly ids: Ids;
  /** Returns a number from 0 up to 1, which spreads retries. */
  readonly random: () => number;
}

/** Settings of every webhook of a forwarder or manager. */
export interface SendingOptions {
  /** When a delivery is tried again. */
  readonly retry?: RetryOptions;
  /** How long one attempt may take, in ms: lookup, connection and answer. Default 10 000. */
  readonly timeoutMs?: number;
  /**
   * Whether prompts, answers and error messages are sent: the fields `input`, `output`, `error` and `figures`. Default
   * false: only names, ids and numbers are.
   */
  readonly content?: ContentChoice;
  /** Whether a webhook may go to this machine or its networks: never, always, or for the hosts named. Default false. */
  readonly allowPrivate?: AllowPrivate;
  /** Certificates to trust beside the system's (PEM). */
  readonly trusted?: readonly string[];
  /** Deliveries that may be under way for one receiver; events beyond are dropped with a warning. Default 1 000. */
  readonly maxPending?: number;
  /** Called for deliveries that failed, and for receivers that are turned off. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
  /** Network, clock, ids and random numbers. Default: the system's. */
  readonly runtime?: WebhookRuntime;
}

/** How a forwarder or manager sends. */
interface Sending {
  readonly newCourier: () => Courier;
  readonly runtime: WebhookRuntime;
  readonly underway: Underway;
  readonly warn: (message: string) => void;
}

const SYSTEM: WebhookRuntime = { network: systemNetwork, clock: systemClock, ids: systemIds, random: Math.random };
const TIMEOUT_MS = 10_000;

/**
 * Fills in the defaults. Each receiver gets a courier of its own, so that one that stalls keeps no other waiting.
 */
export function sendingOf(options: SendingOptions): Sending {
  const { timeoutMs = TIMEOUT_MS, allowPrivate = false, trusted = [], runtime = SYSTEM } = options;
  const retry = retryPolicy(options.retry);
  const newCourier = (): Courier => createCourier({ ...runtime, retry, timeoutMs, allowPrivate, trusted });
  return { newCourier, runtime, underway: createUnderway(runtime.clock), warn: warner(options.onWarning) };
}

/** The deliveries of one forwarder or manager that have not ended. */
export interface Underway {
  readonly size: number;
  /** Aborts every delivery at once. */
  readonly abort: AbortSignal;
  /** Aborts deliveries that wait for another attempt; running attempts go on. */
  readonly hurry: AbortSignal;
  /** Counts `work`, which never rejects, until it is done. */
  add(work: Promise<void>): void;
  /** Resolves when nothing is under way, and keeps the program alive for as long. */
  flush(): Promise<void>;
  /** Lets running attempts end, and aborts those that have not ended after `graceMs` (default 10 000). */
  close(graceMs?: number): Promise<void>;
}

const AN_HOUR_MS = 3600_000;
const GRACE_MS = 10_000;

/** Starts with no delivery. */
function createUnderway(clock: Clock): Underway {
  const pending = new Set<Promise<void>>();
  const [abort, hurry] = [new AbortController(), new AbortController()];

  async function flush(): Promise<void> {
    // The timers of waiting deliveries do not keep a program alive, but a caller of flush() wants to see their end.
    const awake = setInterval(() => {}, AN_HOUR_MS);
    try {
      while (pending.size > 0) await Promise.all(pending);
    } finally {
      clearInterval(awake);
    }
  }

  return {
    abort: abort.signal,
    hurry: hurry.signal,
    flush,
    get size() {
      return pending.size;
    },
    add(work) {
      pending.add(work);
      void work.then(() => pending.delete(work));
    },
    async close(graceMs = GRACE_MS) {
      hurry.abort();
      if (graceMs <= 0) abort.abort();
      const cancel = clock.after(graceMs, () => abort.abort());
      await flush();
      cancel();
    },
  };
}
