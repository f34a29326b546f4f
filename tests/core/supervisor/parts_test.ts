import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { createAudit } from "../../../src/core/audit/audit.ts";
import type { AuditEvent } from "../../../src/core/audit/events.ts";
import { stderrTail } from "../../../src/core/cage/stderr_tail.ts";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import type { Manifest } from "../../../src/core/manifest/manifest.ts";
import { checkInitializeResult, handshakeStep } from "../../../src/core/supervisor/handshake.ts";
import { callContext } from "../../../src/core/supervisor/supervisor.ts";
import { notificationGate } from "../../../src/core/supervisor/wire_audit.ts";
import { createConnection } from "../../../src/core/wire/connection.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const manifest: Manifest = {
  name: "oh-my-pi",
  version: "1.4.2",
  kaged_api: 1,
  description: "Presets",
  command: ["js", "./index.js"],
  env: {},
  capabilities: ["read:fs:/opt/oh-my-pi", "kaged:storage:write"],
  roles: ["observer"],
  hooks: ["on_session_start"],
  tools: [{ name: "preset_list", description: "Lists presets", parameters_schema: { type: "object" } }],
  methods: ["presets.list", "presets.search"],
  notifications: [],
  knobs: {},
  shutdown_timeout_sec: 5,
  health_interval_sec: 30,
  hook_timeout_sec: 10,
};
const answer = { name: "oh-my-pi", version: "1.4.2", api_version: 1, methods: ["presets.list", "presets.search"] };
const refusal = (changes: Record<string, unknown>): string => {
  try {
    checkInitializeResult({ ...answer, ...changes }, manifest);
    return "accepted";
  } catch (error) {
    return (error as HostError).code;
  }
};

test("checkInitializeResult() lets a plugin repeat a host that the operator added, as initialize listed it", () => {
  const added = ["net:added.example:443"];
  const granted = { ...manifest, capabilities: [...manifest.capabilities, ...added], added };
  assert.doesNotThrow(() => checkInitializeResult({ ...answer, capabilities_used: granted.capabilities }, granted));
  assert.throws(() => checkInitializeResult({ ...answer, capabilities_used: added }, manifest), {
    code: "initialize.capability_overreach",
  });
});

test("K-008 checkInitializeResult() makes declared methods, tools and hooks callable", () => {
  const profile = checkInitializeResult({ ...answer, features: ["cancel"], notifications: ["a.b"] }, manifest);
  assert.deepEqual(profile, {
    callable: new Set(["presets.list", "presets.search", "oh-my-pi.preset_list", "kaged.hook.on_session_start"]),
    methods: ["presets.list", "presets.search"],
    features: ["cancel"],
    missing: [],
    undeclared: [],
    configIgnored: false,
  });
});

test("K-008 checkInitializeResult() ignores extra methods and marks missing ones unavailable", () => {
  const methods = ["presets.list", "secret.door", "oh-my-pi.preset_list"];
  const { callable, missing, undeclared } = checkInitializeResult({ ...answer, methods }, manifest);
  assert.deepEqual({ missing, undeclared }, { missing: ["presets.search"], undeclared: ["secret.door"] });
  assert.ok(!callable.has("secret.door") && !callable.has("presets.search"));
});

test("K-009 checkInitializeResult() refuses each lie by its own code", () => {
  assert.equal(refusal({}), "accepted");
  assert.equal(refusal({ name: "oh-my-pie" }), "initialize.name_mismatch");
  assert.equal(refusal({ version: "1.4.3" }), "initialize.version_mismatch");
  assert.equal(refusal({ api_version: 99 }), "initialize.api_mismatch");
  assert.equal(refusal({ capabilities_used: ["net:*"] }), "initialize.capability_overreach");
  assert.equal(refusal({ capabilities_used: ["not a capability"] }), "initialize.capability_overreach");
});

test("K-008 checkInitializeResult() accepts fewer capabilities than declared", () => {
  assert.equal(refusal({ capabilities_used: [] }), "accepted");
  assert.equal(refusal({ capabilities_used: ["kaged:storage:read"] }), "accepted");
});

test("K-009 checkInitializeResult() calls anything else malformed", () => {
  for (const value of [null, undefined, 1, "x", [], true]) {
    assert.throws(() => checkInitializeResult(value, manifest), { code: "initialize.malformed" });
  }
  for (const changes of [{ name: 1 }, { version: null }, { api_version: "1" }, { api_version: 1.5 }]) {
    assert.equal(refusal(changes), "initialize.malformed");
  }
  for (const field of ["methods", "notifications", "capabilities_used", "features"]) {
    assert.equal(refusal({ [field]: "presets.list" }), "initialize.malformed");
    assert.equal(refusal({ [field]: [1] }), "initialize.malformed");
  }
});

test("K-009 handshakeStep() names the time that the step had", async () => {
  const clock = createFakeClock();
  const { bytes } = await detectRuntime();
  const wire = { write() {}, bufferedBytes: () => 0, pause() {}, resume() {} };
  const listeners = { onRequest: () => null, onNotification() {}, onIrregularity() {} };
  const connection = createConnection({ ...listeners, clock, bytes, wire });
  const step = handshakeStep(connection, "tools/list", {}, 250);
  clock.advance(250);
  await assert.rejects(step, {
    code: "initialize.timeout",
    message: 'No answer to "tools/list" within 250 ms',
    data: { timeout_ms: 250 },
  });
});

const defaults = { operatorId: () => "operator", requestId: () => "req_1" };

test("K-015 callContext() fills in a call of the host itself", () => {
  assert.deepEqual(callContext({}, defaults), {
    operator_id: "operator",
    project_id: null,
    agent_path: null,
    session_id: null,
    request_id: "req_1",
  });
});

test("K-015 callContext() keeps what an agent run sets", () => {
  const run = { operator_id: null, project_id: "music", agent_path: "primary", session_id: "ses_1", request_id: "r" };
  assert.deepEqual(callContext({ ...run, traceparent: "00-1-2-01" }, defaults), { ...run, traceparent: "00-1-2-01" });
});

test("K-015 callContext() throws on every half-set context", () => {
  const fields = { project_id: "music", agent_path: "primary", session_id: "ses_1" };
  for (let mask = 1; mask < 7; mask++) {
    const half = Object.fromEntries(Object.entries(fields).filter((_, bit) => mask & (1 << bit)));
    assert.throws(() => callContext(half, defaults), { code: "plugin.context_partial" }, JSON.stringify(half));
  }
});

test("K-003 stderrTail() gives whole lines, whatever the chunks", () => {
  const lines: string[] = [];
  const tail = stderrTail((line) => lines.push(line));
  for (const byte of bytes("ä first\r\nsecond\n\nlast")) tail.receive(new Uint8Array([byte]));
  tail.end();
  assert.deepEqual(lines, ["ä first", "second", "", "last"]);
});

test("K-003 stderrTail() keeps the last 50 lines", () => {
  const tail = stderrTail(() => {});
  for (let number = 1; number <= 60; number++) tail.receive(bytes(`${number}\n`));
  assert.deepEqual(tail.lines(), Array.from({ length: 50 }, (_, index) => String(index + 11)));
});

test("stderrTail() caps a line and says so", () => {
  const lines: string[] = [];
  const tail = stderrTail((line) => lines.push(line), 4);
  tail.receive(bytes("abc"));
  tail.receive(bytes("defgh"));
  tail.receive(bytes("ijk\nabcd\n"));
  assert.deepEqual(lines, ["abcd …", "abcd"]);
});

test("K-016 notificationGate() drops what exceeds the limit of a second and audits it once", () => {
  const clock = createFakeClock();
  const events: AuditEvent[] = [];
  const audit = createAudit({ clock, sinks: [{ write: (event) => void events.push(event) }] });
  let floods = 0;
  const isTaken = notificationGate({ audit, subject: { name: "a", instance: "a" }, clock }, () => floods++);
  const takenOf = (count: number) => Array.from({ length: count }, isTaken).filter((taken) => taken).length;
  assert.deepEqual([takenOf(100), takenOf(1), takenOf(2), floods], [100, 0, 0, 1]);
  assert.deepEqual(events.map(({ type, data }) => [type, data]), [["plugin.notification_flood", { rate: 101 }]]);
  clock.advance(1000);
  assert.deepEqual([takenOf(103), floods, events.length], [100, 2, 2]);
});
