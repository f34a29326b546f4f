import assert from "node:assert/strict";
import { test } from "node:test";
import type { NetEvent } from "../../../src/core/cage/net/gatekeeper.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { NetWatch } from "../../../src/core/supervisor/net_watch.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

const ports = {
  stderr: () => [] as string[],
  hide: (text: string) => text,
  clock: createFakeClock(),
  onNet: (_event: NetEvent) => {},
};

/** The outcome of a call that begins now and ends as `answer` does. */
function during<T>(watch: NetWatch, params: Record<string, unknown>, answer: Promise<T>): Promise<T> {
  const { lines, refusals } = watch;
  return answer.catch((error) => Promise.reject(watch.hinted(error, { params, lines, refusals })));
}

test("NetWatch keeps the newest 100 refusals and how often each came, and none without a target", () => {
  const watch = new NetWatch(["net:a.example:443"], ports);
  const refuse = (host: string, port = 443) => watch.refused({ kind: "refused", host, port, reason: "not-allowed" });
  for (let index = 0; index < 100; index++) refuse(`h${index}.example`);
  refuse("", 0);
  refuse("h0.example");
  refuse("new.example");
  const counts = watch.counts();
  assert.equal(counts.length, 100);
  assert.deepEqual(counts.at(-1), { host: "new.example", port: 443, reason: "not-allowed", count: 1 });
  assert.deepEqual(counts.at(-2), { host: "h0.example", port: 443, reason: "not-allowed", count: 2 });
  assert.equal(counts.some(({ host }) => host === "h1.example"), false);
});

test("the hint hides a secret of the operator's that is the name of a host", async () => {
  const watch = new NetWatch([], { ...ports, hide: (text) => text.replaceAll("db.example.com", "[secret:host]") });
  const failed = during(
    watch,
    {},
    Promise.reject(new HostError("plugin.error", "getaddrinfo EAI_AGAIN db.example.com")),
  );
  await assert.rejects(failed, { hint: /^net:\[secret:host\]:<port> is not granted/ });
});

test("lines of stderr count for the calls during which they came", async () => {
  const lines: string[] = [];
  const watch = new NetWatch([], { ...ports, stderr: () => lines });
  const log = (line: string): void => {
    lines.push(line);
    watch.line();
  };
  log("getaddrinfo EAI_AGAIN before.example");
  const answer = Promise.withResolvers<never>();
  const failed = during(watch, {}, answer.promise);
  log("getaddrinfo EAI_AGAIN during.example");
  answer.reject(new HostError("protocol.timeout", "No answer"));
  await assert.rejects(failed, { hint: /^net:during\.example:<port> is not granted/ });
});

test("a plugin with the whole network gets no hint", () => {
  const error = new HostError("plugin.error", "getaddrinfo EAI_AGAIN db.example.com");
  const since = { params: {}, lines: 0, refusals: 0 };
  assert.equal(new NetWatch(["net:*"], ports).hinted(error, since), error);
  assert.notEqual(new NetWatch([], ports).hinted(error, since), error);
});

test("a host that only the plugin's error names is audited once a minute and counted each time, with its source", async () => {
  const events: NetEvent[] = [];
  const clock = createFakeClock();
  const watch = new NetWatch([], { ...ports, clock, onNet: (event) => void events.push(event) });
  const fail = (text: string): Promise<void> =>
    assert.rejects(during(watch, {}, Promise.reject(new HostError("plugin.error", text))));
  const text = "connect ENETUNREACH 192.0.2.7:5432";
  const refused = { host: "192.0.2.7", port: 5432, reason: "not-allowed", source: "error" } as const;
  await fail(text);
  await fail(text);
  await fail("The disk is full");
  assert.deepEqual(events, [{ kind: "refused", ...refused }]);
  assert.deepEqual(watch.counts(), [{ ...refused, count: 2 }]);
  clock.advance(60_000);
  await fail(text);
  assert.equal(events.length, 2);
});

test("requests that were held back are hints of the calls during which they were, and are no refused hosts", async () => {
  const watch = new NetWatch(["net:a.example:443"], ports);
  const target = { host: "a.example", port: 443, method: "GET", path: "/x" };
  watch.refused({ kind: "request_refused", ...target, reason: "path" });
  const failing = () => during(watch, {}, Promise.reject(new HostError("plugin.error", "Status 403")));
  await assert.rejects(failing(), { hint: undefined });
  const answer = Promise.withResolvers<never>();
  const failed = during(watch, {}, answer.promise);
  watch.refused({ kind: "request_refused", ...target, reason: "path" });
  answer.reject(new HostError("plugin.error", "Status 403"));
  await assert.rejects(failed, { hint: /^GET \/x was refused: a net_rule of the operator does not allow this path/ });
  assert.deepEqual(watch.counts(), []);
});
