/**
 * Sends events to one URL.
 *
 * @module
 */
import type { EmittedName } from "../../events/types.ts";
import { type EventSource, hearEvents } from "../event_source.ts";
import type { DeliveryAttempt } from "./courier.ts";
import { payloadOf } from "./payload.ts";
import { sendingOf, type SendingOptions } from "./sending.ts";
import { checkSecret } from "./signatures.ts";
import { readTarget } from "./target.ts";

/** The receiver of a forwarder and the events it gets. */
export interface WebhookForwarderOptions extends SendingOptions {
  /** Address that events are posted to. */
  readonly url: string;
  /** Events to send. Default: all that are emitted. */
  readonly events?: readonly EmittedName[];
  /** Signs what is sent: `whsec_` and the base64 of a key, or any text. */
  readonly secret?: string;
  /** Called after each attempt, successful or not. */
  readonly onAttempt?: (attempt: DeliveryAttempt & { readonly id: string; readonly type: EmittedName }) => void;
}

/** Events on their way to one URL. */
export interface WebhookForwarder extends AsyncDisposable {
  /** Resolves when nothing is under way. */
  flush(): Promise<void>;
  /**
   * Ends the subscription. Each event so far still has the attempt that is due, none waits for another attempt, and after
   * `graceMs` (default 10 000) everything is called off.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
  /** Deliveries that were taken, that failed or were given up, and events dropped because too many were under way. */
  readonly counts: { readonly delivered: number; readonly failed: number; readonly dropped: number };
  /** Whether the receiver said 410: it gets no more. */
  readonly isDisabled: boolean;
}

/**
 * Sends events to a URL as they happen, as `{ type, timestamp, data }`. Order is not promised; each message has an id
 * in `webhook-id` that stays the same when it is sent again. No failure reaches the agent.
 *
 * @throws {HostError} `addons.webhook_refused`, `addons.unknown_event` or `addons.invalid_option`.
 */
export function createWebhookForwarder(source: EventSource, options: WebhookForwarderOptions): WebhookForwarder {
  const { url, secret, content = false, maxPending = 1000, onAttempt } = options;
  const { newCourier, runtime, underway, warn } = sendingOf(options);
  const courier = newCourier();
  const { origin } = readTarget(url, options.allowPrivate ?? false);
  if (secret !== undefined) checkSecret(secret);
  const endpoint = { url, secrets: secret === undefined ? [] : [secret] };
  const disabled = new AbortController();
  const abort = AbortSignal.any([underway.abort, disabled.signal]);
  const counts = { delivered: 0, failed: 0, dropped: 0 };
  let isBehind = false;

  const end = hearEvents(source, options.events, (event) => {
    isBehind &&= underway.size > 0;
    if (underway.size >= maxPending) drop();
    else underway.add(forward(event.type, JSON.stringify(payloadOf(event, content))));
  });

  async function forward(type: EmittedName, body: string): Promise<void> {
    const id = runtime.ids.create("msg");
    let reason = "it was called off";
    const fate = await courier({
      id,
      body,
      endpoint: () => endpoint,
      onAttempt(attempt) {
        reason = attempt.error ?? reason;
        report({ ...attempt, id, type });
      },
      abort,
      hurry: underway.hurry,
    });
    counts[fate === "delivered" ? "delivered" : "failed"]++;
    if (fate === "gone") disable();
    else if (fate !== "delivered") warn(`The event "${type}" did not reach "${origin}": ${reason}`);
  }

  function report(attempt: Parameters<NonNullable<typeof onAttempt>>[0]): void {
    try {
      onAttempt?.(attempt);
    } catch (error) {
      warn(`A listener of attempts failed: ${String(error)}`);
    }
  }

  function drop(): void {
    counts.dropped++;
    if (isBehind) return;
    isBehind = true;
    warn(`"${origin}" is behind with ${underway.size} events: more are dropped until it has caught up`);
  }

  function disable(): void {
    if (disabled.signal.aborted) return;
    end();
    disabled.abort();
    warn(`"${origin}" wants no more events (410): nothing is sent to it any longer`);
  }

  const close = async ({ graceMs }: { readonly graceMs?: number } = {}): Promise<void> => {
    end();
    await underway.close(graceMs);
  };
  return {
    flush: () => underway.flush(),
    close,
    get counts() {
      return { ...counts };
    },
    get isDisabled() {
      return disabled.signal.aborted;
    },
    [Symbol.asyncDispose]: () => close(),
  };
}
