import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, type AllowPrivate, readTarget } from "../../../src/addons/webhooks/target.ts";
import type { HostError } from "../../../src/core/errors/host_error.ts";

const nobody = () => assert.fail("looked up");

/** Why a URL is refused without a lookup, or null. */
function refusal(url: string, allowPrivate: AllowPrivate = false): string | null {
  try {
    readTarget(url, allowPrivate);
    return null;
  } catch (error) {
    assert.equal((error as HostError).code, "addons.webhook_refused");
    return (error as HostError).message.replace("A webhook cannot go to this URL: ", "");
  }
}

test("T-013 a URL is read as the web reads it", () => {
  assert.deepEqual(readTarget("HTTPS://Hooks.Example:8443/a b?c=d#e", false), {
    origin: "https://hooks.example:8443",
    host: "hooks.example",
    port: 8443,
    isSecure: true,
    authority: "hooks.example:8443",
    path: "/a%20b?c=d",
  });
  assert.equal(readTarget("https://hooks.example.", false).host, "hooks.example");
  assert.equal(readTarget("https://[2606:4700::1111]/", false).authority, "[2606:4700::1111]");
});

test("T-013 every spelling of a private address is refused", () => {
  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "%31%32%37.0.0.1",
    "127。0。0。1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:a9fe:a9fe]",
    "[fc00::1]",
    "[fe80::1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[::127.0.0.1]", // IPv4-compatible.
    "[::ffff:0:7f00:1]", // IPv4-translated.
    "[64:ff9b:1::7f00:1]", // NAT64 of a network's own.
    "[2001:0:7f00:1::]", // Teredo.
    "[fd00:ec2::254]", // A cloud's credentials.
    "[fec0::1]",
    "[2001:db8::1]",
  ];
  for (const host of hosts) {
    assert.equal(refusal(`https://${host}/`), "it leads to this machine or a private network", host);
  }
});

test("T-013 addresses that are no machine's are refused even where private ones are allowed", () => {
  for (const host of ["0.0.0.0", "0", "224.0.0.1", "255.255.255.255", "[::]", "[ff02::1]"]) {
    assert.equal(refusal(`https://${host}/`, true), "it leads to no single machine", host);
  }
});

test("T-013 a target that is no URL of the web, or carries a password, is refused", () => {
  const urls = {
    "it is no URL of the web": [
      "",
      "hooks.example",
      "ftp://hooks.example/",
      "file:///etc/passwd",
      "javascript:1",
      "//a",
    ],
    "it holds a user name or password": ["https://user@hooks.example/", "https://:pass@hooks.example/"],
    "its host is no name and no address": ["https://a_b/", "https://-a-/"],
    "it is not secure": ["http://93.184.216.34/"],
  };
  for (const [problem, texts] of Object.entries(urls)) {
    for (const url of texts) assert.equal(refusal(url), problem, url);
  }
});

test("T-013 a private address is allowed for all, or for the hosts named", () => {
  assert.equal(refusal("http://127.0.0.1:8080/", true), null);
  assert.equal(refusal("http://2130706433/", ["127.0.0.1"]), null);
  assert.equal(refusal("http://127.0.0.2/", ["127.0.0.1"]), "it leads to this machine or a private network");
  assert.equal(refusal("http://[::1]/", ["[::1]"]), null);
});

test("T-013 a name leads only to its public addresses, and to none where all are private", async () => {
  const target = readTarget("https://hooks.example/", false);
  const resolved = (...found: string[]) => addressesOf(target, false, () => Promise.resolve(found));
  assert.deepEqual(await resolved("10.0.0.1", "93.184.216.34", "::1", "2606:4700::1111"), [
    "93.184.216.34",
    "2606:4700::1111",
  ]);
  for (const found of [["127.0.0.1"], ["::ffff:10.0.0.1", "fe80::1%eth0"], ["not an address"]]) {
    await assert.rejects(resolved(...found), { code: "addons.webhook_refused" });
  }
  await assert.rejects(resolved(), { code: "addons.webhook_unreachable" });
});

test("T-013 a name that leads home is allowed where it is named, and then needs no TLS", async () => {
  const local = () => Promise.resolve(["127.0.0.1"]);
  assert.deepEqual(await addressesOf(readTarget("http://localhost/", ["localhost"]), ["localhost"], local), [
    "127.0.0.1",
  ]);
  await assert.rejects(addressesOf(readTarget("http://localhost/", false), false, local), {
    code: "addons.webhook_refused",
    hint: 'Use a public host, or put "localhost" into allowPrivate if this is meant',
  });
  const abroad = () => Promise.resolve(["93.184.216.34"]);
  await assert.rejects(addressesOf(readTarget("http://hooks.example/", true), true, abroad), /it is not secure/);
});

test("an address needs no lookup", async () => {
  assert.deepEqual(await addressesOf(readTarget("https://93.184.216.34/", false), false, nobody), ["93.184.216.34"]);
});

test("no message shows more of a URL than its origin: the rest can be a token", () => {
  assert.throws(() => readTarget("https://127.0.0.1/services/T0K3N", false), (error: Error) => {
    assert.doesNotMatch(JSON.stringify([error.message, { ...error }]), /T0K3N/);
    return true;
  });
});
