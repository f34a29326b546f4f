/**
 * Reads the settings of webhooks, and reports every issue at once.
 *
 * @module
 */
import * as v from "valibot";
import { HostError } from "../../core/errors/host_error.ts";
import { type EmittedName, EVENT_NAMES } from "../../events/types.ts";

/** A webhook that is to be registered. */
export interface NewWebhook {
  /** Address of the receiver. */
  readonly url: string;
  /** Names of the events it gets, at least one. */
  readonly events: readonly EmittedName[];
  /** Its key, as `whsec_` and base64. Default: one is made. */
  readonly secret?: string | undefined;
  /** Whether it is sent anything. Default true. */
  readonly enabled?: boolean | undefined;
}

/** A change of a webhook; absent fields stay as they are. */
export interface WebhookChange {
  /** New address of the receiver. */
  readonly url?: string | undefined;
  /** Names of the events it gets from now on. */
  readonly events?: readonly EmittedName[] | undefined;
  /** Whether it is sent anything; `true` also forgets its failures. */
  readonly enabled?: boolean | undefined;
}

/** A new secret for a webhook. */
export interface SecretRotation {
  /** The secret, as `whsec_` and base64. Default: one is made. */
  readonly secret?: string | undefined;
  /** How long the old one signs too, in ms, up to 30 days. Default: a day. */
  readonly overlapMs?: number | undefined;
}

const MONTH_MS = 30 * 24 * 3600_000;

const url = v.pipe(v.string(), v.maxLength(2000));
const events = v.pipe(v.array(v.picklist(EVENT_NAMES)), v.minLength(1), v.maxLength(EVENT_NAMES.length));
const secret = v.pipe(
  v.string(),
  v.check(isSecret, 'It must be "whsec_" and the base64 of 16 to 64 bytes; leave it out to have one made'),
);
const newWebhook: v.GenericSchema<unknown, NewWebhook> = v.strictObject({
  url,
  events,
  secret: v.optional(secret),
  enabled: v.optional(v.boolean()),
});
const webhookChange: v.GenericSchema<unknown, WebhookChange> = v.strictObject({
  url: v.optional(url),
  events: v.optional(events),
  enabled: v.optional(v.boolean()),
});
const secretRotation: v.GenericSchema<unknown, SecretRotation> = v.strictObject({
  secret: v.optional(secret),
  overlapMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MONTH_MS))),
});

/** Reads a webhook to register. Throws `addons.webhook_invalid` with every issue, as the other readers do. */
export const readNewWebhook = (input: unknown): NewWebhook => checked(newWebhook, input);
/** Reads a change of a webhook. */
export const readWebhookChange = (input: unknown): WebhookChange => checked(webhookChange, input);
/** Reads the rotation of a secret. */
export const readSecretRotation = (input: unknown): SecretRotation => checked(secretRotation, input);

function checked<T>(schema: v.GenericSchema<unknown, T>, input: unknown): T {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  // A value is not repeated: it may be the secret.
  const issues = result.issues.map((issue) => ({ path: v.getDotPath(issue) ?? "", message: messageFor(issue) }));
  const listed = issues.map(({ path, message }) => path === "" ? message : `${path}: ${message}`).join("; ");
  throw new HostError("addons.webhook_invalid", `A webhook cannot be like this: ${listed}`, {
    data: { issues },
    hint: `A webhook is { url, events, secret?, enabled? }; events: ${EVENT_NAMES.join(", ")}`,
  });
}

function messageFor({ kind, type, expected, message }: v.BaseIssue<unknown>): string {
  if (type === "check") return message;
  if (type === "picklist") return "It names no event";
  if (kind === "schema") return expected === "never" ? "It is not known here" : `It must be ${expected}`;
  return `It must be ${expected ?? "different"}`;
}

function isSecret(text: string): boolean {
  const [, base64] = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? [];
  const bytes = base64 === undefined ? 0 : atob(base64).length;
  return bytes >= 16 && bytes <= 64;
}
