/**
 * The records of managed webhooks and of their deliveries.
 *
 * @module
 */
import type { EmittedName } from "../../events/types.ts";
import type { DeliveryAttempt } from "./courier.ts";

/** A key that signs the bodies of a webhook. */
export interface WebhookSecret {
  /** `whsec_` and the base64 of the key. */
  readonly value: string;
  /** When it stops signing, ISO 8601; null for the one in use. */
  readonly expiresAt: string | null;
}

/** A webhook as a store keeps it. */
export interface Webhook {
  /** Id that the manager gave it. */
  readonly id: string;
  /** Address that events are posted to. */
  readonly url: string;
  /** Names of the events it gets. */
  readonly events: readonly EmittedName[];
  /** Whether it is sent anything. */
  readonly enabled: boolean;
  /** Turned off by the operator, by failures in a row, or by the receiver's 410 (`gone`). Null while it is on. */
  readonly disabledBy: "operator" | "failures" | "gone" | null;
  /** Deliveries that failed since the last one that was taken. */
  readonly failures: number;
  /** The keys that sign, the one in use first. */
  readonly secrets: readonly WebhookSecret[];
  /** When it was registered, ISO 8601. */
  readonly createdAt: string;
  /** When it was last changed, ISO 8601. */
  readonly updatedAt: string;
}

/** A webhook without its secrets, to be shown. */
export interface WebhookView extends Omit<Webhook, "secrets"> {
  /** When the secret before this one stops signing too, ISO 8601; null when there is none. */
  readonly oldSecretUntil: string | null;
}

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  /** Its id, sent as `webhook-id`. */
  readonly id: string;
  /** Id of the webhook it goes to. */
  readonly webhookId: string;
  /** Name of the event it is about. */
  readonly type: EmittedName;
  /** When it was heard, ISO 8601. */
  readonly createdAt: string;
  /** `pending` while it is tried; `failed` when it is tried no more. */
  readonly state: "pending" | "delivered" | "failed";
  /** Every attempt, the first one first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** The JSON body, the same at each attempt. */
  readonly body: string;
}

/** Returns a webhook without its secrets. */
export function viewOf({ secrets, ...webhook }: Webhook, nowMs: number): WebhookView {
  return { ...webhook, oldSecretUntil: liveSecrets(secrets, nowMs)[1]?.expiresAt ?? null };
}

/** Returns the secrets that sign now, the one in use first. */
export function liveSecrets(secrets: readonly WebhookSecret[], nowMs: number): readonly WebhookSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > nowMs);
}
