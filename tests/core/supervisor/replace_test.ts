import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import type { PluginInfo } from "../../../src/core/supervisor/types.ts";
import { changePlugin } from "../../support/fixture_plugins.ts";
import { allGone, isAlive } from "../../support/processes.ts";
import { processesIn } from "../../support/processes_in.ts";
import { type Supervised, supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

const dirOf = (s: Supervised, id: string): string => s.supervisor.plugin(id).dir;

/** Answers a plugin's requests only when the test says so, and tells who asked. */
function heldRequests() {
  const asked: { info: PluginInfo; answer: (value: unknown) => void }[] = [];
  const onRequest = (info: PluginInfo) => new Promise((answer) => asked.push({ info, answer }));
  return {
    onRequest,
    async next() {
      await until(() => asked.length > 0, "a question");
      return asked.shift()!;
    },
  };
}

test("K-070 until the swap every call goes to the old process, then to the new one, and those under way are answered", async () => {
  const requests = heldRequests();
  await using s = await supervised({ onRequest: requests.onRequest });
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const { pid: oldPid } = s.supervisor.plugin(echo);
  const held = s.supervisor.call(echo, "echo.storage", { sql: "SELECT 1" });
  const first = await requests.next();
  await changePlugin(dirOf(s, echo), { manifest: { version: "2.0.0", capabilities: ["kaged:storage:read"] } });

  const replacement = await s.supervisor.replace(echo, { dir: dirOf(s, echo), config: { level: 3 } });
  assert.equal(s.supervisor.plugin(echo).pid, oldPid);
  assert.equal(s.supervisor.plugin(echo).version, "1.0.0");
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), {});
  const gone = replacement.commit();
  const after = s.supervisor.plugin(echo);
  assert.deepEqual([after.version, after.status, after.restarts], ["2.0.0", "running", 0]);
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), { level: 3 });

  assert.ok(await isAlive(oldPid!));
  first.answer("old");
  assert.deepEqual(await held, { result: "old" });
  await gone;
  assert.ok(!await isAlive(oldPid!));
  assert.deepEqual((await s.next("plugin.reloaded")).data, {
    old_version: "1.0.0",
    new_version: "2.0.0",
    capability_diff: { added: ["kaged:storage:read"], removed: [] },
    duration_ms: 0,
  });
  const told = s.types().filter((type) => !type.startsWith("plugin.method"));
  assert.deepEqual(told, [
    "plugin.spawned",
    "plugin.initialized",
    "plugin.spawned",
    "plugin.initialized",
    "plugin.reloaded",
    "plugin.stopped",
  ]);
});

test("K-070 what a process may ask of the host is decided by the manifest it was started from", async () => {
  const requests = heldRequests();
  await using s = await supervised({ onRequest: requests.onRequest });
  const program = `import { ask, reply, serve } from "./wire.js";
    serve({ "fixture.call": async ({ id }) => reply(id, [await ask("a"), await ask("b")].map((it) => it.result)) });`;
  const id = await s.add("no_config", { files: { "index.js": program } });
  await s.supervisor.start(id);
  const held = s.supervisor.call(id, "fixture.call");
  const first = await requests.next();
  await changePlugin(dirOf(s, id), { manifest: { capabilities: ["kaged:storage:read"] } });
  void (await s.supervisor.replace(id)).commit();
  first.answer(1);
  const second = await requests.next();
  assert.deepEqual(second.info.manifest.capabilities, []);
  second.answer(2);
  assert.deepEqual(await held, [1, 2]);
  const late = s.supervisor.call(id, "fixture.call");
  const third = await requests.next();
  assert.deepEqual(third.info.manifest.capabilities, ["kaged:storage:read"]);
  third.answer(3);
  (await requests.next()).answer(4);
  assert.deepEqual(await late, [3, 4]);
});

test("K-070 a process that was replaced has a minute for its calls", async () => {
  const requests = heldRequests();
  await using s = await supervised({ onRequest: requests.onRequest });
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const held = s.supervisor.call(echo, "echo.storage", { sql: "SELECT 1" }, { timeoutMs: 3_600_000 });
  held.catch(() => {});
  await requests.next();
  const gone = (await s.supervisor.replace(echo)).commit();
  await s.pass(60_000);
  await assert.rejects(held, { code: "plugin.unavailable" });
  await gone;
  assert.deepEqual(await s.supervisor.call(echo, "ping"), { status: "ok" });
});

test("K-070 a new process that does not come up changes nothing, and leaves nothing", async () => {
  await using s = await supervised();
  const echo = await s.add("echo", { spec: { config: { level: 1 } } });
  await s.supervisor.start(echo);
  const dir = dirOf(s, echo);
  const { pid } = s.supervisor.plugin(echo);
  const before = (await processesIn(dir)).length;
  for (
    const [program, code] of [["exits_on_initialize", "plugin.unavailable"], ["wrong_name", "initialize.name_mismatch"]]
  ) {
    await changePlugin(dir, { program: program! });
    await assert.rejects(s.supervisor.replace(echo), { code });
    const { data } = await s.next("plugin.reload_failed");
    assert.equal(data.error_code, code);
    assert.deepEqual([s.supervisor.plugin(echo).pid, s.supervisor.plugin(echo).status], [pid, "running"]);
    assert.equal((await processesIn(dir)).length, before);
  }
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), { level: 1 });
  await changePlugin(dir, { manifest: { name: "other" } });
  await assert.rejects(s.supervisor.replace(echo), { code: "manifest.invalid", message: /was "echo" before/ });
  assert.ok(!s.types().includes("plugin.failed"));
});

test("K-070 one reload at a time: a second one is refused until the first is decided", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await assert.rejects(s.supervisor.replace(echo), { code: "plugin.unavailable" });
  await s.supervisor.start(echo);
  const replacement = await s.supervisor.replace(echo);
  await assert.rejects(s.supervisor.replace(echo), { code: "plugin.reloading", http: 409 });
  const reason = new HostError("host.misuse", "Not now");
  await replacement.discard(reason);
  assert.throws(() => replacement.commit(), reason);
  assert.equal((await s.next("plugin.reload_failed")).data.error_message, "Not now");
  await (await s.supervisor.replace(echo)).commit();
  assert.deepEqual(await s.supervisor.call(echo, "ping"), { status: "ok" });
});

test("K-070 when the old process dies while the new one gets ready, the new one takes over", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const replacement = await s.supervisor.replace(echo);
  process.kill(s.supervisor.plugin(echo).pid!, "SIGKILL");
  await s.next("plugin.crashed");
  await s.pass(1_000); // The old one would be started again now; the new one is waited for.
  assert.equal(s.supervisor.plugin(echo).status, "spawning");
  await replacement.commit();
  assert.equal(s.supervisor.plugin(echo).status, "running");
  assert.deepEqual(await s.supervisor.call(echo, "ping"), { status: "ok" });
  await s.supervisor.stop(echo);
  assert.equal(s.types().filter((type) => type === "plugin.spawned").length, 2);
});

test("K-070 a new process that dies before the swap cannot take over, and one that dies after it is restarted", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const first = await s.supervisor.replace(echo);
  await s.next("plugin.spawned");
  const { data: { pid } } = await s.next("plugin.spawned");
  process.kill(pid, "SIGKILL");
  await s.next("plugin.reload_failed");
  assert.equal(first.error?.code, "plugin.unavailable");
  assert.throws(() => first.commit(), { code: "plugin.unavailable" });
  assert.equal(s.supervisor.plugin(echo).status, "running");

  await (await s.supervisor.replace(echo)).commit();
  process.kill(s.supervisor.plugin(echo).pid!, "SIGKILL");
  while (s.supervisor.plugin(echo).status !== "crashed") await s.next("plugin.crashed");
  await s.pass(1_000);
  while (s.supervisor.plugin(echo).status !== "running") await s.next("plugin.initialized");
});

test("K-070 a stop ends the process that gets ready and the one that finishes its calls", async () => {
  const requests = heldRequests();
  await using s = await supervised({ onRequest: requests.onRequest });
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const dir = dirOf(s, echo);
  const held = s.supervisor.call(echo, "echo.storage", { sql: "SELECT 1" });
  const cut = assert.rejects(held, { code: "plugin.unavailable" });
  await requests.next();
  void (await s.supervisor.replace(echo)).commit();
  await changePlugin(dir, { program: "never_initializes" });
  const waiting = s.supervisor.replace(echo);
  const refused = assert.rejects(waiting, { code: "plugin.unavailable" });
  for (let spawned = 0; spawned < 3; spawned++) await s.next("plugin.spawned");
  const pids = await processesIn(dir);
  await s.supervisor.stop(echo);
  await Promise.all([refused, cut, allGone(pids)]);
  assert.equal(s.supervisor.plugin(echo).status, "stopped");
});

test("K-070 config that is turned while a new process gets ready reaches whoever serves then", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const replacement = await s.supervisor.replace(echo);
  const told = s.supervisor.updateConfig(echo, { level: 9 });
  void replacement.commit();
  await told;
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), { level: 9 });
});

test("D-012 an MCP server that was replaced gives its own tools", async () => {
  const listed: string[][] = [];
  await using s = await supervised({ onTools: ({ tools }) => listed.push(tools.map(({ name }) => name)) });
  const id = await s.add("mcp_tools");
  await s.supervisor.start(id);
  const dir = dirOf(s, id);
  const program = `import { mcp, serve, text, tool } from "./wire.js";
    serve(mcp([tool("fresh")], () => text("new")));`;
  await changePlugin(dir, { files: { "index.js": program } });
  const replacement = await s.supervisor.replace(id);
  assert.equal(listed.length, 1);
  await replacement.commit();
  assert.deepEqual(listed[1], ["fresh"]);
  assert.deepEqual(await s.supervisor.call(id, "mcp-tools.fresh"), { content: [{ type: "text", text: "new" }] });
});
