import assert from "node:assert/strict";
import { test } from "node:test";
import { type FailureTrace, missingGrantHint } from "../../../src/core/cage/missing_grant.ts";
import type { NetRule } from "../../../src/core/cage/net/net_parts.ts";
import { readCapabilities } from "../../../src/core/manifest/capability.ts";

function hint(capabilities: string[], trace: Partial<FailureTrace>): string | null {
  const rules = readCapabilities(capabilities) as NetRule[];
  return missingGrantHint({ rules, text: "", stderr: [], isSilent: false, refused: [], ...trace });
}

const LOOKUP = "getaddrinfo EAI_AGAIN api.github.com";
const ADD = "not granted: add it to capabilities in kaged-plugin.yaml";

test("a failed lookup names the missing grant, of a plugin without any net: too", () => {
  assert.equal(hint([], { text: LOOKUP }), `net:api.github.com:<port> is ${ADD}`);
  assert.equal(hint(["net:[]"], { text: `https://api.github.com/x ${LOOKUP}` }), `net:api.github.com:443 is ${ADD}`);
  assert.equal(hint(["net:a.example:1"], { text: LOOKUP }), `net:api.github.com:<port> is ${ADD}`);
});

test("an address that was asked for is named as an address, the form that works", () => {
  assert.equal(hint([], { text: "connect ECONNREFUSED 127.0.0.1:9211" }), `net:127.0.0.1:9211 is ${ADD}`);
  assert.equal(hint(["net:localhost:9211"], { text: "connect ECONNREFUSED ::1:9211" }), `net:[::1]:9211 is ${ADD}`);
});

test("a URL in the arguments of the call completes the name of a host, and adds none", () => {
  const args = '{"url":"https://api.github.com/user"}';
  assert.equal(hint([], { text: LOOKUP, args }), `net:api.github.com:443 is ${ADD}`);
  const local = { text: "connect ECONNREFUSED 127.0.0.1:9211", args: '{"url":"http://localhost:9211/"}' };
  assert.equal(hint([], local), `net:localhost:9211 is ${ADD}`);
  assert.equal(hint([], { ...local, args: '{"url":"http://localhost/"}' }), `net:127.0.0.1:9211 is ${ADD}`);
  assert.match(hint([], { text: "fetch failed", args }) ?? "", /^The plugin has no network grant/);
  assert.equal(hint([], { text: "The disk is full", args }), null);
});

test("a failure of the network that names nobody says that there is no grant, and nothing where there is one", () => {
  const none = "The plugin has no network grant: add net:<host>:<port> to capabilities in kaged-plugin.yaml";
  assert.equal(hint([], { text: "fetch failed" }), none);
  assert.equal(hint(["net:a.example:1"], { text: "fetch failed" }), null);
  assert.equal(hint([], { text: "The disk is full" }), null);
});

test("a granted host, the whole network and the cage's own addresses give no hint", () => {
  assert.equal(hint(["net:api.github.com:443"], { text: LOOKUP }), null);
  assert.equal(hint(["net:api.github.com:*"], { text: `https://api.github.com/ ${LOOKUP}` }), null);
  assert.equal(hint(["net:*"], { text: LOOKUP }), null);
  const other = hint(["net:api.github.com:80"], { text: `https://api.github.com/ ${LOOKUP}` });
  assert.equal(other, `net:api.github.com:443 is ${ADD}`);
  const gated = ["net:a.example:443"];
  for (const address of ["127.0.0.1:3128", "127.0.0.2:80"]) {
    assert.equal(hint(gated, { text: `connect ECONNREFUSED ${address}` }), null, address);
  }
});

test("stderr counts where the error is of the network or has no text, and not beside another reason", () => {
  const stderr = ["at connect", LOOKUP];
  const named = `net:api.github.com:<port> is ${ADD}`;
  assert.equal(hint([], { text: "fetch failed", stderr }), named);
  assert.equal(hint([], { isSilent: true, stderr }), named);
  assert.equal(hint([], { text: "The disk is full", stderr }), null);
});

test("refusals of the gatekeeper are named by host and port, each grant once, and at most five", () => {
  const refused = (...hosts: string[]): Partial<FailureTrace> => ({
    text: "Status 403",
    refused: hosts.map((host) => ({ host, port: 443, reason: "not-allowed" })),
  });
  const gated = ["net:a.example:443"];
  assert.equal(hint(gated, refused("b.example", "b.example")), `net:b.example:443 is ${ADD}`);
  const many = hint(gated, refused("b", "c", "d", "e", "f", "g"));
  assert.match(many ?? "", /^net:b:443, net:c:443, net:d:443, net:e:443, net:f:443 are not granted: add them /);
});

test("a granted name that leads to a private address is no missing grant of that name", () => {
  const refused = [{ host: "a.example", port: 443, reason: "resolves-to-private" as const }];
  const said = "a.example leads to a private address: grant that address itself where it is meant";
  assert.equal(hint(["net:a.example:443"], { refused }), said);
});
