import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { LOOK_INTERVAL_MS, startWatchdog } from "../../../../src/core/cage/limits/watchdog.ts";
import { treeUsage } from "../../../../src/core/cage/limits/watchdog.ts";
import type { Files, Signal } from "../../../../src/core/ports/ports.ts";
import { createFakeClock } from "../../../support/fake_clock.ts";
import { until } from "../../../support/until.ts";

const { files } = await detectRuntime();
const LIMITS = { memory_mb: 64, cpu_shares: 256, pids: 10 };

interface FakeProcess {
  readonly rss: number;
  readonly pss?: number;
  readonly threads?: number;
  readonly children?: readonly number[];
}

/** Files that show `/proc` with these processes: sizes in MiB, all children of the last thread. */
function procOf(tree: Readonly<Record<number, FakeProcess>>): Files {
  const kib = (mib: number): number => mib * 1024;
  const text = (path: string): string | null => {
    const [, pid = "", name = ""] = /^\/proc\/(\d+)\/(.*)$/.exec(path) ?? [];
    const process = tree[Number(pid)];
    if (!process) return null;
    if (name === "status") return `Name:\tx\nRssAnon:\t${kib(process.rss)} kB\nRssFile:\t9999999 kB\nRssShmem:\t0 kB\n`;
    if (name === "smaps_rollup") {
      const { pss } = process;
      return pss === undefined ? null : `Pss:\t9999999 kB\nPss_Anon:\t${kib(pss)} kB\nPss_Shmem:\t0 kB\n`;
    }
    const last = Number(pid) + (process.threads ?? 1) - 1;
    return name === `task/${last}/children` ? (process.children ?? []).map((child) => `${child} `).join("") : "";
  };
  const missing = (): Promise<never> => Promise.reject(Object.assign(new Error("ENOENT"), { code: "ENOENT" }));
  return {
    ...files,
    readText: (path) => {
      const found = text(path);
      return found === null ? missing() : Promise.resolve(found);
    },
    list(path) {
      const pid = Number(/^\/proc\/(\d+)\/task$/.exec(path)?.[1]);
      const { threads = 1 } = tree[pid] ?? {};
      return tree[pid] ? Promise.resolve(Array.from({ length: threads }, (_, at) => `${pid + at}`)) : missing();
    },
  };
}

/** Lets the watchdog look once; resolves with what it signalled. */
async function afterOneLook(tree: Readonly<Record<number, FakeProcess>>, firstPid: () => number | null = () => 100) {
  const clock = createFakeClock();
  const signals: [number, Signal][] = [];
  const watchdog = startWatchdog(() => Promise.resolve(firstPid()), LIMITS, {
    clock,
    files: procOf(tree),
    processes: {
      spawn: () => Promise.reject(new Error("Nothing is spawned")),
      signal: (pid, signal) => signals.push([pid, signal]) > 0,
    },
  });
  clock.advance(LOOK_INTERVAL_MS);
  await new Promise(setImmediate); // Nothing here waits for the system.
  watchdog.stop();
  return { exceeded: watchdog.exceeded(), signals, waiting: clock.waiting };
}

test("a tree within its limits is left alone, and looked at again", async () => {
  const clock = createFakeClock();
  const runtime = {
    clock,
    files: procOf({ 100: { rss: 60 } }),
    processes: { spawn: () => Promise.reject(), signal: () => assert.fail() },
  };
  const watchdog = startWatchdog(() => Promise.resolve(100), LIMITS, runtime);
  for (let look = 0; look < 3; look++) {
    assert.equal(clock.nextInMs, LOOK_INTERVAL_MS);
    clock.advance(LOOK_INTERVAL_MS);
    await until(() => clock.waiting > 0, "the next look", "turn");
  }
  watchdog.stop();
  assert.deepEqual([watchdog.exceeded(), clock.waiting], [null, 0]);
});

test("memory counts over all descendants, whatever thread started them", async () => {
  const tree = {
    100: { rss: 10, children: [200, 300] },
    200: { rss: 30, threads: 3, children: [400] },
    300: { rss: 1 },
    400: { rss: 30 },
  };
  const { exceeded, signals } = await afterOneLook(tree);
  assert.deepEqual([exceeded, signals], ["memory", [[100, "SIGKILL"]]]);
});

test("pages that forked processes share count once", async () => {
  const forked = (pss: number) => ({ 100: { rss: 60, pss, children: [200] }, 200: { rss: 60, pss } });
  assert.equal((await afterOneLook(forked(31))).exceeded, null);
  assert.equal((await afterOneLook(forked(33))).exceeded, "memory");
});

test("processes and threads count together", async () => {
  const tree = (threads: number) => ({ 100: { rss: 1, threads, children: [200] }, 200: { rss: 1, threads: 5 } });
  assert.equal((await afterOneLook(tree(5))).exceeded, null);
  assert.deepEqual((await afterOneLook(tree(6))).signals, [[100, "SIGKILL"]]);
  assert.equal((await afterOneLook(tree(6))).exceeded, "pids");
});

test("a cage that ended meanwhile costs no other process its life", async () => {
  const answers = [100, null];
  const { signals } = await afterOneLook({ 100: { rss: 99 } }, () => answers.shift() ?? null);
  assert.deepEqual(signals, []);
  assert.deepEqual((await afterOneLook({}, () => null)).exceeded, null);
});

test("treeUsage() reads this very process", async () => {
  const pid = Number(await files.readLink("/proc/self"));
  for (const exact of [false, true]) {
    const { memoryBytes, tasks } = await treeUsage(pid, files, exact);
    assert.ok(memoryBytes > 1024 * 1024 && tasks >= 1, `${memoryBytes} ${tasks}`);
  }
});
