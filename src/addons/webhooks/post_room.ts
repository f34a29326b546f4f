/**
 * Turns events into deliveries: one box for each webhook, with its deliveries and their outcomes.
 *
 * @module
 */
import { messageOf } from "../../core/errors/host_error.ts";
import type { AnyEvent } from "../../events/types.ts";
import type { Courier, LetterFate } from "./courier.ts";
import { type ContentChoice, payloadOf } from "./payload.ts";
import type { Underway, WebhookRuntime } from "./sending.ts";
import { forgetOld, type WebhookStore } from "./store.ts";
import { liveSecrets, type Webhook, type WebhookDelivery } from "./webhook.ts";

/** A webhook and its deliveries. */
export interface Box {
  /** The webhook as it is now. */
  webhook: Webhook;
  /** Its deliveries, the oldest first. */
  readonly deliveries: Map<string, WebhookDelivery>;
  readonly courier: Courier;
  /** Aborts the deliveries that are under way. */
  off: AbortController;
  /** Number of deliveries under way. */
  pending: number;
  /** Whether the warning about dropped events was given since it last caught up. */
  isBehind: boolean;
}

interface PostRoomOptions {
  readonly store: WebhookStore;
  readonly newCourier: () => Courier;
  readonly runtime: WebhookRuntime;
  readonly underway: Underway;
  readonly warn: (message: string) => void;
  readonly content: ContentChoice;
  readonly maxPending: number;
  /** Deliveries that may fail in a row before a webhook is turned off. */
  readonly maxFailures: number;
}

/** Makes deliveries of events, and keeps their outcomes. */
export class PostRoom {
  /** The boxes by the id of their webhook. */
  readonly boxes: Map<string, Box> = new Map();
  readonly #options: PostRoomOptions;

  /** Starts without boxes. */
  constructor(options: PostRoomOptions) {
    this.#options = options;
  }

  /** Opens an empty box for a webhook. */
  open(webhook: Webhook): Box {
    const courier = this.#options.newCourier();
    const box = { webhook, deliveries: new Map(), courier, off: new AbortController(), pending: 0, isBehind: false };
    this.boxes.set(webhook.id, box);
    return box;
  }

  /** Takes up webhooks and deliveries from the store, and goes on with pending ones. */
  resume(webhooks: readonly Webhook[], deliveries: readonly WebhookDelivery[]): void {
    for (const webhook of webhooks) this.open(webhook);
    for (const delivery of deliveries) this.boxes.get(delivery.webhookId)?.deliveries.set(delivery.id, delivery);
    for (const box of this.boxes.values()) {
      for (const delivery of box.deliveries.values()) if (delivery.state === "pending") this.#run(box, delivery);
    }
  }

  /** Sends an event to every webhook that hears it. */
  hear(event: AnyEvent): void {
    const { runtime: { ids }, content, maxPending } = this.#options;
    for (const box of this.boxes.values()) {
      const { id: webhookId, enabled, events } = box.webhook;
      if (!enabled || !events.includes(event.type)) continue;
      box.isBehind &&= box.pending > 0;
      if (box.pending >= maxPending) {
        this.#warnBehind(box);
        continue;
      }
      const body = JSON.stringify(payloadOf(event, content));
      const [id, createdAt] = [ids.create("msg"), this.#now()];
      this.begin(box, { id, webhookId, type: event.type, createdAt, state: "pending", attempts: [], body });
    }
  }

  /** Keeps a delivery and sends it. */
  begin(box: Box, delivery: WebhookDelivery): void {
    this.#keep(box, delivery);
    this.#run(box, delivery);
  }

  #run(box: Box, { id, body }: WebhookDelivery): void {
    box.pending++;
    this.#options.underway.add(this.#deliver(box, id, body).finally(() => box.pending--));
  }

  async #deliver(box: Box, id: string, body: string): Promise<void> {
    const { underway, runtime: { clock } } = this.#options;
    const { off } = box;
    const fate = await box.courier({
      id,
      body,
      endpoint: () => ({
        url: box.webhook.url,
        secrets: liveSecrets(box.webhook.secrets, clock.now()).map(({ value }) => value),
      }),
      onAttempt: (attempt) => {
        const delivery = box.deliveries.get(id);
        if (delivery) this.#keep(box, { ...delivery, attempts: [...delivery.attempts, attempt] });
      },
      abort: AbortSignal.any([underway.abort, off.signal]),
      hurry: underway.hurry,
    });
    // A delivery that the end of the program called off stays pending, and goes on at the next start.
    if (fate !== "aborted" || off.signal.aborted) this.#settle(box, id, fate);
  }

  #settle(box: Box, id: string, fate: LetterFate): void {
    const delivery = box.deliveries.get(id);
    if (delivery) this.#keep(box, { ...delivery, state: fate === "delivered" ? "delivered" : "failed" });
    if (fate === "delivered" && box.webhook.failures > 0) this.#change(box, { failures: 0 });
    if (fate !== "failed" && fate !== "gone") return;
    const failures = box.webhook.failures + 1;
    const disabledBy = fate === "gone" ? "gone" : failures >= this.#options.maxFailures ? "failures" : null;
    if (disabledBy === null || !box.webhook.enabled) return this.#change(box, { failures });
    this.#change(box, { failures, enabled: false, disabledBy });
    box.off.abort();
    const why = fate === "gone" ? "it wants no more (410)" : `${failures} deliveries failed in a row`;
    this.#options.warn(`The webhook "${box.webhook.id}" is turned off: ${why}`);
  }

  /** A change that cannot be saved still holds until the program ends. */
  #change(box: Box, changed: Partial<Webhook>): void {
    box.webhook = { ...box.webhook, ...changed, updatedAt: this.#now() };
    if (this.boxes.has(box.webhook.id)) this.#save(this.#options.store.saveWebhook(box.webhook));
  }

  #keep(box: Box, delivery: WebhookDelivery): void {
    box.deliveries.set(delivery.id, delivery);
    forgetOld(box.deliveries);
    this.#save(this.#options.store.saveDelivery(delivery));
  }

  #save(saving: Promise<void>): void {
    const { underway, warn } = this.#options;
    underway.add(saving.catch((error) => warn(`Webhooks cannot be kept: ${messageOf(error)}`)));
  }

  #warnBehind(box: Box): void {
    if (box.isBehind) return;
    box.isBehind = true;
    this.#options.warn(`The webhook "${box.webhook.id}" is behind with ${box.pending} events: more are dropped`);
  }

  #now(): string {
    return new Date(this.#options.runtime.clock.now()).toISOString();
  }
}
