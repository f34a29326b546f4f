import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import type { McpEvent } from "../../../src/core/mcp/peer.ts";
import { bundledServer } from "../../support/bundled_server.ts";
import { changePlugin } from "../../support/fixture_plugins.ts";
import { type Supervised, supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

const SDK_2 = "tests/fixtures/mcp/modern_server.mjs";

/** The probes so far: the revision each found, and why it is an older one. */
const probes = ({ events }: Supervised) =>
  events.flatMap((event) => event.type === "plugin.mcp_probed" ? [[event.data.protocol, event.data.reason]] : []);

/** What the home says about how servers are greeted. */
async function kept({ home }: Supervised): Promise<string[]> {
  const dir = `${home}/mcp_eras`;
  const names = await readdir(dir).catch(() => []);
  return await Promise.all(names.map((name) => readFile(`${dir}/${name}`, "utf8")));
}

test("N-029 a server of 2026-07-28 alone is probed once, spoken to without a handshake, and remembered", async (t) => {
  const dir = await bundledServer(t, SDK_2, { name: "sdk2", env: { MODE: "modern" } });
  const events: McpEvent[] = [];
  await using s = await supervised({ onMcpEvent: (_, event) => events.push(event) });
  const { instance } = await s.supervisor.register({ dir });
  await s.supervisor.start(instance);
  assert.deepEqual(probes(s), [["2026-07-28", null]]);
  const peer = s.supervisor.mcp(instance);
  assert.deepEqual([peer.info.protocol, peer.info.name, peer.info.instructions], [
    "2026-07-28",
    "sdk2",
    "Served to a modern client",
  ]);
  const call = (tool: string, args = {}) => s.supervisor.call(instance, `sdk2.${tool}`, args);
  assert.deepEqual(await call("add", { a: 40, b: 2 }), {
    content: [{ type: "text", text: "42" }],
    structuredContent: { sum: 42 },
  });
  assert.deepEqual((await peer.readResource("note:1")).contents, [{ uri: "note:1", text: "A note" }]);
  assert.equal((await peer.getPrompt("greet", { who: "Ada" })).messages instanceof Array, true);
  assert.deepEqual(await s.supervisor.call(instance, "ping"), { status: "ok" });
  assert.equal((await peer.resources()).length, 1);
  await call("grow");
  await until(() => events.length > 0, "the event of a changed list");
  assert.deepEqual(events, [{ type: "list_changed", list: "resources" }]);
  assert.equal((await peer.resources()).length, 2);
  await peer.subscribe("note:1");
  await call("touch");
  await until(() => events.length > 1, "the event of a changed resource");
  assert.deepEqual(events[1], { type: "resource_updated", uri: "note:1" });
  assert.deepEqual(await kept(s), ["modern"]);

  await using later = await supervised({ home: s.home });
  await later.supervisor.register({ dir });
  await later.supervisor.start(instance);
  assert.deepEqual(probes(later), []);
  assert.equal(later.supervisor.plugin(instance).mcp?.protocol, "2026-07-28");
  await later.supervisor.stop(instance);
  assert.deepEqual((await later.next("plugin.stopped")).data, { exit_code: 0, signal: null });
  assert.deepEqual(s.types().filter((type) => type.includes("violation") || type.includes("noise")), []);
});

test("N-029 a server of both eras is spoken to in the newer one", async (t) => {
  const dir = await bundledServer(t, SDK_2, { name: "sdk2", env: { MODE: "both" } });
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir });
  await s.supervisor.start(instance);
  assert.equal(s.supervisor.mcp(instance).info.instructions, "Served to a modern client");
});

test("N-029 a server of the older revisions is greeted as they want, whatever it makes of the probe", async () => {
  await using s = await supervised();
  const mute = s.supervisor.start(await s.add("mcp_mute_on_unknown"));
  await s.pass(10_000);
  await mute;
  for (const fixture of ["mcp_tools", "mcp_exits_on_unknown"]) await s.supervisor.start(await s.add(fixture));
  assert.deepEqual(probes(s), [
    [null, "initialize.timeout"],
    [null, "initialize.refused"],
    [null, "plugin.unavailable"],
  ]);
  for (const { mcp, status } of s.supervisor.plugins()) {
    assert.deepEqual([mcp?.protocol, status], ["2025-11-25", "running"]);
  }
  assert.deepEqual(await kept(s), ["legacy", "legacy", "legacy"]);
  assert.equal(s.types().includes("plugin.crashed"), false, "the end of a probe is no crash");
  await s.supervisor.stop("mcp-exits-on-unknown");
  await s.supervisor.start("mcp-exits-on-unknown");
  assert.equal(probes(s).length, 3, "a later start goes straight");
});

test("N-029 a server that answers otherwise than was kept is probed anew, in the same start", async () => {
  await using s = await supervised();
  const instance = await s.add("mcp_tools");
  await s.supervisor.start(instance);
  await s.supervisor.stop(instance);
  await changePlugin(s.supervisor.plugin(instance).dir, { program: "mcp_modern" });
  await s.supervisor.start(instance);
  assert.equal(s.supervisor.plugin(instance).mcp?.protocol, "2026-07-28");
  await s.supervisor.stop(instance);
  await changePlugin(s.supervisor.plugin(instance).dir, { program: "mcp_tools" });
  await s.supervisor.start(instance);
  assert.equal(s.supervisor.plugin(instance).mcp?.protocol, "2025-11-25");
  assert.deepEqual(probes(s), [
    [null, "initialize.refused"],
    ["2026-07-28", null],
    [null, "initialize.refused"],
  ]);
  assert.equal(s.supervisor.plugin(instance).restarts, 0);
});

test("N-029 a verdict in the home that is wrong, or none at all, costs a probe and nothing else", async () => {
  await using s = await supervised();
  const instance = await s.add("mcp_modern");
  await s.supervisor.start(instance);
  const [name] = await readdir(`${s.home}/mcp_eras`);
  for (const [text, found] of [["legacy", 1], ["maybe", 1], ["modern", 0]] as const) {
    await writeFile(`${s.home}/mcp_eras/${name}`, text);
    await using later = await supervised({ home: s.home });
    const { dir } = s.supervisor.plugin(instance);
    await later.supervisor.register({ dir });
    await later.supervisor.start(instance);
    assert.equal(later.supervisor.plugin(instance).mcp?.protocol, "2026-07-28");
    assert.equal(probes(later).length, found, text);
    assert.deepEqual(await kept(s), ["modern"]);
  }
});

test("N-029 the verdict for a large folder that nobody has pinned hangs on its program and packages", async () => {
  await using s = await supervised();
  const files = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`part${at}.txt`, "x"]));
  const instance = await s.add("mcp_tools", { files });
  await s.supervisor.start(instance);
  const { dir } = s.supervisor.plugin(instance);
  for (const [file, found] of [["part1.txt", 0], ["package.json", 1]] as const) {
    await writeFile(`${dir}/${file}`, '{ "type": "module", "private": true }');
    await using later = await supervised({ home: s.home });
    await later.supervisor.register({ dir });
    await later.supervisor.start(instance);
    assert.equal(probes(later).length, found, file);
  }
});

test("N-029 a server that fails its greeting is not remembered, and a stop ends a probe", async () => {
  await using s = await supervised();
  await assert.rejects(s.supervisor.start(await s.add("mcp_dies_in_initialize")), { code: "plugin.unavailable" });
  assert.deepEqual(await kept(s), []);
  const mute = s.supervisor.start(await s.add("mcp_mute_on_unknown"));
  await s.timer(10_000);
  await s.supervisor.stop("mcp-mute-on-unknown");
  await assert.rejects(mute, { code: "plugin.unavailable" });
  assert.equal(s.types("mcp-mute-on-unknown").includes("plugin.spawned"), false);
});
