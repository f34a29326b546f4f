/**
 * A host stops at any moment of its start: nothing it brought up is left, and it can start again.
 *
 * KAGED_STOPS=n tries n random moments in place of a few.
 */
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { HostError } from "@kaged/plugin-host";
import { createHost } from "../../src/create_host.ts";
import type { Host } from "../../src/host/types.ts";
import { createDice } from "../support/chance.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { hosted } from "../support/hosted.ts";
import { processTree } from "../support/processes.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { turn, until, untilSettled } from "../support/until.ts";

const MOMENTS = Number(process.env["KAGED_STOPS"] ?? 25);
const NAMES = ["echo-a", "echo-b", "echo-c"] as const;

type Report = Awaited<ReturnType<Host["start"]>>;

/** A host with three plugins on the real clock, its home, and its processes. */
async function threePlugins(t: Parameters<typeof scratchDir>[0]): Promise<{
  host: Host;
  home: string;
  /** Processes that were not there before the host. */
  left(): Promise<number[]>;
}> {
  const [dir, home] = [await scratchDir(t), await scratchDir(t)];
  const plugins: Record<string, string> = {};
  for (const name of NAMES) {
    const plugin = await fixturePlugin("echo", { manifest: { name } });
    t.after(() => plugin[Symbol.asyncDispose]() as Promise<void>);
    plugins[`@test/${name}`] = plugin.dir;
  }
  const declared = Object.fromEntries(NAMES.map((name) => [name, { package: `@test/${name}` }]));
  await writeFile(join(dir, "project.yaml"), JSON.stringify({ primary: { plugins: declared } }));
  const before = new Set(await processTree(process.pid));
  const host = await createHost({ project: dir, home, plugins, audit: [], onLog: () => {} });
  t.after(() => host.stop());
  const left = async (): Promise<number[]> => (await processTree(process.pid)).filter((pid) => !before.has(pid));
  return { host, home, left };
}

/** Returns how a start ended: its report, or the code it rejected with. */
function outcome(start: Promise<Report>): Promise<Report | string> {
  return start.catch((error) => {
    if (error instanceof HostError) return error.code;
    throw error;
  });
}

async function nothingIsLeft(host: Host, home: string, left: () => Promise<number[]>): Promise<void> {
  assert.deepEqual(await left(), []);
  const files = await readdir(join(home, "run")).catch(() => []);
  assert.deepEqual(files.filter((name) => /^cage-|\.sock$|^socket/.test(name)), []);
  assert.deepEqual(host.plugins("primary").filter(({ state }) => state === "running" || state === "spawning"), []);
}

const MANY = `stop() at ${MOMENTS} random moments of a start ends it with host.stopped and leaves nothing`;
test(MANY, { timeout: 120_000 + MOMENTS * 2_000 }, async (t) => {
  const { host, home, left } = await threePlugins(t);
  const dice = createDice();
  let turns = 0;
  const count = (): void => void turns++;
  const whole = await untilSettled(host.start(), "the end of a start", { step: "turn", meanwhile: count });
  assert.equal(whole.running.length, NAMES.length);
  await host.stop();
  await nothingIsLeft(host, home, left);
  for (let round = 0; round < MOMENTS; round++) {
    const start = outcome(host.start());
    // More often early than late: most of a start's own steps come before its processes are up.
    for (let wait = dice.below(dice.pick([4, 40, turns / 4, turns])); wait > 0; wait--) await turn();
    await untilSettled(host.stop(), `the end of stop() in round ${round}`);
    const end = await untilSettled(start, `the end of start() in round ${round}`);
    assert.ok(end === "host.stopped" || typeof end === "object", `round ${round}: ${JSON.stringify(end)}`);
    await nothingIsLeft(host, home, left);
  }
  const again = await host.start();
  assert.deepEqual([again.running.length, again.failed], [NAMES.length, []]);
  assert.equal(typeof (await host.callMethod("echo-a", "echo.pid") as { pid: number }).pid, "number");
});

test("N-015 stop() before a start has registered its plugins ends it, and the next start runs them all", async (t) => {
  const { host, home, left } = await threePlugins(t);
  const start = outcome(host.start());
  await host.stop();
  assert.equal(await start, "host.stopped");
  await nothingIsLeft(host, home, left);
  const { running, failed } = await host.start();
  assert.deepEqual([running.length, failed], [NAMES.length, []]);
});

test("two starts at once are one, and two stops at once are one", async (t) => {
  const { host, home, left } = await threePlugins(t);
  const [one, other] = await Promise.all([host.start(), host.start()]);
  assert.deepEqual([one.running.length, one.failed, other], [NAMES.length, [], one]);
  await Promise.all([host.stop(), host.stop()]);
  await host.stop();
  await nothingIsLeft(host, home, left);
});

test("a start that is asked for during a stop begins after it, unless another stop comes first", async (t) => {
  const { host, home, left } = await threePlugins(t);
  await host.start();
  const first = host.stop();
  const dropped = outcome(host.start());
  const second = host.stop();
  const wanted = outcome(host.start());
  await Promise.all([first, second]);
  assert.equal(await dropped, "host.stopped");
  assert.deepEqual((await wanted as Report).running.length, NAMES.length);
  await host.stop();
  await nothingIsLeft(host, home, left);
});

test("stop() during the handshake of a plugin that answers nothing takes no longer than its signals", async () => {
  await using h = await hosted({
    primary: { mute: {} },
    fixtures: { "@test/mute": { fixture: "never_initializes", manifest: { name: "mute" } } },
    start: false,
  });
  const start = outcome(h.host.start());
  await h.next("plugin.spawned");
  const stop = h.host.stop();
  // The clock stands still: were it for the clock of the handshake, neither would ever settle.
  await untilSettled(Promise.all([stop, start]), "the end of both", {
    meanwhile: () => h.clock.isDueIn(2_000) && h.clock.advance(2_000),
  });
  assert.equal(await start, "host.stopped");
  assert.deepEqual(h.host.plugins("primary").map(({ state }) => state), ["stopped"]);
  await until(async () => (await readdir(join(h.home, "run"))).every((name) => !name.startsWith("cage-")), "no cage");
});
