import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { checkSecret, createSecret, signatureHeaders } from "../../../src/addons/webhooks/signatures.ts";

interface Vector {
  readonly secret: string;
  readonly msg_id: string;
  readonly timestamp: number;
  readonly payload: string;
  readonly signature: string;
  readonly now: number;
  readonly valid: boolean;
  readonly origin: string;
}

const vectors: Vector[] = JSON.parse(
  await readFile(new URL("../../corpora/standard-webhooks/vectors.json", import.meta.url), "utf8"),
);

/** Whether a receiver that looks at its clock at `now` (in s) takes the message. */
function isTaken(secret: string, body: string, headers: Record<string, string>, now: number): boolean {
  const realNow = Date.now;
  Date.now = () => now * 1000;
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  } finally {
    Date.now = realNow;
  }
}

test("T-013 the headers of a published vector are the published ones", async () => {
  const published = vectors.filter(({ origin }) => origin === "published");
  assert.ok(published.length > 0);
  for (const { secret, msg_id, timestamp, payload, signature } of published) {
    const message = { id: msg_id, nowMs: timestamp * 1000 + 999, body: payload };
    const { "x-webhook-signature": _, ...headers } = await signatureHeaders(message, [secret]);
    assert.deepEqual(headers, {
      "webhook-id": msg_id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signature,
    });
  }
});

test("T-013 a receiver judges every vector as published, and takes ours where it takes theirs", async () => {
  for (const { secret, msg_id, timestamp, payload, signature, now, valid } of vectors) {
    const given = { "webhook-id": msg_id, "webhook-timestamp": String(timestamp), "webhook-signature": signature };
    assert.equal(isTaken(secret, payload, given, now), valid, `${signature} at ${now}`);
    const ours = await signatureHeaders({ id: msg_id, nowMs: timestamp * 1000, body: payload }, [secret]);
    assert.equal(isTaken(secret, payload, ours, now), Math.abs(now - timestamp) <= 300);
  }
});

test("T-013 X-Webhook-Signature is the HMAC-SHA256 of the body under the secret's text", async () => {
  for (const secret of ["plain text, é", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]) {
    const body = '{"type":"agent:end","data":"é"}';
    const headers = await signatureHeaders({ id: "msg_1", nowMs: 0, body }, [secret]);
    assert.equal(headers["x-webhook-signature"], createHmac("sha256", secret).update(body).digest("hex"));
  }
});

test("T-013 a secret that is plain text signs the Standard Webhooks headers too", async () => {
  const body = "{}";
  const headers = await signatureHeaders({ id: "msg_1", nowMs: 1_614_265_330_000, body }, ["plain text"]);
  const key = new TextEncoder().encode("plain text");
  const expected = new Webhook(key, { format: "raw" }).sign("msg_1", new Date(1_614_265_330_000), body);
  assert.equal(headers["webhook-signature"], expected);
});

test("T-014 with two secrets a receiver that has either takes the message", async () => {
  const [fresh, old, other] = [createSecret(), createSecret(), createSecret()];
  const headers = await signatureHeaders({ id: "msg_1", nowMs: 1_614_265_330_000, body: "{}" }, [fresh, old]);
  const taken = [fresh, old, other].map((secret) => isTaken(secret, "{}", headers, 1_614_265_330));
  assert.deepEqual(taken, [true, true, false]);
  assert.match(headers["x-webhook-signature"]!, /^[0-9a-f]{64},[0-9a-f]{64}$/);
});

test("T-013 without a secret a message has its id and time and no signature", async () => {
  assert.deepEqual(await signatureHeaders({ id: "msg_1", nowMs: 5000, body: "{}" }, []), {
    "webhook-id": "msg_1",
    "webhook-timestamp": "5",
  });
});

test("T-014 a secret that is made is 32 random bytes, each time others", () => {
  const [one, two] = [createSecret(), createSecret()];
  assert.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(one, two);
});

test("a secret that cannot be a key is refused, and not shown", () => {
  for (const secret of ["", "whsec_", "whsec_not base64!"]) {
    assert.throws(() => checkSecret(secret), (error: { code: string; message: string }) => {
      assert.equal(error.code, "addons.invalid_option");
      assert.doesNotMatch(error.message, /not base64!/);
      return true;
    });
  }
});
