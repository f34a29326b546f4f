import assert from "node:assert/strict";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { Elysia } from "elysia";
import { Hono } from "hono";
import { Webhook } from "standardwebhooks";
import { files } from "../../../src/adapters/shared/files.ts";
import { ids } from "../../../src/adapters/shared/ids.ts";
import { network } from "../../../src/adapters/shared/network.ts";
import {
  createWebhookManager,
  fileWebhookStore,
  type WebhookDelivery,
  type WebhookManager,
  type WebhookManagerOptions,
  webhookRoutes,
  type WebhookStore,
  type WebhookView,
} from "../../../src/addons/mod.ts";
import { type Manner, type Receiver, receiver } from "../../support/receiver.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { type Told, toldEvents } from "../../support/told_events.ts";
import { until } from "../../support/until.ts";

interface Managed extends Told {
  readonly manager: WebhookManager;
  readonly to: Receiver;
  readonly dir: string;
  readonly warnings: string[];
  /** Asks a route; the status and the answer. */
  ask<T = WebhookView>(method: string, path: string, body?: unknown): Promise<{ status: number; answer: T }>;
  /** Moves the clock over a wait of so many ms, once something waits for it. */
  pass(ms: number): Promise<void>;
}

type Options = Partial<WebhookManagerOptions> & { readonly manners?: Manner[]; readonly dir?: string };

async function managed(t: TestContext, { manners = [200], ...options }: Options = {}): Promise<Managed> {
  const told = toldEvents();
  const to = await receiver(t, { manners });
  const dir = options.dir ?? `${await mkdtemp(join(tmpdir(), "kaged-test-"))}/webhooks`;
  const warnings: string[] = [];
  const manager = await createWebhookManager(told.emitter, {
    store: dir,
    allowPrivate: ["127.0.0.1"],
    onWarning: (message) => warnings.push(message),
    ...options,
    runtime: { clock: told.clock, ids, network, random: () => 0 },
  });
  t.after(async () => {
    await manager.close({ graceMs: 0 });
    if (options.dir === undefined) await rm(dirname(dir), { recursive: true });
  });
  const routes = webhookRoutes(manager);
  return {
    ...told,
    manager,
    to,
    dir,
    warnings,
    async ask<T>(method: string, path: string, body?: unknown) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const response = await routes.fetch(
        new Request(`http://host${path}`, { method, ...(body !== undefined && { body: text }) }),
      );
      const answer = await response.text();
      return { status: response.status, answer: (answer === "" ? null : JSON.parse(answer)) as T };
    },
    async pass(ms) {
      await until(() => told.clock.isDueIn(ms), `a timer due in ${ms} ms`, "turn");
      told.clock.advance(ms);
    },
  };
}

const states = (deliveries: readonly WebhookDelivery[]) =>
  deliveries.map(({ type, state, attempts }) => [type, state, attempts.map(({ status }) => status)]);

test("T-014 a webhook is registered, listed, shown, changed and deleted over HTTP", async (t) => {
  const { ask, to } = await managed(t);
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const wanted = { url: to.url, events: ["agent:end", "cron:executed"], secret, enabled: true };
  const made = await ask<WebhookView & { secret: string }>("POST", "/webhooks", wanted);
  const { id } = made.answer;
  const shown = {
    id,
    url: to.url,
    events: ["agent:end", "cron:executed"],
    enabled: true,
    disabledBy: null,
    failures: 0,
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    oldSecretUntil: null,
  };
  assert.deepEqual(made, { status: 201, answer: { ...shown, secret } });
  assert.deepEqual(await ask("GET", "/webhooks"), { status: 200, answer: [shown] });
  assert.deepEqual(await ask("GET", `/webhooks/${id}`), { status: 200, answer: shown });
  const changed = { ...shown, events: ["job:end"], enabled: false, disabledBy: "operator" };
  const change = { events: ["job:end"], enabled: false };
  assert.deepEqual(await ask("PATCH", `/webhooks/${id}`, change), { status: 200, answer: changed });
  assert.deepEqual(await ask("DELETE", `/webhooks/${id}`), { status: 204, answer: null });
  assert.deepEqual(await ask("GET", "/webhooks"), { status: 200, answer: [] });
  for (
    const [method, path] of [["GET", ""], ["PATCH", ""], ["DELETE", ""], ["GET", "/deliveries"], ["POST", "/secret"]]
  ) {
    const { status, answer } = await ask<{ code: string }>(
      method!,
      `/webhooks/${id}${path}`,
      method === "GET" ? undefined : {},
    );
    assert.deepEqual([status, answer.code], [404, "addons.webhook_unknown"], `${method} ${path}`);
  }
});

test("T-014 a webhook without a secret gets one, which only create() returns", async (t) => {
  const { ask, to } = await managed(t);
  const { answer: { secret } } = await ask<{ secret: string }>("POST", "/webhooks", {
    url: to.url,
    events: ["job:end"],
  });
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.doesNotMatch(JSON.stringify(await ask("GET", "/webhooks")), /whsec_/);
});

test("T-014 every fault of a webhook is reported at once, and no secret repeated", async (t) => {
  const { ask, to } = await managed(t);
  const wrong = { url: 5, events: ["agent:ends"], secret: "whsec_tooshort", enabled: "yes", colour: "red" };
  const { status, answer } = await ask<{ code: string; data: { issues: { path: string }[] } }>(
    "POST",
    "/webhooks",
    wrong,
  );
  assert.deepEqual([status, answer.code], [400, "addons.webhook_invalid"]);
  const paths = answer.data.issues.map(({ path }) => path).sort();
  assert.deepEqual(paths, ["colour", "enabled", "events.0", "secret", "url"]);
  assert.doesNotMatch(JSON.stringify(answer), /tooshort/);
  const bad = [{ events: [], url: to.url }, { url: to.url }, null, [], "x".repeat(70_000), "{"];
  for (const body of bad) {
    assert.equal((await ask("POST", "/webhooks", body)).status, 400, JSON.stringify(body)?.slice(0, 40));
  }
  assert.equal((await ask("POST", "/webhooks")).status, 400);
});

test("T-014 no webhook can be registered, or changed, to lead inside", async (t) => {
  const { ask, to } = await managed(t);
  const { answer: { id } } = await ask("POST", "/webhooks", { url: to.url, events: ["job:end"] });
  for (const url of ["http://127.0.0.2/", "http://169.254.169.254/latest", "https://0x7f000002/", "http://[::1]/"]) {
    const made = await ask<{ code: string }>("POST", "/webhooks", { url, events: ["job:end"] });
    const changed = await ask<{ code: string }>("PATCH", `/webhooks/${id}`, { url });
    assert.deepEqual([made.answer.code, changed.answer.code], ["addons.webhook_refused", "addons.webhook_refused"]);
  }
  assert.equal((await ask("GET", `/webhooks/${id}`)).answer.url, to.url);
});

test("T-014 each attempt is recorded: its time, the answer, its duration, whether it was taken", async (t) => {
  const { ask, manager, to, tell, pass } = await managed(t, { manners: [500, 200] });
  const { answer: { id } } = await ask("POST", "/webhooks", { url: to.url, events: ["job:end"] });
  await tell("job:end", "job:start");
  await pass(1000);
  await manager.flush();
  const { answer: [delivery, ...others] } = await ask<WebhookDelivery[]>("GET", `/webhooks/${id}/deliveries`);
  assert.deepEqual(others, []);
  assert.deepEqual({ ...delivery, body: JSON.parse(delivery!.body) }, {
    id: to.received[0]!.headers["webhook-id"],
    webhookId: id,
    type: "job:end",
    createdAt: "2026-01-01T00:00:00.000Z",
    state: "delivered",
    attempts: [
      { at: "2026-01-01T00:00:00.000Z", status: 500, latencyMs: 0, ok: false, error: "The receiver answered 500" },
      { at: "2026-01-01T00:00:01.000Z", status: 200, latencyMs: 0, ok: true, error: null },
    ],
    body: {
      type: "job:end",
      timestamp: "2026-01-01T00:00:00.000Z",
      data: {
        jobId: "job_1",
        agentName: "email-checker",
        duration: 2340,
        usage: { promptTokens: 1000, completionTokens: 247, totalTokens: 1247 },
      },
    },
  });
});

test("T-014 a webhook is turned off after so many failures in a row, and one success forgives them", async (t) => {
  const { manager, to, tell, warnings } = await managed(t, { retry: { maxAttempts: 1 }, maxFailures: 3 });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  const failuresAfter = async (status: number) => {
    to.manners = [status];
    await tell("job:end");
    await manager.flush();
    return manager.get(id).failures;
  };
  assert.deepEqual([await failuresAfter(500), await failuresAfter(404), await failuresAfter(200)], [1, 2, 0]);
  for (const status of [500, 503, 500]) await failuresAfter(status);
  const { enabled, disabledBy, failures } = manager.get(id);
  assert.deepEqual({ enabled, disabledBy, failures }, { enabled: false, disabledBy: "failures", failures: 3 });
  assert.match(warnings.join(), /is turned off: 3 deliveries failed in a row/);
  const before = to.received.length;
  await tell("job:end");
  await manager.flush();
  assert.equal(to.received.length, before);
  await manager.update(id, { enabled: true });
  assert.deepEqual([manager.get(id).failures, await failuresAfter(200)], [0, 0]);
  assert.equal(to.received.length, before + 1);
});

test("T-014 a receiver that answers 410 turns its webhook off at once", async (t) => {
  const { manager, to, tell } = await managed(t, { manners: [410] });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await tell("job:end");
  await manager.flush();
  assert.deepEqual([manager.get(id).enabled, manager.get(id).disabledBy], [false, "gone"]);
  assert.deepEqual(states(manager.deliveries(id)), [["job:end", "failed", [410]]]);
});

test("T-014 while secrets overlap a receiver that has either takes the message; then only the new one signs", async (t) => {
  const { ask, manager, to, tell, clock } = await managed(t);
  clock.advance(Date.now() - clock.now()); // The library's receiver looks at the real clock.
  const { id, secret: old } = await manager.create({ url: to.url, events: ["job:end"] });
  const rotated = await ask<{ secret: string; oldSecretUntil: string }>("POST", `/webhooks/${id}/secret`, {
    overlapMs: 5000,
  });
  const fresh = rotated.answer.secret;
  assert.equal(Date.parse(rotated.answer.oldSecretUntil), clock.now() + 5000);
  const takenBy = async () => {
    await tell("job:end");
    await manager.flush();
    const { body, headers } = to.received.at(-1)!;
    return [old, fresh].map((secret) => {
      try {
        new Webhook(secret).verify(body, { ...headers });
        return true;
      } catch {
        return false;
      }
    });
  };
  assert.deepEqual(await takenBy(), [true, true]);
  clock.advance(5000);
  assert.deepEqual(await takenBy(), [false, true]);
  assert.equal(manager.get(id).oldSecretUntil, null);
});

test("T-014 a delivery is sent again with the id and body it had, and its attempts add up", async (t) => {
  const { ask, manager, to, tell } = await managed(t, { manners: [500, 200], retry: { maxAttempts: 1 } });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await tell("job:end");
  await manager.flush();
  const [failed] = manager.deliveries(id);
  const replay = `/webhooks/${id}/deliveries/${failed!.id}/replay`;
  const { status, answer } = await ask<WebhookDelivery>("POST", replay);
  assert.deepEqual([status, answer.state], [202, "pending"]);
  await manager.flush();
  assert.deepEqual(states(manager.deliveries(id)), [["job:end", "delivered", [500, 200]]]);
  const [first, second] = to.received;
  assert.deepEqual([second!.body, second!.headers["webhook-id"]], [first!.body, first!.headers["webhook-id"]]);
  const unknown = await ask<{ code: string }>("POST", `/webhooks/${id}/deliveries/msg_none/replay`);
  assert.deepEqual([unknown.status, unknown.answer.code], [404, "addons.delivery_unknown"]);
});

test("T-014 a delivery that is under way is not sent a second time", async (t) => {
  const { ask, manager, to, tell } = await managed(t, { manners: ["stall"] });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await tell("job:end");
  await to.got(1);
  const [pending] = manager.deliveries(id);
  const { status, answer } = await ask<{ code: string }>("POST", `/webhooks/${id}/deliveries/${pending!.id}/replay`);
  assert.deepEqual([status, answer.code], [409, "addons.delivery_pending"]);
});

test("T-014 a delivery goes to the URL the webhook has by then, and nowhere once it is turned off", async (t) => {
  const other = await receiver(t, { manners: [500] });
  const { manager, to, tell, pass } = await managed(t, { manners: [500] });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await tell("job:end");
  await to.got(1);
  await manager.update(id, { url: other.url });
  await pass(1000);
  await until(() => manager.deliveries(id)[0]!.attempts.length >= 2, "a second attempt", "turn");
  await manager.update(id, { enabled: false });
  await manager.flush();
  assert.deepEqual([to.received.length, other.received.length], [1, 1]);
  assert.deepEqual(states(manager.deliveries(id)), [["job:end", "failed", [500, 500]]]);
});

test("T-014 an attempt that is called off is recorded too: the receiver may have taken it", async (t) => {
  const { manager, to, tell } = await managed(t, { manners: ["stall"] });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await tell("job:end");
  await to.got(1);
  await manager.update(id, { enabled: false });
  await manager.flush();
  const [{ state, attempts }] = manager.deliveries(id) as [WebhookDelivery];
  assert.deepEqual([state, attempts.map(({ status, error }) => [status, error])], [
    "failed",
    [[null, "The attempt was called off"]],
  ]);
});

test("T-014 webhooks, secrets and deliveries outlive the program, and only its user can read them", async (t) => {
  const first = await managed(t);
  const { id, secret } = await first.manager.create({ url: first.to.url, events: ["job:end"] });
  await first.tell("job:end");
  await first.manager.flush();
  await first.manager.close();
  const { dir } = first;
  for (const name of await readdir(dir)) assert.equal((await stat(`${dir}/${name}`)).mode & 0o777, 0o600, name);
  const second = await managed(t, { dir });
  assert.deepEqual(second.manager.list(), first.manager.list());
  assert.deepEqual(second.manager.deliveries(id), first.manager.deliveries(id));
  assert.ok((await readFile(`${dir}/webhooks.json`, "utf8")).includes(secret));
  await second.manager.delete(id);
  assert.deepEqual(await readdir(dir), ["webhooks.json"]);
});

test("T-014 a delivery that was under way when the program ended is delivered by the next one", async (t) => {
  const first = await managed(t, { manners: [500] });
  const { id } = await first.manager.create({ url: first.to.url, events: ["job:end"] });
  await first.tell("job:end");
  await first.to.got(1);
  await first.manager.close();
  assert.deepEqual(states(first.manager.deliveries(id)), [["job:end", "pending", [500]]]);
  first.to.manners = [200];
  const second = await managed(t, { dir: first.dir });
  await second.manager.flush();
  assert.deepEqual(states(second.manager.deliveries(id)), [["job:end", "delivered", [500, 200]]]);
  assert.equal(first.to.received[1]!.headers["webhook-id"], first.to.received[0]!.headers["webhook-id"]);
});

test("T-014 the newest hundred deliveries are kept, and the file does not grow without end", async (t) => {
  const { manager, to, tell, dir } = await managed(t);
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  for (let round = 0; round < 4; round++) {
    await tell(...new Array(75).fill("job:end"));
    await manager.flush();
  }
  assert.equal(to.received.length, 300);
  assert.equal(manager.deliveries(id).length, 100);
  const lines = (await readFile(`${dir}/${id}.jsonl`, "utf8")).trim().split("\n");
  assert.ok(lines.length <= 400, `${lines.length} lines`);
  await manager.close();
  const again = await managed(t, { dir });
  assert.deepEqual(again.manager.deliveries(id), manager.deliveries(id));
});

test("T-014 a record that a crash cut short takes no other with it", async (t) => {
  const { manager, to, tell, dir } = await managed(t);
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await tell("job:end");
  await manager.close();
  await appendFile(`${dir}/${id}.jsonl`, '\n{"id":"msg_torn');
  const store = fileWebhookStore(dir, files);
  const { deliveries: [kept, ...others] } = await store.load();
  assert.deepEqual([kept, others], [manager.deliveries(id)[0], []]);
  await store.saveDelivery({ ...kept!, id: "msg_next" });
  const { deliveries } = await fileWebhookStore(dir, files).load();
  assert.deepEqual(deliveries.map((delivery) => delivery.id), [kept!.id, "msg_next"]);
});

test("T-014 webhooks that cannot be read stop the manager, with the file to put right", async (t) => {
  const dir = await scratchDir(t);
  for (const text of ["{", "{}", '[{"id":"../../etc"}]']) {
    await writeFile(`${dir}/webhooks.json`, text);
    await assert.rejects(managed(t, { dir }), {
      code: "addons.store_unreadable",
      data: { path: `${dir}/webhooks.json` },
    });
  }
});

test("T-014 a store of one's own takes the place of the files; a webhook it cannot keep is not registered", async (t) => {
  const saved: string[] = [];
  let isFull = false;
  const store: WebhookStore = {
    load: () => Promise.resolve({ webhooks: [], deliveries: [] }),
    saveWebhook: ({ url }) => isFull ? Promise.reject(new Error("full")) : Promise.resolve(void saved.push(url)),
    removeWebhook: () => Promise.resolve(),
    saveDelivery: () => isFull ? Promise.reject(new Error("full")) : Promise.resolve(),
  };
  const { manager, ask, to, tell, warnings } = await managed(t, { store });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  assert.deepEqual(saved, [to.url]);
  isFull = true;
  assert.equal((await ask("POST", "/webhooks", { url: to.url, events: ["job:end"] })).status, 500);
  await assert.rejects(manager.update(id, { events: ["job:start"] }), { message: "full" });
  assert.deepEqual(manager.list().map(({ events }) => events), [["job:end"]]);
  await tell("job:end"); // A full disk does not keep the news from its receiver.
  await manager.flush();
  assert.equal(to.received.length, 1);
  assert.match(warnings[0]!, /^Webhooks cannot be kept: full$/);
});

test("T-014 changes made at the same time build on each other", async (t) => {
  const { manager, to } = await managed(t);
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await Promise.all([
    manager.update(id, { events: ["job:start"] }),
    manager.update(id, { enabled: false }),
    manager.rotateSecret(id),
  ]);
  const { events, enabled, oldSecretUntil } = manager.get(id);
  assert.deepEqual([events, enabled, oldSecretUntil], [["job:start"], false, "2026-01-02T00:00:00.000Z"]);
});

test("T-014 the number of webhooks, and of deliveries under way for one, is limited", async (t) => {
  const { manager, to, tell, warnings } = await managed(t, { maxWebhooks: 1, maxPending: 2, manners: ["stall"] });
  const { id } = await manager.create({ url: to.url, events: ["job:end"] });
  await assert.rejects(manager.create({ url: to.url, events: ["job:end"] }), { code: "addons.webhook_limit" });
  await tell("job:end", "job:end", "job:end", "job:end");
  assert.equal(manager.deliveries(id).length, 2);
  assert.equal(warnings.length, 1);
});

test("T-014 one webhook's bad receiver costs the others nothing", async (t) => {
  const bad = await receiver(t, { manners: ["stall"] });
  const { manager, to, tell } = await managed(t);
  await manager.create({ url: bad.url, events: ["job:end"] });
  await manager.create({ url: to.url, events: ["job:end"] });
  await tell(...new Array(30).fill("job:end"));
  await to.got(30);
  assert.equal(to.received.length, 30);
});

test("T-011 T-014 the routes answer in a bare Hono app, and in Elysia", async (t) => {
  const { manager, to } = await managed(t);
  const routes = webhookRoutes(manager);
  const hono = new Hono().mount("/", routes.fetch);
  const elysia = new Elysia().mount("/", (request: Request) => routes.fetch(request));
  const body = JSON.stringify({ url: to.url, events: ["job:end"] });
  const headers = { "content-type": "application/json" };
  for (const app of [hono, elysia]) {
    const made = await app.fetch(new Request("http://host/webhooks", { method: "POST", body, headers }));
    assert.equal(made.status, 201);
    const { id } = await made.json() as { id: string };
    assert.equal((await app.fetch(new Request(`http://host/webhooks/${id}`))).status, 200);
  }
  assert.equal(manager.list().length, 2);
});
