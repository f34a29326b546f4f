import assert from "node:assert/strict";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { Webhook } from "standardwebhooks";
import { ids } from "../../../src/adapters/shared/ids.ts";
import { network } from "../../../src/adapters/shared/network.ts";
import {
  createWebhookForwarder,
  type DeliveryAttempt,
  type WebhookForwarder,
  type WebhookForwarderOptions,
} from "../../../src/addons/mod.ts";
import type { Network } from "../../../src/core/ports/ports.ts";
import { type Manner, type Receiver, receiver } from "../../support/receiver.ts";
import { TOLD, type Told, toldEvents } from "../../support/told_events.ts";
import { until } from "../../support/until.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

interface Forwarding extends Told {
  readonly forwarder: WebhookForwarder;
  readonly to: Receiver;
  readonly attempts: (DeliveryAttempt & { id: string })[];
  readonly warnings: string[];
  /** Moves the clock over a wait of so many ms, once something waits for it. */
  pass(ms: number): Promise<void>;
}

type Options = Partial<WebhookForwarderOptions> & { readonly manners?: Manner[]; readonly network?: Partial<Network> };

async function forwarding(t: TestContext, { manners = [200], ...options }: Options = {}): Promise<Forwarding> {
  const to = await receiver(t, { manners });
  return { to, ...forward(t, { url: to.url, allowPrivate: true, ...options }) };
}

function forward(t: TestContext, options: WebhookForwarderOptions & Options): Omit<Forwarding, "to"> {
  const told = toldEvents();
  const attempts: (DeliveryAttempt & { id: string })[] = [];
  const warnings: string[] = [];
  const forwarder = createWebhookForwarder(told.emitter, {
    onAttempt: (attempt) => attempts.push(attempt),
    onWarning: (message) => warnings.push(message),
    ...options,
    runtime: { clock: told.clock, ids, random: () => 0, network: { ...network, ...options.network } },
  });
  t.after(() => forwarder.close({ graceMs: 0 }));
  const pass = async (ms: number): Promise<void> => {
    await until(() => told.clock.isDueIn(ms), `a timer due in ${ms} ms`, "turn");
    told.clock.advance(ms);
  };
  return { ...told, forwarder, attempts, warnings, pass };
}

const statuses = (attempts: readonly DeliveryAttempt[]) =>
  attempts.map(({ status, ok }) => ok ? `${status} ok` : status);

test("T-013 an event is posted as type, timestamp and data, signed so that the library takes it", async (t) => {
  const { tell, forwarder, to, attempts, clock } = await forwarding(t, { secret, content: true });
  clock.advance(Date.now() - clock.now()); // The library's receiver looks at the real clock.
  await tell("agent:end");
  await forwarder.flush();
  const [{ method, path, headers, body }] = to.received as [Receiver["received"][number]];
  assert.deepEqual([method, path, headers["content-type"]], ["POST", "/hooks?key=abc", "application/json"]);
  assert.match(headers["user-agent"]!, /^kaged-plugin-host\/\d/);
  assert.equal(headers["host"], `127.0.0.1:${to.port}`);
  const { type, timestamp, data, ...rest } = new Webhook(secret).verify(body, { ...headers }) as Record<
    string,
    unknown
  >;
  assert.deepEqual([type, data, rest], ["agent:end", TOLD["agent:end"], {}]);
  assert.equal(new Date(String(timestamp)).toISOString(), timestamp);
  assert.match(headers["x-webhook-signature"]!, /^[0-9a-f]{64}$/);
  assert.deepEqual(attempts.map(({ status, ok, error }) => ({ status, ok, error })), [
    { status: 200, ok: true, error: null },
  ]);
  assert.deepEqual(forwarder.counts, { delivered: 1, failed: 0, dropped: 0 });
});

test("T-013 only the events named are sent, without content and unsigned unless asked", async (t) => {
  const { tell, forwarder, to } = await forwarding(t, { events: ["job:end", "cron:executed"] });
  await tell("agent:end", "job:end", "job:start", "cron:executed");
  await forwarder.flush();
  assert.deepEqual(to.received.map(({ body }) => JSON.parse(body).type).sort(), ["cron:executed", "job:end"]);
  const all = JSON.stringify(to.received);
  assert.doesNotMatch(all, /the question|the answer|signature/);
  assert.match(all, /webhook-id/);
});

test("T-013 a receiver that fails is asked again, later each time, with the same id and a fresh time", async (t) => {
  const { tell, forwarder, to, attempts, pass } = await forwarding(t, { manners: [500, 503, 200] });
  await tell("job:end");
  await pass(1000);
  await pass(2000);
  await forwarder.flush();
  assert.deepEqual(statuses(attempts), [500, 503, "200 ok"]);
  assert.deepEqual(attempts.map(({ at }) => at.slice(17, 19)), ["00", "01", "03"]);
  assert.equal(new Set(to.received.map(({ headers }) => headers["webhook-id"])).size, 1);
  assert.equal(new Set(to.received.map(({ headers }) => headers["webhook-timestamp"])).size, 3);
  assert.deepEqual(forwarder.counts, { delivered: 1, failed: 0, dropped: 0 });
});

test("T-013 after the last attempt the event is given up with a warning that leaves out the path", async (t) => {
  const { tell, forwarder, warnings, pass, to } = await forwarding(t, { manners: [500], retry: { maxAttempts: 2 } });
  await tell("job:end");
  await pass(1000);
  await forwarder.flush();
  assert.deepEqual(warnings, [
    `The event "job:end" did not reach "http://127.0.0.1:${to.port}": The receiver answered 500`,
  ]);
  assert.deepEqual(forwarder.counts, { delivered: 0, failed: 1, dropped: 0 });
});

test("T-013 a receiver that says Retry-After is left alone for as long", async (t) => {
  const manners: Manner[] = [{ status: 429, headers: { "retry-after": "90" } }, 200];
  const { tell, forwarder, attempts, pass } = await forwarding(t, { manners });
  await tell("job:end");
  await pass(90_000);
  await forwarder.flush();
  assert.deepEqual(statuses(attempts), [429, "200 ok"]);
});

test("T-013 a receiver that answers 410 gets nothing any more", async (t) => {
  const { tell, forwarder, to, warnings } = await forwarding(t, { manners: [410] });
  await tell("job:end");
  await forwarder.flush();
  assert.equal(forwarder.isDisabled, true);
  await tell("job:end", "agent:end");
  await forwarder.flush();
  assert.equal(to.received.length, 1);
  assert.match(warnings.join(), /wants no more events \(410\)/);
});

test("T-013 a receiver that stalls costs its timeout, and the agent nothing", async (t) => {
  const { tell, forwarder, to, attempts, pass } = await forwarding(t, { manners: ["stall", 200], timeoutMs: 5000 });
  await tell("job:end");
  await to.got(1);
  await pass(5000);
  await pass(1000);
  await forwarder.flush();
  assert.deepEqual(attempts.map(({ status, latencyMs, error }) => [status, latencyMs, error]), [
    [null, 5000, "The receiver did not answer within 5000 ms"],
    [200, 0, null],
  ]);
});

test("T-013 receivers that hang up, babble or ramble have failed; one that hints first has not", async (t) => {
  for (const manner of ["hang up", "babble", "ramble"] as const) {
    const { tell, forwarder, attempts } = await forwarding(t, { manners: [manner], retry: { maxAttempts: 1 } });
    await tell("job:end");
    await forwarder.flush();
    assert.match(String(attempts[0]?.error), /^Cannot deliver to "http:\/\/127\.0\.0\.1:\d+": /, manner);
  }
  const { tell, forwarder, attempts } = await forwarding(t, { manners: ["hint first"] });
  await tell("job:end");
  await forwarder.flush();
  assert.deepEqual(statuses(attempts), ["204 ok"]);
});

test("T-013 nobody there is a failure like any other", async (t) => {
  const { to } = await forwarding(t);
  const refusing = { connect: () => Promise.reject(new Error("ECONNREFUSED")) };
  const { tell, forwarder, attempts } = forward(t, {
    url: to.url,
    allowPrivate: true,
    retry: { maxAttempts: 1 },
    network: refusing,
  });
  await tell("job:end");
  await forwarder.flush();
  assert.match(String(attempts[0]?.error), /ECONNREFUSED/);
});

test("T-013 a redirect is not followed, wherever it leads", async (t) => {
  const inside = await receiver(t);
  const manners: Manner[] = [302, 307, 308].map((status) => ({ status, headers: { location: inside.url } }));
  const { tell, forwarder, attempts, pass } = await forwarding(t, { manners });
  await tell("job:end");
  await pass(1000);
  await pass(2000);
  await forwarder.flush();
  assert.deepEqual(statuses(attempts), [302, 307, 308]);
  assert.equal(inside.received.length, 0);
});

test("T-013 a URL that leads inside is refused when the forwarder is made", () => {
  const { emitter } = toldEvents();
  for (const url of ["http://127.0.0.1/", "https://2130706433/", "https://[::ffff:169.254.169.254]/latest"]) {
    assert.throws(() => createWebhookForwarder(emitter, { url }), { code: "addons.webhook_refused" });
  }
});

test("T-013 an attempt goes to the very address that was looked at, looked up once, each attempt anew", async (t) => {
  const to = await receiver(t);
  const answers = [["93.184.216.34"], ["127.0.0.1"]];
  const dialled: string[] = [];
  let lookups = 0;
  const { tell, forwarder, attempts, pass } = forward(t, {
    url: "https://rebind.example/",
    network: {
      resolve: () => Promise.resolve(answers[lookups++]!),
      connectSecure(address) {
        dialled.push(address);
        return Promise.reject(new Error("reset"));
      },
    },
  });
  await tell("job:end");
  await pass(1000);
  await forwarder.flush();
  assert.deepEqual([dialled, lookups], [["93.184.216.34"], 2]);
  assert.equal(attempts.length, 2); // The second answer is refused, and what is refused is not tried again.
  assert.match(String(attempts[1]?.error), /leads to this machine or a private network/);
  assert.equal(to.received.length, 0);
});

test("T-013 where one address of a name does not answer the next one is tried", async (t) => {
  const to = await receiver(t);
  const dialled: string[] = [];
  const { tell, forwarder, attempts } = forward(t, {
    url: `http://hooks.internal:${to.port}/`,
    allowPrivate: ["hooks.internal"],
    network: {
      resolve: () => Promise.resolve(["10.255.255.1", "127.0.0.1"]),
      connect(address, port, signal) {
        dialled.push(address);
        return address === "127.0.0.1" ? network.connect(address, port, signal) : Promise.reject(new Error("no route"));
      },
    },
  });
  await tell("job:end");
  await forwarder.flush();
  assert.deepEqual([dialled, statuses(attempts)], [["10.255.255.1", "127.0.0.1"], ["200 ok"]]);
});

test("T-013 over TLS the receiver's certificate must be for the host of the URL", async (t) => {
  const to = await receiver(t, { isSecure: true });
  const send = async (name: string, trusted: readonly string[]) => {
    const { tell, forwarder, attempts } = forward(t, {
      url: `https://${name}:${to.port}/`,
      allowPrivate: [name],
      trusted,
      retry: { maxAttempts: 1 },
      network: { resolve: () => Promise.resolve(["127.0.0.1"]) },
    });
    await tell("job:end");
    await forwarder.flush();
    return attempts[0]!;
  };
  assert.equal((await send("hooks.example", to.trusted)).status, 200);
  assert.equal(to.received[0]?.headers["host"], `hooks.example:${to.port}`);
  assert.equal((await send("other.example", to.trusted)).ok, false);
  assert.equal((await send("hooks.example", [])).ok, false);
  assert.equal(to.received.length, 1);
});

test("T-013 the environment's proxies are not asked", async (t) => {
  const proxy = await receiver(t);
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"];
  const former = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
  try {
    const { tell, forwarder, to } = await forwarding(t);
    await tell("job:end");
    await forwarder.flush();
    assert.deepEqual([to.received.length, proxy.received.length], [1, 0]);
  } finally {
    names.forEach((name, at) => {
      if (former[at] === undefined) delete process.env[name];
      else process.env[name] = former[at];
    });
  }
});

test("T-013 a lookup that never ends costs its timeout", async (t) => {
  const { tell, forwarder, attempts, pass } = forward(t, {
    url: "https://hooks.example/",
    retry: { maxAttempts: 1 },
    network: { resolve: () => new Promise(() => {}) },
  });
  await tell("job:end");
  await pass(10_000);
  await forwarder.flush();
  assert.match(String(attempts[0]?.error), /did not answer within 10000 ms/);
});

test("T-013 a receiver that is too far behind misses events, which are counted and warned of once", async (t) => {
  const { tell, forwarder, warnings } = await forwarding(t, { manners: ["stall"], maxPending: 3 });
  await tell("job:end", "job:end", "job:end", "job:end", "job:end");
  assert.equal(forwarder.counts.dropped, 2);
  assert.equal(warnings.length, 1);
  await forwarder.close({ graceMs: 0 });
});

test("T-013 many events reach a receiver, each once, a few at a time", async (t) => {
  const { tell, forwarder, to } = await forwarding(t, { maxPending: 200 });
  await tell(...new Array(200).fill("job:end"));
  await forwarder.flush();
  assert.equal(new Set(to.received.map(({ headers }) => headers["webhook-id"])).size, 200);
  assert.deepEqual(forwarder.counts, { delivered: 200, failed: 0, dropped: 0 });
});

test("T-013 at the end each event that was heard has its attempt, and none waits for another", async (t) => {
  const { tell, forwarder, to, warnings } = await forwarding(t, { manners: [500] });
  await tell("job:end");
  await to.got(1);
  await tell("agent:end");
  await forwarder.close();
  assert.equal(to.received.length, 2);
  assert.deepEqual(forwarder.counts, { delivered: 0, failed: 2, dropped: 0 });
  assert.equal(warnings.length, 2);
});

test("T-013 an end that takes too long is cut short", async (t) => {
  const { tell, forwarder, to, pass } = await forwarding(t, { manners: ["stall"], timeoutMs: 60_000 });
  await tell("job:end");
  await to.got(1);
  const closing = forwarder.close({ graceMs: 2000 });
  await pass(2000);
  await closing;
  assert.equal(forwarder.counts.failed, 1);
});

test("an event that JSON cannot hold, and a listener that throws, disturb nobody", async (t) => {
  const { emitter, forwarder, warnings, to, tell } = await forwarding(t, {
    content: true,
    onAttempt: () => {
      throw new Error("oops");
    },
  });
  assert.doesNotThrow(() => emitter.emit("tool:execute", { ...TOLD["tool:execute"], output: 1n }));
  await tell("job:end");
  await forwarder.flush();
  assert.equal(to.received.length, 1);
  assert.deepEqual(warnings, ["A listener of attempts failed: Error: oops"]);
});
