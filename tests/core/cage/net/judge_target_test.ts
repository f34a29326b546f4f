import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, judgeTarget } from "../../../../src/core/cage/net/judge_target.ts";
import type { HostRule } from "../../../../src/core/cage/net/net_parts.ts";

const rule = (host: string, port: number | "*"): HostRule => ({ kind: "net", scope: "host", host, port });
const RULES = [
  rule("api.example.com", 443),
  rule("files.example.com", "*"),
  rule("10.0.0.5", 80),
  rule("[2001:db8::1]", 80),
  rule("localhost", 8080),
  rule("0.0.0.0", 80),
];
const judge = (host: string, port: number) => judgeTarget(host, port, RULES);

test("K-043 judgeTarget() allows the hosts and ports that rules name, however they are spelt", () => {
  assert.deepEqual(judge("API.Example.Com.", 443), { host: "api.example.com", port: 443, kind: "name" });
  assert.deepEqual(judge("files.example.com", 1), { host: "files.example.com", port: 1, kind: "name" });
  assert.deepEqual(judge("10.0.0.5", 80), { host: "10.0.0.5", port: 80, kind: "literal" });
  assert.deepEqual(judge("[::ffff:10.0.0.5]", 80), { host: "10.0.0.5", port: 80, kind: "literal" });
  assert.deepEqual(judge("[2001:DB8:0::1]", 80), { host: "[2001:db8::1]", port: 80, kind: "literal" });
  assert.deepEqual(judge("localhost", 8080), { host: "localhost", port: 8080, kind: "localhost" });
});

test("judgeTarget() refuses another port, a longer or shorter name, and an address in place of a name", () => {
  const refused: readonly (readonly [string, number])[] = [
    ...[["api.example.com", 80], ["api.example.com", 4430], ["example.com", 443], ["x.api.example.com", 443]] as const,
    ...[["api.example.com.evil.example", 443], ["93.184.216.34", 443], ["127.0.0.1", 8080], ["[::1]", 8080]] as const,
    ...[["[::ffff:127.0.0.1]", 443], ["foo.localhost", 8080]] as const,
  ];
  for (const [host, port] of refused) {
    const judged = judge(host, port);
    assert.equal("refused" in judged && judged.refused, "not-allowed", host);
  }
});

test("judgeTarget() refuses spellings that two programs could read differently", () => {
  const spelt = ["127.1", "0x7f000001", "2130706433", "0177.0.0.1", "api.example.com:443", "api.example.com\0.evil"];
  for (const host of [...spelt, "user@api.example.com", "ａpi.example.com", "", "[fe80::1%1]", "::1"]) {
    const judged = judge(host, 443);
    assert.equal("refused" in judged && judged.refused, "bad-target", host);
  }
  for (const port of [0, -1, 65_536, 1.5, NaN]) {
    const judged = judge("files.example.com", port);
    assert.deepEqual("refused" in judged && [judged.refused, judged.port], ["bad-target", 0], `${port}`);
  }
  const unspecified = judge("0.0.0.0", 80);
  assert.equal("refused" in unspecified && unspecified.refused, "bad-target");
});

test("judgeTarget() shows a host in at most 100 printable characters", () => {
  const judged = judge(`\u001b[31m${"é".repeat(300)}`, 443);
  assert.ok("refused" in judged);
  assert.match(judged.host, /^\?\[31m\?{95}$/);
});

test("addressesOf() drops private answers for a name, and takes a literal and localhost at their word", async () => {
  const resolve = (name: string): Promise<string[]> => Promise.resolve(name === "mixed.example" ? MIXED : PRIVATE);
  const [MIXED, PRIVATE] = [["127.0.0.1", "1.1.1.1", "::1", "2606:4700::1"], ["10.0.0.1", "169.254.169.254"]];
  const name = { port: 80, kind: "name" } as const;
  assert.deepEqual(await addressesOf({ host: "mixed.example", ...name }, resolve), ["1.1.1.1", "2606:4700::1"]);
  assert.deepEqual(await addressesOf({ host: "inner.example", ...name }, resolve), {
    refused: "resolves-to-private",
    host: "inner.example",
    port: 80,
  });
  const absent = await addressesOf(
    { host: "absent.example", ...name },
    () => Promise.reject(new Error("no such name")),
  );
  assert.deepEqual(absent, { refused: "unresolved", host: "absent.example", port: 80 });
  const never = (): Promise<string[]> => assert.fail("nothing to look up");
  assert.deepEqual(await addressesOf({ host: "10.0.0.5", port: 80, kind: "literal" }, never), ["10.0.0.5"]);
  assert.deepEqual(await addressesOf({ host: "[::1]", port: 80, kind: "literal" }, never), ["::1"]);
  assert.deepEqual(await addressesOf({ host: "localhost", port: 80, kind: "localhost" }, never), ["127.0.0.1", "::1"]);
});
