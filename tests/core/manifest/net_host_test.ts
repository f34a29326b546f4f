import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalHost } from "../../../src/core/manifest/net_host.ts";
import fc from "../../support/fast_check.ts";

test("canonicalHost() gives each host one spelling", () => {
  const spellings: [string, string][] = [
    ["Example.COM", "example.com"],
    ["example.com.", "example.com"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["localhost", "localhost"],
    ["1password.com", "1password.com"],
    ["3.example", "3.example"],
    ["255.255.255.255", "255.255.255.255"],
    ["[2001:DB8:0:0:0:0:0:1]", "[2001:db8::1]"],
    ["[::FFFF:10.0.0.1]", "10.0.0.1"],
    ["[::ffff:a00:1]", "10.0.0.1"],
    [`${"a".repeat(63)}.example`, `${"a".repeat(63)}.example`],
  ];
  const longest = `${"a.".repeat(124)}abcde`;
  assert.equal(canonicalHost(`${longest}.`), longest);
  for (const [text, host] of spellings) assert.equal(canonicalHost(text), host);
});

test("canonicalHost() refuses what another program could read as another host", () => {
  const refused = [
    ...["127.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.0.0.01", "256.1.1.1"],
    ...["1.2.3.4.5", "1.2.3.4.", "127.0.0.1.5", "example.0x", "example.1", "a.0x7f"],
    ...["[fe80::1%eth0]", "[::1", "::1", "[::1]x", "[:::1]", "[]", "[g::1]", "[1.2.3.4]"],
    ...["user@example.com", "example.com/x", "example.com#x", "exa mple.com", "example.com\0", "example..com"],
    ...["-a.example", "a-.example", "a_b.example", "*.example.com", "*", "", ".", ".example", "bücher.example"],
    ...[
      "\u212aelvin.example",
      "ⅼocalhost",
      "example。com",
      "ex%61mple.com",
      "http://example.com",
      `${"a".repeat(64)}.example`,
    ],
    `${"a.".repeat(124)}abcdef`,
  ];
  for (const text of refused) assert.equal(canonicalHost(text), null, text);
});

test("canonicalHost() changes nothing about a host it has made canonical, and agrees with URL parsers", () => {
  const text = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6().map((ip) => `[${ip}]`), fc.string({ unit: "binary-ascii" }));
  fc.assert(fc.property(text, (text) => {
    const host = canonicalHost(text);
    if (host === null) return;
    assert.equal(canonicalHost(host), host);
    assert.equal(new URL(`http://${host}/`).hostname, host);
  }));
});
