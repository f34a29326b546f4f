import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Capability,
  formatCapability,
  parseCapability,
  readCapabilities,
} from "../../../src/core/manifest/capability.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";

const canonical = (input: unknown): string => {
  const result = parseCapability(input);
  return result.ok ? formatCapability(result.capability) : result.problem.code;
};

function assertReadings(readings: readonly (readonly [unknown, string])[]): void {
  for (const [input, expected] of readings) assert.equal(canonical(input), expected, JSON.stringify(input));
}

test("K-043 parseCapability() takes each form of the grammar apart", () => {
  const forms: [string, Capability][] = [
    ["read:fs:/opt/oh-my-pi", { kind: "fs", access: "read", path: "/opt/oh-my-pi" }],
    ["write:fs:/var/lib/ollama/models", { kind: "fs", access: "write", path: "/var/lib/ollama/models" }],
    ["exec:bash:/opt/oh-my-pi", { kind: "exec", binary: "bash", path: "/opt/oh-my-pi" }],
    ["net:api.openai.com:443", { kind: "net", scope: "host", host: "api.openai.com", port: 443 }],
    ["net:localhost:*", { kind: "net", scope: "host", host: "localhost", port: "*" }],
    ["net:*", { kind: "net", scope: "all" }],
    ["net:[]", { kind: "net", scope: "none" }],
    ["kaged:storage:read", { kind: "storage", access: "read" }],
    ["kaged:storage:write", { kind: "storage", access: "write" }],
  ];
  for (const [text, capability] of forms) {
    assert.deepEqual(parseCapability(text), { ok: true, capability });
    assert.equal(formatCapability(capability), text);
  }
});

test("X-02 parseCapability() takes the maps that YAML makes of net entries", () => {
  assertReadings([
    [{ net: [] }, "net:[]"],
    [{ net: ["api.example.com:443"] }, "net:api.example.com:443"],
    [{ net: ["*"] }, "net:*"],
    ["net: []", "net:[]"],
    [{ net: ["a.example:1", "b.example:2"] }, "capability.invalid"],
    [{ net: [443] }, "capability.invalid"],
    [{ net: "a.example:1" }, "capability.invalid"],
    [{ net: [], read: [] }, "capability.invalid"],
    [{}, "capability.invalid"],
    [["net:*"], "capability.invalid"],
    [null, "capability.invalid"],
    [443, "capability.invalid"],
  ]);
});

test("X-05 a path is absolute or under config:/, project:/ or plugin:/", () => {
  assertReadings([
    ["read:fs:config:/memory", "read:fs:config:/memory"],
    ["write:fs:project:/notes", "write:fs:project:/notes"],
    ["exec:jq:plugin:/", "exec:jq:plugin:/"],
    ["read:fs:/", "read:fs:/"],
    ["read:fs:notes", "capability.relative_path"],
    ["read:fs:./notes", "capability.relative_path"],
    ["read:fs:~/notes", "capability.relative_path"],
    ["read:fs:config:memory", "capability.relative_path"],
    ["read:fs:home:/memory", "capability.relative_path"],
    ["read:fs:CONFIG:/memory", "capability.relative_path"],
    ["read:fs: /opt", "capability.relative_path"],
    ["read:fs:", "capability.missing_path"],
    ["exec:jq", "capability.missing_path"],
    ["exec:jq:", "capability.missing_path"],
  ]);
});

test("K-043 a path that names one place in several ways gets one spelling", () => {
  assertReadings([
    ["read:fs:/opt//notes", "read:fs:/opt/notes"],
    ["read:fs:/opt/notes/", "read:fs:/opt/notes"],
    ["read:fs:/opt/./notes/.", "read:fs:/opt/notes"],
    ["read:fs:config://", "read:fs:config:/"],
    ["read:fs://", "read:fs:/"],
    ["exec:bash:/opt/a:b/", "exec:bash:/opt/a:b"],
    ["read:fs:/opt/..notes", "read:fs:/opt/..notes"],
  ]);
});

test("K-043 a path that could name another place than it shows is refused", () => {
  assertReadings([
    ["read:fs:/opt/../etc", "capability.parent_path"],
    ["read:fs:/..", "capability.parent_path"],
    ["read:fs:config:/../local.toml", "capability.parent_path"],
    ["exec:jq:plugin:/..", "capability.parent_path"],
    ...[..."*?[]{}"].map((glob): [string, string] => [`read:fs:/opt/${glob}`, "capability.glob_path"]),
    ["read:fs:/opt/\0", "capability.unprintable_path"],
    ["read:fs:/opt\n/etc", "capability.unprintable_path"],
    ["read:fs:/opt/\u001b[2K", "capability.unprintable_path"],
    ["read:fs:/opt/\u202egnp", "capability.unprintable_path"],
    ["read:fs:/opt/\ud800", "capability.unprintable_path"],
    [`read:fs:/${"é".repeat(2047)}`, `read:fs:/${"é".repeat(2047)}`],
    [`read:fs:/${"é".repeat(2047)}e`, "capability.long_path"],
  ]);
});

test("K-043 a program is a bare name", () => {
  assertReadings([
    ["exec:g++:/opt", "exec:g++:/opt"],
    ["exec:python3.11:/opt", "exec:python3.11:/opt"],
    ["exec:/bin/sh:/opt", "capability.invalid_binary"],
    ["exec:../sh:/opt", "capability.invalid_binary"],
    ["exec:-c:/opt", "capability.invalid_binary"],
    ["exec:.:/opt", "capability.invalid_binary"],
    ["exec::/opt", "capability.invalid_binary"],
    ["exec:sh -c:/opt", "capability.invalid_binary"],
  ]);
});

test("K-043 a host gets one spelling, and a port is a number or all of them", () => {
  assertReadings([
    ["net:API.Example.COM.:443", "net:api.example.com:443"],
    ["net:127.0.0.1:80", "net:127.0.0.1:80"],
    ["net:[::1]:80", "net:[::1]:80"],
    ["net:[0:0::0:1]:*", "net:[::1]:*"],
    ["net:[::ffff:127.0.0.1]:80", "net:127.0.0.1:80"],
    ["net:example.com:65535", "net:example.com:65535"],
    ["net:example.com:65536", "capability.invalid_port"],
    ["net:example.com:0", "capability.invalid_port"],
    ["net:example.com:0443", "capability.invalid_port"],
    ["net:example.com:+1", "capability.invalid_port"],
    ["net:example.com:https", "capability.invalid_port"],
    ["net:example.com:", "capability.invalid_port"],
    ["net:example.com", "capability.invalid_port"],
    ["net:[::1]", "capability.invalid_port"],
    ["net:127.1:80", "capability.invalid_host"],
    ["net:user@example.com:80", "capability.invalid_host"],
    ["net:*.example.com:80", "capability.invalid_host"],
    ["net:*:80", "capability.invalid_host"],
    ["net::80", "capability.invalid_host"],
    ["net:", "capability.invalid_host"],
  ]);
});

test("K-043 anything else is no capability", () => {
  assertReadings([
    ["", "capability.unknown"],
    ["read:fs", "capability.unknown"],
    ["READ:fs:/opt", "capability.unknown"],
    [" read:fs:/opt", "capability.unknown"],
    ["kaged:storage", "capability.unknown"],
    ["kaged:storage:admin", "capability.unknown"],
    ["kaged:storage:write ", "capability.unknown"],
    ["env:HOME", "capability.unknown"],
  ]);
});

test("parseCapability() says what to write instead", () => {
  const hint = (input: unknown) => {
    const result = parseCapability(input);
    return result.ok ? null : result.problem.hint;
  };
  assert.equal(hint("red:fs:/opt"), 'Did you mean "read:fs:"?');
  assert.equal(hint({ net: "api.example.com:443" }), 'Leave out the space: "net:api.example.com:443"');
  assert.equal(hint({ net: "a.example:1", read: "x" }), "See the capabilities guide");
  assert.equal(hint(["net:*"]), "See the capabilities guide");
  assert.equal(hint("read:fs:config:memory"), "Write config:/memory");
  assert.equal(hint("net:example.com"), "Write net:example.com:443, or net:example.com:* for every port");
});

test("a refused capability cannot write on the screen it is shown on", () => {
  const result = parseCapability("read:fs:/\u001b[31m\u202e");
  assert.ok(!result.ok);
  assert.equal(result.problem.message, 'The path holds an unprintable character: "/\\u001b[31m\\u202e"');
});

test("readCapabilities() reads a checked list, and throws capability.invalid for any other", () => {
  assert.deepEqual(readCapabilities(["net:*", "kaged:storage:read"]), [
    { kind: "net", scope: "all" },
    { kind: "storage", access: "read" },
  ]);
  const isInvalid = (error: unknown) =>
    error instanceof HostError && error.code === "capability.invalid" && error.hint === "Write the path it leads to";
  assert.throws(() => readCapabilities(["read:fs:/opt/../etc"]), isInvalid);
});
