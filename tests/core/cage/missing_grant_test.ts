import assert from "node:assert/strict";
import { test } from "node:test";
import { explainFailure, type Explanation, type FailureTrace } from "../../../src/core/cage/missing_grant.ts";
import type { NetRule } from "../../../src/core/cage/net/net_parts.ts";
import { readCapabilities } from "../../../src/core/manifest/capability.ts";

function explained(capabilities: string[], trace: Partial<FailureTrace>): Explanation {
  const rules = readCapabilities(capabilities) as NetRule[];
  return explainFailure({ rules, text: "", stderr: [], isSilent: false, refused: [], ...trace });
}

function hint(capabilities: string[], trace: Partial<FailureTrace>): string | null {
  return explained(capabilities, trace).hint;
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
  assert.equal(hint(["net:*"], { text: LOOKUP }), null);
  const other = hint(["net:api.github.com:80"], { text: `https://api.github.com/ ${LOOKUP}` });
  assert.equal(other, `net:api.github.com:443 is ${ADD}`);
  const gated = ["net:a.example:443"];
  for (const address of ["127.0.0.1:3128", "127.0.0.2:443", "127.0.0.9:80"]) {
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
    refused: hosts.map((host) => ({ kind: "refused", host, port: 443, reason: "not-allowed" })),
  });
  const gated = ["net:a.example:443"];
  assert.equal(hint(gated, refused("b.example", "b.example")), `net:b.example:443 is ${ADD}`);
  const many = hint(gated, refused("b", "c", "d", "e", "f", "g"));
  assert.match(many ?? "", /^net:b:443, net:c:443, net:d:443, net:e:443, net:f:443 are not granted: add them /);
});

test("a granted name that leads to a private address is no missing grant of that name", () => {
  const refused = [{ kind: "refused", host: "a.example", port: 443, reason: "resolves-to-private" } as const];
  const said = "a.example leads to a private address: grant that address itself where it is meant";
  assert.equal(hint(["net:a.example:443"], { refused }), said);
});

test("another port of a granted name is named by that name, whose address the client was refused at", () => {
  const gated = ["net:a.example:443", "net:b.example:6379"];
  const found = explained(gated, { text: "connect ECONNREFUSED 127.0.0.3:6380" });
  assert.deepEqual(found, { hint: `net:b.example:6380 is ${ADD}`, unseen: [{ host: "b.example", port: 6380 }] });
});

test("a lookup that the gatekeeper refused gets its port from the error or the arguments, and is reported once", () => {
  const gated = ["net:a.example:443"];
  const refused = [
    { kind: "refused", host: "api.github.com", port: 0, reason: "not-allowed", source: "lookup" } as const,
  ];
  const named = `net:api.github.com:443 is ${ADD}`;
  assert.deepEqual(explained(gated, { refused, text: "It failed" }), {
    hint: `net:api.github.com:<port> is ${ADD}`,
    unseen: [],
  });
  const args = '{"url":"https://api.github.com/user"}';
  assert.deepEqual(explained(gated, { refused, text: LOOKUP, args }), { hint: named, unseen: [] });
  const text = `https://api.github.com/x ${LOOKUP}`;
  assert.deepEqual(explained(gated, { refused, text }), { hint: named, unseen: [] });
});

test("hosts that only the text names are told apart from those that the gatekeeper refused", () => {
  const text = "connect ENETUNREACH 192.0.2.7:5432 - Local (0.0.0.0:0)";
  assert.deepEqual(explained([], { text }), {
    hint: `net:192.0.2.7:5432 is ${ADD}`,
    unseen: [{ host: "192.0.2.7", port: 5432 }],
  });
  const refused = [{ kind: "refused", host: "192.0.2.7", port: 5432, reason: "not-allowed" } as const];
  assert.deepEqual(explained(["net:a.example:1"], { text, refused }).unseen, []);
  const many = Array.from({ length: 9 }, (_, port) => `connect ECONNREFUSED 192.0.2.1:${port + 1}`).join(" ");
  assert.equal(explained([], { text: many }).unseen.length, 5);
});

test("a name that was granted for every port and looked up past the proxy is to be granted with its port", () => {
  assert.equal(
    hint(["net:api.github.com:*"], { text: `https://api.github.com/ ${LOOKUP}` }),
    "net:api.github.com:* is for clients that heed HTTPS_PROXY: add net:api.github.com:443, which needs none",
  );
});

test("a request that a rule or a secret held back is the hint of its call, without query and value", () => {
  const gated = ["net:a.example:443"];
  const target = { host: "a.example", port: 443 };
  const request = { kind: "request_refused", ...target, method: "DELETE", path: "/x", reason: "method" } as const;
  assert.equal(
    hint(gated, { text: "Status 403", refused: [request] }),
    "DELETE /x was refused: a net_rule of the operator does not allow DELETE at a.example:443; " +
      "see [[net_rules]] in config.toml",
  );
  const misuse = { kind: "secret_misused", name: "token", host: "b.example", port: 443, reason: "other-host" } as const;
  const bound = "the secret token is not bound to b.example:443; list it under hosts of the secret";
  assert.equal(hint(gated, { text: "Status 403", refused: [misuse] }), bound);
  const both = [misuse, { kind: "refused", host: "b.example", port: 443, reason: "not-allowed" } as const];
  assert.equal(hint(gated, { text: "Status 403", refused: both }), `net:b.example:443 is ${ADD}; ${bound}`);
});
