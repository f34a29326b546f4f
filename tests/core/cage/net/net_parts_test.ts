import assert from "node:assert/strict";
import { test } from "node:test";
import { type NetRule, proxyEnv, standInNames, standIns } from "../../../../src/core/cage/net/net_parts.ts";
import { readCapabilities } from "../../../../src/core/manifest/capability.ts";

const rulesOf = (...hosts: string[]): NetRule[] =>
  readCapabilities(hosts.map((host) => `net:${host}`)).filter((asked): asked is NetRule => asked.kind === "net");
/** Places as text, and the list of hosts that clients reach past the proxy. */
const seen = (hosts: string[], hasLowPorts = true): { places: string[]; past: string | undefined } => {
  const direct = standIns(rulesOf(...hosts), hasLowPorts);
  const places = direct.map(({ address, port, host }) => `${address}:${port} ${host}`);
  return { places, past: proxyEnv(rulesOf(...hosts), direct).NO_PROXY };
};

test("each granted name has an address of its own, with its ports", () => {
  assert.deepEqual(seen(["a.example:443", "b.example:6379", "a.example:8443"]), {
    places: [
      ...["127.0.0.2:443 a.example", "127.0.0.2:8443 a.example", "127.0.0.3:6379 b.example"],
    ],
    past: "a.example,b.example",
  });
  const many = standIns(rulesOf(...Array.from({ length: 300 }, (_, i) => `h${i}.example:443`)), true);
  assert.equal(new Set(many.map(({ address }) => address)).size, 300);
  assert.ok(many.every(({ address }) => /^127\.0\.[01]\.\d+$/.test(address) && address !== "127.0.0.1"));
});

test("this machine's loopback stands for itself, and only on the ports that were granted", () => {
  assert.deepEqual(seen(["localhost:5432", "127.0.0.1:9200", "[::1]:9300"]), {
    places: [
      ...["127.0.0.1:5432 localhost", "::1:5432 localhost", "127.0.0.1:9200 127.0.0.1", "::1:9300 [::1]"],
    ],
    past: "localhost,127.0.0.1,::1",
  });
  // That place is the proxy's own.
  assert.deepEqual(seen(["127.0.0.1:3128"]), { places: [], past: "" });
});

test("a host with a rule for every port is left to the proxy, and so are addresses in a network that is bubblewrap's", () => {
  const rules = ["a.example:*", "a.example:443", "10.0.0.7:443", "[2001:db8::1]:5432"];
  assert.deepEqual(seen(rules, false), { places: [], past: "" });
  assert.deepEqual(seen(rules), {
    places: ["10.0.0.7:443 10.0.0.7", "2001:db8::1:5432 [2001:db8::1]"],
    past: "10.0.0.7,2001:db8::1",
  });
});

test("where low ports cannot be listened on, the others still are, and a host with both keeps the proxy", () => {
  assert.deepEqual(seen(["a.example:443", "a.example:9200", "b.example:6379"], false), {
    places: ["127.0.0.2:9200 a.example", "127.0.0.3:6379 b.example"],
    past: "b.example",
  });
});

test("the names of a cage are those granted, each once, and no address", () => {
  const direct = standIns(rulesOf("a.example:443", "a.example:8443", "localhost:80", "127.0.0.1:81"), true);
  assert.deepEqual(standInNames(direct), { "a.example": "127.0.0.2" });
  assert.deepEqual([standIns(rulesOf("*"), true), standIns([], true)], [[], []]);
  // With the whole network nothing stands in for a host, and no program is sent to a proxy.
  const all = rulesOf("*", "a.example:443");
  assert.deepEqual([standIns(all, true), proxyEnv(all, []), proxyEnv([], [])], [[], {}, {}]);
});
