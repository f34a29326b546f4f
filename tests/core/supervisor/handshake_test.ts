import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditType } from "../../../src/core/audit/events.ts";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { isAlive } from "../../support/processes.ts";
import { supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

test("K-007 K-010 a plugin comes alive by initialize, config.update, initialized, in that order", async () => {
  await using s = await supervised();
  const echo = await s.add("echo", { spec: { config: { colour: "red" }, projects: ["music", "homelab"] } });
  await s.supervisor.start(echo);
  assert.equal(s.supervisor.plugin(echo).status, "running");
  assert.deepEqual(await s.supervisor.call(echo, "echo.initialize"), {
    daemon_version: "0.1.0",
    api_version: 1,
    plugin_name: "echo",
    capabilities: [],
    storage_available: false,
    projects: ["music", "homelab"],
  });
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), { colour: "red" });
  assert.deepEqual(await s.supervisor.call(echo, "echo.notifications"), ["initialized"]);
  assert.deepEqual(s.types().slice(0, 2), ["plugin.spawned", "plugin.initialized"]);
});

test("K-061 plugin.spawned and plugin.initialized carry their documented data", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const spawned = await s.next("plugin.spawned");
  assert.equal(spawned.name, "echo");
  assert.equal(spawned.data.version, "1.0.0");
  assert.equal(spawned.data.pid, s.supervisor.plugin(echo).pid);
  assert.match(spawned.data.cage_id, /./);
  const { data } = await s.next("plugin.initialized");
  assert.deepEqual(data, { methods_count: s.supervisor.plugin(echo).methods.length, capabilities_count: 0 });
});

test("K-009 a plugin that never answers initialize is killed after 10 s and tried again", async () => {
  await using s = await supervised();
  const id = await s.add("never_initializes");
  const start = s.supervisor.start(id);
  const { data: { pid } } = await s.next("plugin.spawned");
  await s.pass(10_000);
  await assert.rejects(start, { code: "initialize.timeout" });
  assert.deepEqual((await s.next("plugin.initialize_timeout")).data, { timeout_ms: 10_000 });
  assert.equal(await isAlive(pid), false);
  assert.equal(s.supervisor.plugin(id).status, "crashed");
  await s.pass(1_000);
  await s.next("plugin.spawned");
});

test("a plugin that starts an undeclared program is explained by that program, whether it hangs or ends", async () => {
  await using s = await supervised();
  const hint = /"jq": its cage shows only programs .* Add exec:jq:plugin:\/ to capabilities$/;
  const hangs = await s.add("never_initializes", {
    manifest: { name: "hangs", command: ["bash", "-c", "jq . ; read -t 60 -u 1"] },
  });
  const start = s.supervisor.start(hangs);
  await until(() => s.logs.some(({ line }) => line.includes("not found")), "the complaint of the shell");
  await s.pass(10_000);
  await assert.rejects(start, { code: "initialize.timeout", hint });
  const ends = await s.add("never_initializes", { manifest: { name: "ends", command: ["bash", "-c", "jq ."] } });
  await assert.rejects(s.supervisor.start(ends), { code: "plugin.unavailable", hint });
});

const LIES: [fixture: string, code: string, event: AuditType, data: Record<string, unknown>][] = [
  ["wrong_name", "initialize.name_mismatch", "plugin.name_mismatch", {
    claimed: "somebody-else",
    expected: "wrong-name",
  }],
  ["wrong_version", "initialize.version_mismatch", "plugin.version_mismatch", { claimed: "9.9.9", expected: "1.0.0" }],
  ["wrong_api", "initialize.api_mismatch", "plugin.api_mismatch", { plugin_api_version: 99, host_api_version: 1 }],
  ["overreaches", "initialize.capability_overreach", "plugin.capability_overreach", {
    claimed: ["net:*"],
    allowed: [],
  }],
];
for (const [fixture, code, type, data] of LIES) {
  test(`K-009 K-062 a plugin of the kind ${fixture} is killed, audited as ${type} and not started again`, async () => {
    await using s = await supervised();
    const id = await s.add(fixture);
    await assert.rejects(s.supervisor.start(id), { code });
    const { data: { pid } } = await s.next("plugin.spawned");
    assert.deepEqual((await s.next(type)).data, data);
    assert.equal((await s.next("plugin.failed")).data.error_code, code);
    assert.equal(s.supervisor.plugin(id).status, "failed");
    assert.equal(s.clock.waiting, 0, "no restart waits");
    assert.equal(await isAlive(pid), false);
  });
}

for (
  const [fixture, code] of [["speaks_before_initialize", "protocol.violation"], [
    "malformed_initialize",
    "initialize.malformed",
  ]]
) {
  test(`K-009 a plugin of the kind ${fixture} is killed and audited as a protocol violation`, async () => {
    await using s = await supervised();
    const id = await s.add(fixture!);
    await assert.rejects(s.supervisor.start(id), { code: code! });
    const { data } = await s.next("plugin.protocol_violation");
    assert.match(data.violation_type, /initialize/);
    assert.equal(s.supervisor.plugin(id).status, "failed");
  });
}

test("a plugin that answers initialize with an error goes through backoff", async () => {
  await using s = await supervised();
  const id = await s.add("refuses_initialize");
  await assert.rejects(s.supervisor.start(id), (error: HostError) => {
    assert.equal(error.code, "initialize.refused");
    assert.deepEqual(error.data, { code: -32000, message: "Not today" });
    return true;
  });
  assert.equal(s.supervisor.plugin(id).status, "crashed");
});

for (
  const fixture of ["exits_before_initialize", "exits_on_initialize", "exits_after_initialize", "exits_on_config"]
) {
  test(`K-049 a plugin of the kind ${fixture} crashes with its exit code and is tried again`, async () => {
    await using s = await supervised();
    const id = await s.add(fixture);
    await assert.rejects(s.supervisor.start(id), { code: "plugin.unavailable" });
    const { data } = await s.next("plugin.crashed");
    assert.deepEqual([data.exit_code, data.signal], [3, null]);
    assert.equal(s.supervisor.plugin(id).status, "crashed");
    await s.pass(1_000);
    await s.next("plugin.spawned");
    await s.next("plugin.crashed");
  });
}

test("K-049 a plugin that exits after initialized crashes and is tried again", async () => {
  await using s = await supervised();
  const id = await s.add("exits_after_initialized");
  await s.supervisor.start(id).catch(() => {}); // It may be gone before the handshake is seen to be over.
  assert.equal((await s.next("plugin.crashed")).data.exit_code, 3);
  await s.pass(1_000);
  await s.next("plugin.crashed");
});

test("K-010 K-017 a plugin that refuses its config with -32004 is not started again", async () => {
  await using s = await supervised();
  const id = await s.add("refuses_config", { spec: { config: { preset_dir: 1 } } });
  await assert.rejects(s.supervisor.start(id), { code: "plugin.config_invalid", message: /preset_dir is missing/ });
  const { data } = await s.next("plugin.config_rejected");
  assert.deepEqual(data, { error_code: -32004, error_message: "preset_dir is missing" });
  assert.equal(s.supervisor.plugin(id).status, "failed");
});

test("a plugin that does not know config.update runs, with a warning when it was given config", async () => {
  await using s = await supervised();
  const quiet = await s.add("no_config");
  await s.supervisor.start(quiet);
  assert.ok(!s.types().includes("plugin.config_rejected"));
  const warned = await s.add("no_config", { manifest: { name: "no-config-two" }, spec: { config: { a: 1 } } });
  await s.supervisor.start(warned);
  assert.equal((await s.next("plugin.config_rejected", warned)).data.error_code, -32601);
  assert.deepEqual(await s.supervisor.call(warned, "fixture.call"), { ok: true });
});

test("K-008 methods beyond the manifest are ignored, missing ones are unavailable", async () => {
  await using s = await supervised();
  const id = await s.add("lists_other_methods");
  await s.supervisor.start(id);
  assert.deepEqual((await s.next("plugin.method_unavailable")).data, {
    missing: ["fixture.absent"],
    undeclared: ["fixture.undeclared"],
  });
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { ok: true });
  for (const method of ["fixture.undeclared", "fixture.absent"]) {
    await assert.rejects(s.supervisor.call(id, method), { code: "protocol.method_unknown", rpc: -32601 });
  }
});

test("K-042 a manifest that became invalid disables the plugin for this run", async () => {
  const { writeFile } = await import("node:fs/promises");
  await using s = await supervised();
  const id = await s.add("echo");
  await writeFile(`${s.supervisor.plugin(id).dir}/kaged-plugin.yaml`, "name: echo\n");
  await assert.rejects(s.supervisor.start(id), { code: "manifest.invalid" });
  assert.equal(s.supervisor.plugin(id).status, "disabled");
  assert.deepEqual((await s.next("plugin.disabled")).data, { reason: "invalid manifest" });
});

test("register() refuses a folder without a manifest and a second plugin of one name", async () => {
  await using s = await supervised();
  await assert.rejects(s.supervisor.register({ dir: s.home }), { code: "manifest.missing" });
  await s.add("echo");
  await assert.rejects(s.add("echo"), { code: "plugin.duplicate" });
});
