/**
 * Signatures by which a receiver recognises the sender: the headers of Standard Webhooks, and the plain HMAC of the body.
 *
 * @module
 */
import { Webhook } from "standardwebhooks";
import { HostError, messageOf } from "../../core/errors/host_error.ts";

interface SignedMessage {
  /** The same at each attempt. */
  readonly id: string;
  readonly nowMs: number;
  readonly body: string;
}

const PREFIX = "whsec_";

/**
 * Returns the headers that sign a message with each secret, the newest first: `webhook-signature` lists them with
 * spaces between (Standard Webhooks), `x-webhook-signature` with commas. Without secrets nothing is signed.
 */
export async function signatureHeaders(
  { id, nowMs, body }: SignedMessage,
  secrets: readonly string[],
): Promise<Record<string, string>> {
  const stamp = { "webhook-id": id, "webhook-timestamp": String(Math.floor(nowMs / 1000)) };
  if (secrets.length === 0) return stamp;
  const plain = await Promise.all(secrets.map((secret) => bodySignature(secret, body)));
  return {
    ...stamp,
    "webhook-signature": secrets.map((secret) => standard(secret).sign(id, new Date(nowMs), body)).join(" "),
    "x-webhook-signature": plain.join(","),
  };
}

/**
 * Checks a secret: any text, or `whsec_` and the base64 of a key.
 *
 * @throws {HostError} `addons.invalid_option` when it cannot be a key.
 */
export function checkSecret(secret: string): void {
  try {
    standard(secret);
  } catch (cause) {
    throw new HostError("addons.invalid_option", `The webhook's secret cannot be a key: ${messageOf(cause)}`, {
      hint: `Use any text, or "${PREFIX}" and the base64 of 24 to 64 random bytes`,
      cause,
    });
  }
}

/** Makes a secret: 32 random bytes in the form of Standard Webhooks. */
export function createSecret(): string {
  return `${PREFIX}${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
}

/** A secret without the prefix is its own text, which the library takes as bytes. */
function standard(secret: string): Webhook {
  return secret.startsWith(PREFIX)
    ? new Webhook(secret)
    : new Webhook(new TextEncoder().encode(secret), { format: "raw" });
}

/** HMAC-SHA256 of the body under the secret's text, in hexadecimal. */
async function bodySignature(secret: string, body: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(body)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
