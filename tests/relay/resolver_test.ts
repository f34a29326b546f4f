import assert from "node:assert/strict";
import { test } from "node:test";
import { CODE, RECORD } from "../../src/relay/dns_message.ts";
import { createResolver, MAX_PER_SECOND, MAX_WAITING } from "../../src/relay/resolver.ts";

const AAAA = 28;

function asking(name: string, type: number = RECORD.A): Uint8Array {
  const labels = name.split(".").filter((label) => label !== "");
  const bytes = labels.flatMap((label) => [label.length, ...new TextEncoder().encode(label)]);
  return Uint8Array.from([1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...bytes, 0, 0, type, 0, 1]);
}

/** A resolver that knows one name, the names it reported, and a clock to move. */
function ground(report: (name: string) => Promise<void> = () => Promise.resolve()) {
  const reported: string[] = [];
  const time = { ms: 0 };
  const resolve = createResolver({
    names: { "a.example": "127.0.0.2" },
    report: (name) => (reported.push(name), report(name)),
    now: () => time.ms,
  });
  const ask = async (name: string, type?: number): Promise<{ code: number; address: string | null }> => {
    const answer = await resolve(asking(name, type)) ?? new Uint8Array();
    return { code: (answer[3] ?? 0xff) & 15, address: answer[7] === 1 ? answer.subarray(-4).join(".") : null };
  };
  return { ask, resolve, reported, time };
}

test("a granted name has its address, and for other types nothing, which is no failure", async () => {
  const { ask, reported } = ground();
  assert.deepEqual(await ask("A.Example"), { code: CODE.ok, address: "127.0.0.2" });
  assert.deepEqual(await ask("a.example", RECORD.ANY), { code: CODE.ok, address: "127.0.0.2" });
  assert.deepEqual(await ask("a.example", AAAA), { code: CODE.ok, address: null });
  assert.deepEqual(await ask("", 2), { code: CODE.ok, address: null });
  assert.deepEqual(reported, []);
});

test("any other name is no such name, and that is said after the gatekeeper has heard of it", async () => {
  const heard = Promise.withResolvers<void>();
  const { ask, reported } = ground(() => heard.promise);
  let answered = false;
  const asked = ask("b.example").finally(() => answered = true);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  assert.deepEqual([reported, answered], [["b.example"], false]);
  heard.resolve();
  assert.deepEqual(await asked, { code: CODE.noName, address: null });
});

test("the two questions of one lookup are reported once, and the next lookup again", async () => {
  const { ask, reported, time } = ground();
  await Promise.all([ask("b.example"), ask("b.example", AAAA)]);
  assert.deepEqual(reported, ["b.example"]);
  await Promise.all([ask("b.example", AAAA), ask("b.example")]);
  assert.deepEqual(reported, ["b.example", "b.example"]);
  // Another type, and much later.
  time.ms += 60_000;
  await ask("b.example", 16);
  assert.equal(reported.length, 3);
});

test("the name of an address is asked for in vain and not reported: there is nothing to be granted", async () => {
  const { ask, reported } = ground();
  for (const name of ["1.0.0.127.in-addr.arpa", "1.0.0.ip6.arpa"]) {
    assert.deepEqual(await ask(name, 12), { code: CODE.noName, address: null });
  }
  assert.deepEqual(reported, []);
});

test("more lookups than the gatekeeper is told of fail at once, at the same time and within a second", async () => {
  const heard = Promise.withResolvers<void>();
  const slow = ground(() => heard.promise);
  const waiting = Array.from({ length: MAX_WAITING }, (_, index) => slow.ask(`w${index}.example`));
  assert.deepEqual(await slow.ask("more.example"), { code: CODE.failed, address: null });
  assert.deepEqual(await slow.ask("a.example"), { code: CODE.ok, address: "127.0.0.2" });
  heard.resolve();
  await Promise.all(waiting);
  assert.equal((await slow.ask("more.example")).code, CODE.noName);

  const { ask, reported, time } = ground();
  for (let index = 0; index < MAX_PER_SECOND; index++) assert.equal((await ask(`n${index}.example`)).code, CODE.noName);
  assert.equal((await ask("more.example")).code, CODE.failed);
  assert.equal(reported.length, MAX_PER_SECOND);
  time.ms += 1_000;
  assert.equal((await ask("more.example")).code, CODE.noName);
});

test("messages that cannot be read are answered as such, or not at all", async () => {
  const { resolve, reported } = ground();
  assert.equal(await resolve(new Uint8Array(5)), null);
  assert.equal((await resolve(asking("b.example").subarray(0, 15)))?.[3], 0x80 | CODE.format);
  assert.deepEqual(reported, []);
});
