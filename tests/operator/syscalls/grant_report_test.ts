import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observed } from "../../../src/operator/syscalls/read_strace.ts";
import { grantReport, type WatchedRun } from "../../../src/operator/syscalls/grant_report.ts";

const NOTHING: Observed = { paths: [], programs: [], addresses: [], names: [], ports: [] };
const places = { installDir: "/plugin", home: "/srv/kaged", projectDir: "/opt" };
const report = (capabilities: string[], own: Partial<WatchedRun> = {}) =>
  grantReport({
    capabilities,
    places,
    observed: NOTHING,
    net: [],
    texts: [],
    args: "",
    storage: new Set(),
    files: true,
    notes: [],
    existing: new Set(),
    ...own,
  });
const did = (...acts: string[]): Partial<WatchedRun> => ({
  observed: {
    ...NOTHING,
    paths: acts.map((act) => {
      const [access = "read", path = ""] = act.replace("no ", "").split(" ");
      return { access: access as "read" | "write", path, ok: !act.startsWith("no ") };
    }),
  },
});

test("grantReport() drops what was not used, and narrows what was", () => {
  const capabilities = ["write:fs:/data", "read:fs:/other", "write:fs:project:/", "read:fs:config:/notes"];
  const seen = did(
    ...["read /data/in/a", "read /data/in/deep/b", "write /data/out/c", "write /data/out/sub/d"],
    ...["read /opt/src/x", "read /opt/src/y", "read /srv/kaged/files/notes/one", "no read /other/x"],
  );
  const { grants, smallest } = report(capabilities, seen);
  assert.deepEqual(grants.map(({ capability, used }) => [capability, used]), [
    ["write:fs:/data", true],
    ["read:fs:/other", false],
    ["write:fs:project:/", true],
    ["read:fs:config:/notes", true],
  ]);
  assert.deepEqual(smallest, [
    "read:fs:/data/in",
    "write:fs:/data/out",
    "read:fs:project:/src",
    "read:fs:config:/notes/one",
  ]);
});

test("grantReport() names no read of its own where the folder has to be writable anyway", () => {
  const seen = did("write /data/out/c", "read /data/out/c", "read /data/in/a");
  assert.deepEqual(report(["write:fs:/data"], seen).smallest, ["read:fs:/data/in/a", "write:fs:/data/out"]);
});

test("grantReport() never narrows to more than was granted", () => {
  assert.deepEqual(report(["write:fs:/data"], did("write /data")).smallest, ["write:fs:/data"]);
  assert.deepEqual(report(["read:fs:/data"], did("read /data", "read /database")).smallest, ["read:fs:/data"]);
  assert.deepEqual(report(["read:fs:/data"], did("read /data/a", "read /data/b")).smallest, ["read:fs:/data"]);
});

test("grantReport() names hosts and programs, and narrows every port to those that were used", () => {
  const net = [
    { kind: "opened", host: "a.example", port: 443 },
    { kind: "refused", host: "b.example", port: 80, reason: "not-allowed" },
    { kind: "refused", host: "c.example", port: 80, reason: "resolves-to-private" },
  ] as const;
  const observed = { ...NOTHING, programs: ["/usr/bin/jq", "/usr/bin/bash"] };
  const capabilities = ["net:a.example:*", "net:d.example:1", "exec:jq:plugin:/", "exec:cat:plugin:/"];
  const { smallest, denied } = report(capabilities, { net, observed });
  assert.deepEqual(smallest, ["net:a.example:443", "exec:jq:plugin:/"]);
  assert.deepEqual(denied, [
    { kind: "net", what: "b.example:80", capability: "net:b.example:80" },
    { kind: "net", what: "c.example:80", capability: null },
  ]);
});

test("grantReport() names refused requests for what is there on the host, and the grant that would help", () => {
  const seen = did(
    ...["no read /etc/passwd", "no read /absent", "no write /data/new", "no write /plugin/x", "no read /usr/bin/curl"],
    ...["no read /usr/local/bin/curl", "no read /etc/ld.so.preload", "no read /sys/x", "no read /run/x"],
  );
  const existing = new Set(["/etc/passwd", "/data", "/plugin", "/usr/bin/curl", "/run/x"]);
  assert.deepEqual(report([], { ...seen, existing }).denied, [
    { kind: "read", what: "/etc/passwd", capability: "read:fs:/etc/passwd" },
    { kind: "write", what: "/data/new", capability: "write:fs:/data" },
    { kind: "write", what: "/plugin/x", capability: null },
    { kind: "program", what: "curl", capability: "exec:curl:plugin:/" },
    { kind: "read", what: "/run/x", capability: null },
  ]);
});

test("grantReport() names attempts to go past the relay, and not those to servers of the plugin's own", () => {
  const addresses = [
    { address: "1.2.3.4", port: 80, ok: null },
    { address: "127.0.0.1", port: 3128, ok: null },
    { address: "127.0.0.1", port: 5000, ok: null },
    { address: "::1", port: 6000, ok: false },
    { address: "10.0.0.1", port: 53, ok: false },
  ];
  const observed = { ...NOTHING, addresses, ports: [5000] };
  assert.deepEqual(report([], { observed }).denied.map(({ what }) => what), ["1.2.3.4:80", "[::1]:6000"]);
  const all = report(["net:*"], { observed });
  assert.deepEqual([all.denied, all.smallest], [[], ["net:*"]]);
});

test("grantReport() takes the places of granted hosts for those hosts, and names another port of them by their name", () => {
  const addresses = [
    { address: "127.0.0.2", port: 443, ok: null },
    { address: "127.0.0.2", port: 8443, ok: null },
    { address: "127.0.0.1", port: 5432, ok: null },
    { address: "::1", port: 5432, ok: false },
  ];
  const capabilities = ["net:api.example.com:443", "net:localhost:5432"];
  const { denied } = report(capabilities, { observed: { ...NOTHING, addresses } });
  assert.deepEqual(denied, [{ kind: "net", what: "api.example.com:8443", capability: "net:api.example.com:8443" }]);
});

const deniedNet = (capabilities: string[], run: Partial<WatchedRun>) =>
  report(capabilities, run).denied.map(({ what, capability }) => [what, capability]);

test("grantReport() proposes an address as an address: a grant of localhost would not let it through", () => {
  const addresses = [{ address: "127.0.0.1", port: 9211, ok: false }];
  const denied = deniedNet([], { observed: { ...NOTHING, addresses } });
  assert.deepEqual(denied, [["127.0.0.1:9211", "net:127.0.0.1:9211"]]);
});

test("grantReport() names hosts that were looked up in vain, with the port where a text has it", () => {
  const observed = { ...NOTHING, names: ["api.github.com", "db.example.com", "granted.example"] };
  const texts = ["Calling x failed: error sending request for url (https://api.github.com/x): dns error"];
  const expected = [
    ["api.github.com:443", "net:api.github.com:443"],
    ["db.example.com", "net:db.example.com:<port>"],
  ];
  assert.deepEqual(deniedNet(["net:granted.example:1"], { observed, texts }), expected);
  assert.deepEqual(deniedNet(["net:*"], { observed, texts }), []);
  const net = [{ kind: "refused", host: "db.example.com", port: 5432, reason: "not-allowed" } as const];
  assert.deepEqual(deniedNet([], { observed: { ...NOTHING, names: ["db.example.com"] }, net }), [
    ["db.example.com:5432", "net:db.example.com:5432"],
  ]);
});

test("grantReport() completes a host with the URL in the arguments of a call", () => {
  const addresses = [{ address: "127.0.0.1", port: 9211, ok: false }];
  const observed = { ...NOTHING, addresses, names: ["api.github.com"] };
  const args =
    '[{"url":"http://localhost:9211/x"},{"url":"https://api.github.com/user"},{"url":"http://other.example/"}]';
  assert.deepEqual(deniedNet([], { observed, args }).map(([, capability]) => capability), [
    "net:localhost:9211",
    "net:api.github.com:443",
  ]);
});

test("grantReport() takes addresses from texts where strace saw none of them", () => {
  const texts = ["connect ECONNREFUSED 127.0.0.1:9211"];
  assert.deepEqual(deniedNet([], { texts, files: false }), [["127.0.0.1:9211", "net:127.0.0.1:9211"]]);
  assert.deepEqual(deniedNet([], { texts }), []);
});

test("grantReport() keeps what it could not watch", () => {
  const capabilities = ["read:fs:/data", "kaged:storage:write", "net:*", "exec:jq:plugin:/"];
  const { grants, smallest } = report(capabilities, { files: false });
  assert.deepEqual(grants.map(({ used }) => used), [null, false, null, false]);
  assert.deepEqual(smallest, ["read:fs:/data", "net:*"]);
});

test("grantReport() names the access to storage that was asked for", () => {
  const asked = (capabilities: string[], ...storage: ("read" | "write")[]) => {
    const { smallest, denied } = report(capabilities, { storage: new Set(storage) });
    return [smallest, denied.map(({ capability }) => capability)];
  };
  assert.deepEqual(asked(["kaged:storage:write"], "read"), [["kaged:storage:read"], []]);
  assert.deepEqual(asked(["kaged:storage:write"], "read", "write"), [["kaged:storage:write"], []]);
  assert.deepEqual(asked(["kaged:storage:read"], "read", "write"), [["kaged:storage:read"], ["kaged:storage:write"]]);
  assert.deepEqual(asked([], "read"), [[], ["kaged:storage:read"]]);
  assert.deepEqual(asked(["kaged:storage:read"]), [[], []]);
});
