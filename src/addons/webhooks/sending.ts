/**
 * How webhooks are sent, whoever manages them.
 *
 * @module
 */
import { clock as systemClock } from "../../adapters/shared/clock.ts";
import { ids as systemIds } from "../../adapters/shared/ids.ts";
import { network as systemNetwork } from "../../adapters/shared/network.ts";
import type { Clock, Ids, Network } from "../../core/ports/ports.ts";
import { type Courier, createCourier } from "./courier.ts";
import type { ContentChoice } from "./payload.ts";
import { type RetryOptions, retryPolicy } from "./retry.ts";
import type { AllowPrivate } from "./target.ts";

/** What webhooks work with. */
export interface WebhookRuntime {
  /** The network. */
  readonly network: Network;
  /** Time. */
  readonly clock: Clock;
  /** Unique names. */
  readonly ids: Ids;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** How webhooks are sent. */
export interface SendingOptions {
  /** When a delivery is tried again. */
  readonly retry?: RetryOptions;
  /** How long one attempt may take, in ms: lookup, connection and answer. Default 10 000. */
  readonly timeoutMs?: number;
  /**
   * Whether what was asked, answered and went wrong in words is sent: the fields `input`, `output`, `error` and
   * `figures`. Default false: only names, ids and numbers leave.
   */
  readonly content?: ContentChoice;
  /** Whether a webhook may go to this machine or its networks: never, always, or for the hosts named. Default false. */
  readonly allowPrivate?: AllowPrivate;
  /** Certificates to trust beside the system's (PEM). */
  readonly trusted?: readonly string[];
  /** Deliveries that may be under way for one receiver; what comes above is dropped and told of. Default 1 000. */
  readonly maxPending?: number;
  /** Hears of deliveries that failed, and of receivers that get no more. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
  /** The network, time and chance. Default: the system's. */
  readonly runtime?: WebhookRuntime;
}

const SYSTEM: WebhookRuntime = { network: systemNetwork, clock: systemClock, ids: systemIds, random: Math.random };
const TIMEOUT_MS = 10_000;

/**
 * Returns a maker of couriers, and the runtime they work with. Each receiver has a courier of its own: one that stalls
 * keeps no other waiting.
 */
export function sendingOf(options: SendingOptions): {
  readonly newCourier: () => Courier;
  readonly runtime: WebhookRuntime;
} {
  const { timeoutMs = TIMEOUT_MS, allowPrivate = false, trusted = [], runtime = SYSTEM } = options;
  const retry = retryPolicy(options.retry);
  return { newCourier: () => createCourier({ ...runtime, retry, timeoutMs, allowPrivate, trusted }), runtime };
}
