import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { allGone, isAlive, processTree } from "../../support/processes.ts";
import { processesIn } from "../../support/processes_in.ts";
import { type Supervised, supervised } from "../../support/supervised.ts";
import { until, untilSettled } from "../../support/until.ts";

/** Kills a plugin's process from outside and waits until the supervisor has seen it. */
async function murder(s: Supervised, id: string): Promise<void> {
  process.kill(s.supervisor.plugin(id).pid!, "SIGKILL");
  await s.next("plugin.crashed", id);
}

test("K-046 K-047 a plugin sees its identity, its folder as HOME, and nothing of the host's environment", async () => {
  await using s = await supervised({ logLevel: "debug" });
  const manifest = { env: { COLOUR: "red", LANG: "de_DE.UTF-8" } };
  const echo = await s.add("echo", { manifest });
  await s.supervisor.start(echo);
  const env = await s.supervisor.call(echo, "echo.env") as Record<string, string>;
  const { dir } = s.supervisor.plugin(echo);
  assert.deepEqual(
    Object.fromEntries(
      [
        "KAGED_PLUGIN_NAME",
        "KAGED_PLUGIN_DIR",
        "KAGED_API_VERSION",
        "KAGED_LOG_LEVEL",
        "HOME",
        "PATH",
        "LANG",
        "COLOUR",
      ]
        .map((name) => [name, env[name]]),
    ),
    {
      KAGED_PLUGIN_NAME: "echo",
      KAGED_PLUGIN_DIR: dir,
      KAGED_API_VERSION: "1",
      KAGED_LOG_LEVEL: "debug",
      HOME: dir,
      PATH: "/usr/bin:/usr/local/bin",
      LANG: "de_DE.UTF-8",
      COLOUR: "red",
    },
  );
  assert.equal(env.USER, undefined);
});

test("K-045 a plugin runs caged from its first start: /etc/passwd does not exist, its own folder is read-only", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await assert.rejects(s.supervisor.call(echo, "echo.read", { path: "/etc/passwd" }), { data: { code: "ENOENT" } });
  const path = `${s.supervisor.plugin(echo).dir}/new.txt`;
  await assert.rejects(s.supervisor.call(echo, "echo.write", { path, text: "x" }), { data: { code: "EROFS" } });
});

test("K-049 a killed plugin is restarted after 1 s, then 2 s, and answers again", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await s.next("plugin.initialized");
  for (const delayMs of [1_000, 2_000]) {
    await murder(s, echo);
    assert.equal(s.supervisor.plugin(echo).status, "crashed");
    await s.pass(delayMs);
    await s.next("plugin.initialized");
    assert.deepEqual(await s.supervisor.call(echo, "ping"), { status: "ok" });
  }
  assert.equal(s.supervisor.plugin(echo).restarts, 2);
});

test("K-049 K-051 five kills within ten minutes make a plugin failed; enable starts it with a clean slate", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await s.next("plugin.initialized");
  for (const delayMs of [1_000, 2_000, 4_000, 8_000]) {
    await murder(s, echo);
    await s.pass(delayMs);
    await s.next("plugin.initialized");
  }
  await murder(s, echo);
  assert.equal(s.supervisor.plugin(echo).status, "failed");
  assert.equal((await s.next("plugin.failed")).data.total_failures, 5);
  assert.deepEqual((await s.next("plugin.disabled")).data, { reason: "failed" });
  await assert.rejects(s.supervisor.call(echo, "ping"), { code: "plugin.unavailable" });

  await s.supervisor.enable(echo);
  await s.next("plugin.enabled");
  assert.equal(s.supervisor.plugin(echo).status, "running");
  await murder(s, echo);
  assert.equal(s.supervisor.plugin(echo).status, "crashed");
});

test("K-049 K-061 plugin.crashed carries exit code, signal and the last 50 lines of stderr", async () => {
  await using s = await supervised();
  const id = await s.add("crashes_on_call");
  await s.supervisor.start(id);
  await assert.rejects(s.supervisor.call(id, "fixture.call"));
  const { data } = await s.next("plugin.crashed");
  assert.deepEqual([data.exit_code, data.signal], [7, null]);
  assert.deepEqual(data.last_stderr, Array.from({ length: 50 }, (_, index) => `crash line ${index + 11}`));
});

test("K-049 a plugin that exits with 0 unasked is audited as exited and started again", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await assert.rejects(s.supervisor.call(echo, "echo.exit", { code: 0 }));
  assert.equal((await s.next("plugin.exited")).data.exit_code, 0);
  await s.next("plugin.initialized");
  await s.pass(1_000);
  await s.next("plugin.initialized");
});

test("K-048 three missed pings kill a plugin; the first answered one does not count", async () => {
  await using s = await supervised();
  const id = await s.add("stops_pinging");
  await s.supervisor.start(id);
  await s.next("plugin.initialized");
  await s.pass(30_000); // Answered.
  for (const failures of [1, 2, 3]) {
    await s.pass(30_000);
    await s.pass(5_000);
    assert.equal((await s.next("plugin.health_fail")).data.consecutive_failures, failures);
  }
  assert.equal((await s.next("plugin.crashed")).data.reason, "plugin.unavailable");
  await s.pass(1_000);
  await s.next("plugin.initialized");
});

test("K-048 a plugin that is ended for missed pings crashed, however well it ends", async () => {
  await using s = await supervised();
  // The signal does nothing to it, and at the end of its input it exits with 0.
  const heeds = `process.on("SIGTERM", () => {});\nawait import("./pings.js");\n`;
  const pings = await readFile(new URL("../../fixtures/plugins/stops_pinging.js", import.meta.url), "utf8");
  const id = await s.add("stops_pinging", { files: { "index.js": heeds, "pings.js": pings } });
  await s.supervisor.start(id);
  await s.next("plugin.initialized");
  await s.pass(30_000); // Answered.
  for (let failures = 1; failures <= 3; failures++) {
    await s.pass(30_000);
    await s.pass(5_000);
  }
  const { data } = await s.next("plugin.crashed");
  assert.deepEqual([data.exit_code, data.reason], [0, "plugin.unavailable"]);
});

test("K-048 a ping answered with an error counts as missed", async () => {
  await using s = await supervised();
  const id = await s.add("refuses_pings", { manifest: { health_interval_sec: 7 } });
  await s.supervisor.start(id);
  for (const failures of [1, 2, 3]) {
    await s.pass(7_000);
    const { data } = await s.next("plugin.health_fail");
    assert.deepEqual([data.consecutive_failures, data.error], [failures, "Unwell"]);
  }
  await s.next("plugin.crashed");
});

test("K-050 a plugin that heeds shutdown is stopped without a signal", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await s.supervisor.stop(echo);
  assert.deepEqual((await s.next("plugin.stopped")).data, { exit_code: 0, signal: null });
  assert.equal(s.supervisor.plugin(echo).status, "stopped");
  assert.ok(!s.types().includes("plugin.killed") && !s.types().includes("plugin.crashed"));
  assert.equal(s.clock.waiting, 0);
});

test("K-050 a plugin that ignores shutdown gets SIGTERM after its timeout, and its handler runs", async () => {
  await using s = await supervised();
  const id = await s.add("ignores_shutdown", { manifest: { shutdown_timeout_sec: 2 } });
  await s.supervisor.start(id);
  const stop = s.supervisor.stop(id);
  await s.pass(2_000);
  await stop;
  assert.deepEqual((await s.next("plugin.stopped")).data, { exit_code: 0, signal: null });
});

test("K-050 a plugin that ignores shutdown and SIGTERM is killed 2 s later, with all its processes", async () => {
  await using s = await supervised();
  const id = await s.add("ignores_sigterm", { manifest: { shutdown_timeout_sec: 1 } });
  await s.supervisor.start(id);
  const tree = await processTree(s.supervisor.plugin(id).pid!);
  assert.ok(tree.length >= 2, "bwrap and the plugin");
  const stop = s.supervisor.stop(id);
  await s.pass(1_000);
  await s.pass(2_000);
  await stop;
  assert.deepEqual((await s.next("plugin.killed")).data, { reason: "ignored shutdown" });
  assert.ok(!s.types().includes("plugin.stopped"));
  await allGone(tree);
});

test("children a plugin forked, holding its pipes, die with it", async () => {
  await using s = await supervised();
  const id = await s.add("forks_children");
  await s.supervisor.start(id);
  await s.supervisor.call(id, "fixture.call");
  const tree = await processTree(s.supervisor.plugin(id).pid!);
  assert.ok(tree.length >= 3, "bwrap, the plugin and its child");
  await assert.rejects(s.supervisor.call(id, "fixture.exit"), { code: "plugin.unavailable" });
  assert.equal((await s.next("plugin.crashed")).data.exit_code, 3);
  await allGone(tree);
});

test("a plugin that crashed just before it was stopped is still audited as crashed", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const { pid } = s.supervisor.plugin(echo);
  process.kill(pid!, "SIGKILL");
  await allGone([pid!]);
  await s.supervisor.stop(echo);
  assert.ok(s.types().includes("plugin.crashed"));
  assert.ok(!s.types().includes("plugin.stopped"));
});

test("a plugin killed at any moment of its start leaves no process behind", async () => {
  const seen = new Set<number>();
  {
    await using s = await supervised();
    const echo = await s.add("echo");
    for (let turns = 0; turns < 24; turns++) {
      const start = s.supervisor.start(echo).catch(() => {});
      const { data: { pid } } = await s.next("plugin.spawned");
      for (let turn = 0; turn < turns * 4; turn++) await new Promise(setImmediate);
      for (const each of await processTree(pid)) seen.add(each);
      await untilSettled(s.supervisor.stop(echo), "the end of stop()", { meanwhile: () => s.clock.advance(1_000) });
      await start;
    }
  }
  await allGone([...seen]);
});

test("K-051 disable stops a plugin and keeps it down; enable brings it back", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await s.supervisor.disable(echo);
  assert.deepEqual((await s.next("plugin.disabled")).data, { reason: "operator" });
  assert.equal(s.supervisor.plugin(echo).status, "disabled");
  assert.deepEqual(await s.supervisor.startAll(), { running: [], resting: [], failed: [], disabled: [echo] });
  await s.supervisor.enable(echo);
  assert.equal(s.supervisor.plugin(echo).status, "running");
});

test("a plugin that is enabled while it is being disabled runs once, and is known", async () => {
  await using s = await supervised();
  const instance = await s.add("echo");
  const dir = s.supervisor.plugin(instance).dir;
  await s.supervisor.start(instance);
  const changes = [s.supervisor.disable(instance), s.supervisor.enable(instance), s.supervisor.enable(instance)];
  await Promise.all(changes);
  assert.equal(s.supervisor.plugin(instance).status, "running");
  assert.notEqual(s.supervisor.plugin(instance).pid, null);
  await s.supervisor.call(instance, "echo.pid");
  await s.supervisor.stop(instance);
  assert.deepEqual(await processesIn(dir), []);
});

test("of a start and a stop that wait for the same end, the later one counts", async () => {
  await using s = await supervised();
  const instance = await s.add("echo");
  await s.supervisor.start(instance);
  const first = s.supervisor.stop(instance);
  const start = s.supervisor.start(instance);
  const second = s.supervisor.disable(instance);
  await assert.rejects(start, { code: "plugin.unavailable" });
  await Promise.all([first, second]);
  assert.equal(s.supervisor.plugin(instance).status, "disabled");
  assert.deepEqual(await processesIn(s.supervisor.plugin(instance).dir), []);
});

test("disable ends the wait of a crashed plugin", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await murder(s, echo);
  assert.equal(s.clock.waiting, 1);
  await s.supervisor.disable(echo);
  assert.equal(s.clock.waiting, 0);
});

test("stop during the handshake ends the attempt and the process", async () => {
  await using s = await supervised();
  const id = await s.add("never_initializes");
  const start = s.supervisor.start(id);
  const { data: { pid } } = await s.next("plugin.spawned");
  const outcome = assert.rejects(start);
  const stop = s.supervisor.stop(id);
  await s.timer(2_000).then(() => isAlive(pid)).then((alive) => alive && s.clock.advance(2_000));
  await stop;
  await outcome;
  assert.equal(s.supervisor.plugin(id).status, "stopped");
  assert.equal(await isAlive(pid), false);
});

test("K-046 K-064 startAll() starts plugins side by side: bad ones are reported, good ones run", async () => {
  await using s = await supervised();
  const bad = [await s.add("wrong_name"), await s.add("exits_on_initialize"), await s.add("overreaches")];
  const good = [await s.add("echo"), await s.add("answers_twice")];
  const stuck = await s.add("never_initializes");
  const result = s.supervisor.startAll();
  for (const id of good) await s.next("plugin.initialized", id);
  assert.equal(s.supervisor.plugin(stuck).status, "spawning", "the good ones did not wait for it");
  await until(() => s.supervisor.plugin(bad[1]!).status === "crashed", "the crash of the second plugin");
  await s.next("plugin.failed", bad[0]);
  await s.next("plugin.failed", bad[2]);
  s.clock.advance(10_000);
  const { running, failed } = await result;
  assert.deepEqual(running.sort(), [...good].sort());
  assert.deepEqual(failed.map(({ instance }) => instance).sort(), [...bad, stuck].sort());
});

test("a cage's files are gone when its plugin is", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  assert.equal((await readdir(`${s.home}/run`)).filter((name) => name.startsWith("cage-")).length, 1);
  await s.supervisor.stop(echo);
  assert.deepEqual(await readdir(`${s.home}/run`), []);
});

test("K-064 a plugin that SIGKILL ended inside its cage is reported with that signal, and with no exit code", async () => {
  await using s = await supervised();
  const id = await s.add("echo");
  await s.supervisor.start(id);
  // Bubblewrap, its first process inside, and the plugin.
  const inside = (await processTree(s.supervisor.plugin(id).pid!)).at(-1)!;
  process.kill(inside, "SIGKILL");
  const { data: { exit_code, signal, reason } } = await s.next("plugin.crashed");
  assert.deepEqual([exit_code, signal, reason], [null, "SIGKILL", "plugin.unavailable"]);
  assert.equal(s.supervisor.plugin(id).error?.message, '[BLOCKED] Plugin "echo" ended by SIGKILL');
});
