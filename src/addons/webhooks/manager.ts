/**
 * Webhooks that come and go while the program runs, with a record of every attempt.
 *
 * @module
 */
import { resolve } from "node:path";
import { HostError } from "../../core/errors/host_error.ts";
import { type EmittedName, EVENT_NAMES } from "../../events/types.ts";
import type { EventSource } from "../event_source.ts";
import { type Box, PostRoom } from "./post_room.ts";
import { sendingOf, type SendingOptions } from "./sending.ts";
import { createSecret } from "./signatures.ts";
import { fileWebhookStore, KEPT_DELIVERIES, type WebhookStore } from "./store.ts";
import { readTarget } from "./target.ts";
import { viewOf, type Webhook, type WebhookDelivery, type WebhookView } from "./webhook.ts";
import * as v from "valibot";

/** How webhooks are managed. */
export interface WebhookManagerOptions extends SendingOptions {
  /** Where webhooks and deliveries are kept: a folder, or a store of one's own. */
  readonly store: string | WebhookStore;
  /** Deliveries that may fail in a row before a webhook is turned off. Default 10. */
  readonly maxFailures?: number;
  /** Webhooks there may be. Default 1 000. */
  readonly maxWebhooks?: number;
}

/** Manages webhooks. Arguments are checked whole; failures are a {@link HostError}. */
export interface WebhookManager extends AsyncDisposable {
  /** Registers a webhook. Only this result holds its secret. */
  create(webhook: NewWebhook): Promise<WebhookView & { readonly secret: string }>;
  /** Every webhook, the oldest first. */
  list(): WebhookView[];
  /** The webhook of this id. */
  get(id: string): WebhookView;
  /** Changes a webhook. Deliveries under way go to its new URL; where it is turned off, they are not tried again. */
  update(id: string, change: WebhookChange): Promise<WebhookView>;
  /** Forgets a webhook and its deliveries. */
  delete(id: string): Promise<void>;
  /** Gives a webhook a new secret, which only this result holds; for a while the old one signs too. */
  rotateSecret(id: string, rotation?: SecretRotation): Promise<WebhookView & { readonly secret: string }>;
  /** The newest deliveries of a webhook, the newest first. */
  deliveries(id: string): WebhookDelivery[];
  /** Sends a delivery again, with the id and body it had, also where the webhook is off. */
  replay(id: string, deliveryId: string): WebhookDelivery;
  /** Resolves when nothing is under way and everything is kept. */
  flush(): Promise<void>;
  /** Ends the subscription. Deliveries not taken after `graceMs` (default 10 000) are tried again at the next start. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const DAY_MS = 24 * 3600_000;

/**
 * Loads the stored webhooks, goes on with pending deliveries, and sends events from now on.
 *
 * @throws {HostError} `addons.store_unreadable` when they cannot be read, `addons.invalid_option`.
 */
export async function createWebhookManager(
  source: EventSource,
  options: WebhookManagerOptions,
): Promise<WebhookManager> {
  const { allowPrivate = false, content = false, maxPending = 1000, maxFailures = 10, maxWebhooks = 1000 } = options;
  const store = typeof options.store === "string" ? fileWebhookStore(resolve(options.store)) : options.store;
  const { newCourier, runtime, underway, warn } = sendingOf(options);
  const post = new PostRoom({ store, newCourier, runtime, underway, warn, content, maxPending, maxFailures });
  const { webhooks, deliveries } = await store.load();
  post.resume(webhooks, deliveries);
  const end = source.on("*", (event) => post.hear(event));

  const manager: WebhookManager = {
    ...registerOf({ post, store, runtime, allowPrivate, maxWebhooks }),
    deliveries: (id) => [...findBox(post, id).deliveries.values()].reverse().slice(0, KEPT_DELIVERIES),
    replay(id, deliveryId) {
      const box = findBox(post, id);
      const delivery = box.deliveries.get(deliveryId);
      if (!delivery) throw unknownDelivery(deliveryId);
      if (delivery.state === "pending") throw pendingDelivery(deliveryId);
      if (box.off.signal.aborted) box.off = new AbortController();
      post.begin(box, { ...delivery, state: "pending" });
      return box.deliveries.get(deliveryId)!;
    },
    flush: () => underway.flush(),
    async close({ graceMs } = {}) {
      end();
      await underway.close(graceMs);
    },
    [Symbol.asyncDispose]: () => manager.close(),
  };
  return manager;
}

interface RegisterPorts extends Required<Pick<WebhookManagerOptions, "runtime" | "allowPrivate" | "maxWebhooks">> {
  readonly post: PostRoom;
  readonly store: WebhookStore;
}

type Register = Pick<WebhookManager, "create" | "list" | "get" | "update" | "delete" | "rotateSecret">;

/** Returns the methods that read and change webhooks, in the post room and in the store. */
function registerOf({ post, store, runtime: { clock, ids }, allowPrivate, maxWebhooks }: RegisterPorts): Register {
  const now = (): string => new Date(clock.now()).toISOString();
  const view = ({ webhook }: Box): WebhookView => viewOf(webhook, clock.now());

  /** Applies a change at once, so that the next change builds on it, and takes it back when it cannot be saved. */
  async function save(box: Box, changed: Partial<Webhook>): Promise<void> {
    const former = box.webhook;
    const next = box.webhook = { ...former, ...changed, updatedAt: now() };
    try {
      await store.saveWebhook(next);
    } catch (error) {
      if (box.webhook === next) box.webhook = former;
      throw error;
    }
  }

  return {
    async create(given) {
      const { url, events, secret = createSecret(), enabled = true } = readNewWebhook(given);
      readTarget(url, allowPrivate);
      if (post.boxes.size >= maxWebhooks) {
        throw new HostError("addons.webhook_limit", `There are ${post.boxes.size} webhooks, and may be no more`);
      }
      const createdAt = now();
      const box = post.open({
        id: ids.create("wh"),
        url,
        events,
        enabled,
        disabledBy: enabled ? null : "operator",
        failures: 0,
        secrets: [{ value: secret, expiresAt: null }],
        createdAt,
        updatedAt: createdAt,
      });
      try {
        await store.saveWebhook(box.webhook);
      } catch (error) {
        post.boxes.delete(box.webhook.id);
        throw error;
      }
      return { ...view(box), secret };
    },
    list: () => [...post.boxes.values()].map(view),
    get: (id) => view(findBox(post, id)),
    async update(id, given) {
      const box = findBox(post, id);
      const { url = box.webhook.url, events = box.webhook.events, enabled } = readWebhookChange(given);
      readTarget(url, allowPrivate);
      await save(box, { url, events, ...powerOf(enabled) });
      if (enabled === false) box.off.abort();
      if (enabled === true && box.off.signal.aborted) box.off = new AbortController();
      return view(box);
    },
    async delete(id) {
      const box = findBox(post, id);
      post.boxes.delete(id);
      box.off.abort();
      await store.removeWebhook(id);
    },
    async rotateSecret(id, given = {}) {
      const box = findBox(post, id);
      const { secret = createSecret(), overlapMs = DAY_MS } = readSecretRotation(given);
      const [former] = box.webhook.secrets;
      const expiresAt = new Date(clock.now() + overlapMs).toISOString();
      const secrets = [{ value: secret, expiresAt: null }, { value: former!.value, expiresAt }];
      await save(box, { secrets });
      return { ...view(box), secret };
    },
  };
}

/** Returns the fields that change when an operator turns a webhook on or off; none where `enabled` is not given. */
function powerOf(enabled: boolean | undefined): Partial<Webhook> {
  if (enabled === undefined) return {};
  return enabled ? { enabled, disabledBy: null, failures: 0 } : { enabled, disabledBy: "operator" };
}

function findBox(post: PostRoom, id: string): Box {
  const box = post.boxes.get(id);
  if (box) return box;
  throw new HostError("addons.webhook_unknown", `There is no webhook "${id}"`, { data: { webhook: id } });
}

function unknownDelivery(id: string): HostError {
  return new HostError("addons.delivery_unknown", `The webhook has no delivery "${id}"`, { data: { delivery: id } });
}

function pendingDelivery(id: string): HostError {
  return new HostError("addons.delivery_pending", `The delivery "${id}" is under way`, { data: { delivery: id } });
}

/** A webhook that is to be registered. */
export interface NewWebhook {
  /** Address that events are posted to. */
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
const readNewWebhook = (input: unknown): NewWebhook => checked(newWebhook, input);
/** Reads a change of a webhook. */
const readWebhookChange = (input: unknown): WebhookChange => checked(webhookChange, input);
/** Reads the rotation of a secret. */
const readSecretRotation = (input: unknown): SecretRotation => checked(secretRotation, input);

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
