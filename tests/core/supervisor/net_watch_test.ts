import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { NetWatch } from "../../../src/core/supervisor/net_watch.ts";

const ports = { stderr: () => [] as string[], hide: (text: string) => text };

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
  const failed = watch.during(
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
  const failed = watch.during({}, answer.promise);
  log("getaddrinfo EAI_AGAIN during.example");
  answer.reject(new HostError("protocol.timeout", "No answer"));
  await assert.rejects(failed, { hint: /^net:during\.example:<port> is not granted/ });
});

test("a plugin with the whole network gets no hint, and its calls no promise more", () => {
  const answer = Promise.resolve(1);
  assert.equal(new NetWatch(["net:*"], ports).during({}, answer), answer);
});
