import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { detectRuntime } from "../../../../../src/adapters/default.ts";
import { createAuthority } from "../../../../../src/core/cage/net/tls/authority.ts";
import { integer, oid, tagged, time } from "../../../../../src/core/cage/net/tls/der.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const runtime = await detectRuntime();

test("an authority signs certificates for names and addresses, valid now and for a year", async () => {
  const authority = await createAuthority(runtime);
  const ca = new X509Certificate(authority.certificate);
  assert.equal(ca.ca, true);
  assert.ok(ca.verify(ca.publicKey));
  const hosts: [string, RegExp][] = [
    ["api.example.com", /^DNS:api\.example\.com$/],
    ["127.0.0.1", /^IP Address:127\.0\.0\.1$/],
    ["[::1]", /^IP Address:(0:0:0:0:0:0:0|:):1$/],
  ];
  for (const [host, named] of hosts) {
    const { certificate, key } = await authority.identityFor(host);
    const leaf = new X509Certificate(certificate);
    assert.match(leaf.subjectAltName ?? "", named);
    assert.ok(leaf.verify(ca.publicKey), host);
    assert.equal(leaf.ca, false);
    assert.match(key, /^-----BEGIN PRIVATE KEY-----\n/);
    const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
    assert.ok(from < runtime.clock.now() && to > runtime.clock.now() + 365 * DAY_MS, leaf.validTo);
  }
});

test("an authority gives one host one identity, and two authorities have no key in common", async () => {
  const [one, two] = await Promise.all([createAuthority(runtime), createAuthority(runtime)]);
  assert.equal(await one.identityFor("a.example"), await one.identityFor("a.example"));
  const [mine, yours] = await Promise.all([one.identityFor("a.example"), two.identityFor("a.example")]);
  assert.notEqual(mine.key, yours.key);
  const ca = new X509Certificate(two.certificate);
  assert.equal(new X509Certificate(mine.certificate).verify(ca.publicKey), false);
});

test("DER is written as X.690 has it: short and long lengths, signs, numbers of many bits, both kinds of time", () => {
  assert.deepEqual([...tagged(4, new Uint8Array(3))], [4, 3, 0, 0, 0]);
  assert.deepEqual([...tagged(4, new Uint8Array(200)).subarray(0, 3)], [4, 0x81, 200]);
  assert.deepEqual([...tagged(4, new Uint8Array(1000)).subarray(0, 4)], [4, 0x82, 3, 0xe8]);
  assert.deepEqual([...integer(Uint8Array.of(0, 0, 5))], [2, 1, 5]);
  assert.deepEqual([...integer(Uint8Array.of(0x80))], [2, 2, 0, 0x80]);
  assert.deepEqual([...integer(Uint8Array.of(0))], [2, 1, 0]);
  assert.deepEqual([...oid("1.2.840.10045.4.3.2")], [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]);
  assert.equal(new TextDecoder().decode(time(Date.UTC(2026, 10, 17, 6, 7, 8)).subarray(2)), "261117060708Z");
  assert.equal(new TextDecoder().decode(time(Date.UTC(2050, 0, 1)).subarray(2)), "20500101000000Z");
});
