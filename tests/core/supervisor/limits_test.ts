import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { readGroups } from "../../../src/core/cage/launcher.ts";
import { chooseTier } from "../../../src/core/cage/limits/choose_tier.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

const runtime = await detectRuntime();
const isGrouped = async (): Promise<boolean> => ["cgroup2", "cgroup1"].includes((await chooseTier(runtime)).tier.name);

test("K-044 a plugin's limits and the way they are enforced are shown while it runs", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  assert.equal(s.supervisor.plugin(echo).cage, null);
  await s.supervisor.start(echo);
  const { tier } = await chooseTier(runtime);
  const { cage } = s.supervisor.plugin(echo);
  assert.deepEqual(cage?.limits, { tier: tier.name, memory_mb: 512, cpu_shares: 256, pids: 100 });
  const spawned = s.events.find((event) => event.type === "plugin.spawned");
  assert.equal(cage?.id, spawned?.data.cage_id);
  await s.supervisor.stop(echo);
  assert.equal(s.supervisor.plugin(echo).cage, null);
});

test("K-044 the operator sets limits for all plugins and for one by its name", async () => {
  await using s = await supervised({
    limits: { memory_mb: 300, pids: 60 },
    pluginLimits: { special: { memory_mb: 400 }, other: { pids: 9 } },
  });
  const [usual, special] = [await s.add("echo"), await s.add("echo", { manifest: { name: "special" } })];
  await s.supervisor.startAll();
  const limitsOf = (id: string) => {
    const { memory_mb, cpu_shares, pids } = s.supervisor.plugin(id).cage!.limits;
    return [memory_mb, cpu_shares, pids];
  };
  assert.deepEqual([limitsOf(usual), limitsOf(special)], [[300, 256, 60], [400, 256, 60]]);
});

test("K-044 a plugin has its share of the processor from the moment it runs", async (t) => {
  if (!await requireOrSkip(t, "control groups this user may make", isGrouped, "run the tests as root")) return;
  await using s = await supervised({ limits: { cpu_shares: 512 } });
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  // Beside the cage's folder there may be that of the launcher which waits for the next start.
  const cage = (await readdir(`${s.home}/run`)).find((name) => name.startsWith("cage-"));
  const groups = await readGroups(`${s.home}/run/${cage}`, runtime.files);
  const paths = groups.flatMap((group) => [`${group}/cpu.shares`, `${group}/cpu.weight`]);
  const shares = (): Promise<string[]> =>
    Promise.all(paths.map((path) => runtime.files.readText(path).then((text) => text.trim(), () => "")));
  await until(
    async () => (await shares()).some((share) => share === "512" || share === "50"),
    "the new shares of the processor",
  );
});

test("a limit that makes no sense fails the plugin at once", async () => {
  await using s = await supervised({ pluginLimits: { echo: { memory_mb: -1 } } });
  const echo = await s.add("echo");
  await assert.rejects(s.supervisor.start(echo), { code: "cage.limit_invalid" });
  assert.equal(s.supervisor.plugin(echo).status, "failed");
});

test("K-049 a plugin that was ended for its memory says so in plugin.crashed, and is started again", async (t) => {
  if (!await requireOrSkip(t, "control groups this user may make", isGrouped, "run the tests as root")) return;
  await using s = await supervised({ limits: { memory_mb: 256 } });
  const hog = await s.add("takes_memory");
  await s.supervisor.start(hog);
  await assert.rejects(s.supervisor.call(hog, "fixture.call", { mib: 480 }), {
    code: "plugin.memory_exceeded",
    message: /^\[BLOCKED\]/,
  });
  const { data } = await s.next("plugin.crashed", hog);
  assert.equal(data.reason, "plugin.memory_exceeded");
  await s.pass(1_000);
  await s.next("plugin.initialized", hog); // The first start's.
  await s.next("plugin.initialized", hog);
  assert.deepEqual(await s.supervisor.call(hog, "fixture.call", { mib: 16 }), { mib: 16 });
});

test("a stop, a forced stop and a crash leave no run folder and no control group behind", async () => {
  await using s = await supervised();
  const plugins = [
    await s.add("echo"),
    await s.add("ignores_sigterm", { manifest: { shutdown_timeout_sec: 1 } }),
    await s.add("crashes_on_call"),
  ];
  await s.supervisor.startAll();
  const run = `${s.home}/run`;
  const cages = (await readdir(run)).filter((name) => name.startsWith("cage-"));
  assert.equal(cages.length, plugins.length);
  const groups = (await Promise.all(cages.map((cage) => readGroups(`${run}/${cage}`, runtime.files)))).flat();
  await assert.rejects(s.supervisor.call(plugins[2]!, "fixture.call"));
  const stopped = s.supervisor.stopAll();
  await s.pass(1_000);
  await s.pass(2_000);
  await stopped;
  assert.deepEqual(await readdir(run), []);
  for (const group of groups) assert.equal(await runtime.files.info(group), null, group);
});
