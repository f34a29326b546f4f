/**
 * Where webhooks and their deliveries are kept.
 *
 * @module
 */
import { files as systemFiles } from "../../adapters/shared/files.ts";
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import type { Files } from "../../core/ports/ports.ts";
import { permits } from "../../core/values/permits.ts";
import type { Webhook, WebhookDelivery } from "./webhook.ts";

/** Keeps webhooks and deliveries for one manager. Calls may overlap; they take effect in the order they are made. */
export interface WebhookStore {
  /** Everything that is kept: webhooks, and the newest deliveries of each, the oldest of them first. */
  load(): Promise<{ readonly webhooks: readonly Webhook[]; readonly deliveries: readonly WebhookDelivery[] }>;
  /** Keeps a webhook, in place of the one of that id. */
  saveWebhook(webhook: Webhook): Promise<void>;
  /** Forgets a webhook and its deliveries. */
  removeWebhook(id: string): Promise<void>;
  /** Keeps a delivery, in place of the one of that id. Old ones may be forgotten. */
  saveDelivery(delivery: WebhookDelivery): Promise<void>;
}

/** The part of a file system that the store uses; a runtime's `files` is one. */
export type StoreFiles = Pick<Files, "readText" | "write" | "append" | "rename" | "makeDir" | "remove">;

/** Deliveries that are kept for each webhook, beside those under way. */
export const KEPT_DELIVERIES = 100;
/** Lines of a deliveries file, of which only the last for each delivery counts, before it is written anew. */
const MAX_LINES = 4 * KEPT_DELIVERIES;
const ID = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * Returns a store in a folder: `webhooks.json`, secrets included, and `<id>.jsonl` with the deliveries of each. Only
 * this user may read them. One manager for each folder.
 */
export function fileWebhookStore(dir: string, files: StoreFiles = systemFiles): WebhookStore {
  const webhooks = new Map<string, Webhook>();
  const lines = new Map<string, number>();
  const recent = new Map<string, Map<string, WebhookDelivery>>();
  const path = `${dir}/webhooks.json`;
  const inTurn = permits(1);
  const logOf = (webhookId: string): string => `${dir}/${webhookId}.jsonl`;
  const replace = async (target: string, text: string): Promise<void> => {
    await files.write(`${target}.new`, text, 0o600);
    await files.rename(`${target}.new`, target);
  };
  const saveAll = (): Promise<void> => replace(path, `${JSON.stringify([...webhooks.values()], null, 2)}\n`);
  const remember = (delivery: WebhookDelivery): WebhookDelivery[] => {
    const own = recent.get(delivery.webhookId) ?? new Map<string, WebhookDelivery>();
    recent.set(delivery.webhookId, own.set(delivery.id, delivery));
    forgetOld(own);
    return [...own.values()];
  };

  return {
    load: () =>
      inTurn(async () => {
        await files.makeDir(dir, { recursive: true, mode: 0o700 });
        for (const webhook of await readWebhooks(path, files)) {
          webhooks.set(webhook.id, webhook);
          const read = await readLines(logOf(webhook.id), files);
          lines.set(webhook.id, read.length);
          for (const delivery of read) remember(delivery);
        }
        return {
          webhooks: [...webhooks.values()],
          deliveries: [...recent.values()].flatMap((own) => [...own.values()]),
        };
      }),
    saveWebhook: (webhook) =>
      inTurn(async () => {
        const former = webhooks.get(webhook.id);
        webhooks.set(webhook.id, webhook);
        try {
          await saveAll();
        } catch (error) {
          if (former) webhooks.set(webhook.id, former);
          else webhooks.delete(webhook.id);
          throw error;
        }
      }),
    removeWebhook: (id) =>
      inTurn(async () => {
        webhooks.delete(id);
        recent.delete(id);
        lines.delete(id);
        await saveAll();
        await files.remove(logOf(id));
      }),
    saveDelivery: (delivery) =>
      inTurn(async () => {
        const { webhookId } = delivery;
        if (!webhooks.has(webhookId)) return; // It was deleted meanwhile.
        const kept = remember(delivery);
        const count = (lines.get(webhookId) ?? 0) + 1;
        if (count <= MAX_LINES) await files.append(logOf(webhookId), lineOf(delivery));
        else await replace(logOf(webhookId), kept.map(lineOf).join(""));
        lines.set(webhookId, count <= MAX_LINES ? count : kept.length);
      }),
  };
}

/** Forgets the oldest of a webhook's deliveries, none that is under way. */
export function forgetOld(deliveries: Map<string, WebhookDelivery>): void {
  for (const { id, state } of [...deliveries.values()].slice(0, -KEPT_DELIVERIES)) {
    if (state !== "pending") deliveries.delete(id);
  }
}

/** The break comes first: a line that a crash or a full disk cut short does not take the next one with it. */
function lineOf(delivery: WebhookDelivery): string {
  return `\n${JSON.stringify(delivery)}`;
}

async function readWebhooks(path: string, files: StoreFiles): Promise<Webhook[]> {
  const text = await textOf(path, files);
  if (text === null) return [];
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read) && read.every((each) => ID.test(String(each?.id)))) return read;
    throw new TypeError("it is not a list of webhooks");
  } catch (cause) {
    throw new HostError("addons.store_unreadable", `Cannot read the webhooks in "${path}": ${messageOf(cause)}`, {
      data: { path },
      hint: "Put the file right, or move it away to begin without webhooks",
      cause,
    });
  }
}

/** Leaves out a line that was cut short: the delivery's line before it counts. */
async function readLines(path: string, files: StoreFiles): Promise<WebhookDelivery[]> {
  const found: WebhookDelivery[] = [];
  for (const line of (await textOf(path, files) ?? "").split("\n")) {
    try {
      if (line !== "") found.push(JSON.parse(line));
    } catch {
      // A crash or a full disk cut the line short.
    }
  }
  return found;
}

async function textOf(path: string, files: StoreFiles): Promise<string | null> {
  try {
    return await files.readText(path);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  }
}
