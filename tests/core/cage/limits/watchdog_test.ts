import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { heldBytes, treeUsage } from "../../../../src/core/cage/limits/tree_usage.ts";
import { LOOK_INTERVAL_MS, nextLookMs, startWatchdog } from "../../../../src/core/cage/limits/watchdog.ts";
import type { FileInfo, Files, Signal } from "../../../../src/core/ports/ports.ts";
import { createFakeClock } from "../../../support/fake_clock.ts";
import { until } from "../../../support/until.ts";

const { files } = await detectRuntime();
const MIB = 1024 * 1024;
const LIMITS = { memory_mb: 64, cpu_shares: 256, pids: 10 };

interface FakeProcess {
  readonly rss: number;
  readonly pss?: number;
  readonly threads?: number;
  readonly children?: readonly number[];
  /** Text of the link of each descriptor. */
  readonly open?: readonly string[];
  /** Lines of its maps, each with an inode and a path. */
  readonly maps?: readonly string[];
}

/** Memory of each path that leads to a file, in MiB, and its inode. */
type FakeSizes = Readonly<Record<string, readonly [mib: number, ino: number]>>;

/** Files that show `/proc` with these processes: sizes in MiB, all children of the last thread. */
function procOf(tree: Readonly<Record<number, FakeProcess>>, sizes: FakeSizes = {}, shmem = 9999): Files {
  const kib = (mib: number): number => mib * 1024;
  const text = (path: string): string | null => {
    if (path === "/proc/meminfo") return `MemTotal: 1 kB\nShmem: ${kib(shmem)} kB\n`;
    const [, pid = "", name = ""] = /^\/proc\/(\d+)\/(.*)$/.exec(path) ?? [];
    const process = tree[Number(pid)];
    if (!process) return null;
    if (name === "status") return `Name:\tx\nRssAnon:\t${kib(process.rss)} kB\nRssFile:\t9999999 kB\nRssShmem:\t0 kB\n`;
    if (name === "smaps_rollup") {
      const { pss } = process;
      return pss === undefined ? null : `Pss:\t9999999 kB\nPss_Anon:\t${kib(pss)} kB\nPss_Shmem:\t0 kB\n`;
    }
    if (name === "maps") return (process.maps ?? []).join("\n");
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
    readLink: (path) => {
      const [, pid, name] = /^\/proc\/(\d+)\/fd\/(\d+)$/.exec(path) ?? [];
      const link = tree[Number(pid)]?.open?.[Number(name)];
      return link === undefined ? missing() : Promise.resolve(link);
    },
    target(path) {
      const [mib, ino] = sizes[path] ?? [];
      if (mib === undefined || ino === undefined) return path.includes("map_files") ? missing() : Promise.resolve(null);
      const size = mib * MIB;
      const info: FileInfo = {
        kind: "file",
        dev: 1,
        ino,
        mode: 0,
        uid: 0,
        size,
        allocatedBytes: size,
        modifiedMs: 0,
        changedMs: 0,
      };
      return Promise.resolve(info);
    },
    usedBytes: (path) => Promise.resolve((sizes[`used ${path}`]?.[0] ?? 0) * MIB),
    list(path) {
      const opener = /^\/proc\/(\d+)\/fd$/.exec(path)?.[1];
      if (opener !== undefined) return Promise.resolve((tree[Number(opener)]?.open ?? []).map((_, fd) => `${fd}`));
      const pid = Number(/^\/proc\/(\d+)\/task$/.exec(path)?.[1]);
      const { threads = 1 } = tree[pid] ?? {};
      return tree[pid] ? Promise.resolve(Array.from({ length: threads }, (_, at) => `${pid + at}`)) : missing();
    },
  };
}

/** Lets the watchdog look once; resolves with what it signalled. */
async function afterOneLook(
  tree: Readonly<Record<number, FakeProcess>>,
  firstPid: () => number | null = () => 100,
  shown: Files = procOf(tree),
) {
  const clock = createFakeClock();
  const signals: [number, Signal][] = [];
  const watchdog = startWatchdog(() => Promise.resolve(firstPid()), LIMITS, {
    clock,
    files: shown,
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
  // Sooner after the first look, which has seen it grow from nothing to near its limit.
  for (const inMs of [LOOK_INTERVAL_MS, 25, LOOK_INTERVAL_MS, LOOK_INTERVAL_MS]) {
    assert.equal(clock.nextInMs, inMs);
    clock.advance(inMs);
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

const MEMFD = "/memfd:x (deleted)";
const mapped = (ino: number, mib: number, path = MEMFD): string =>
  `10000000-${(0x10000000 + mib * MIB).toString(16)} rw-s 00000000 00:01 ${ino}   ${path}`;

test("N-008 memory in a file without a name counts though nobody maps it, once however many hold it", async () => {
  const tree = { 100: { rss: 5, open: ["pipe:[7]", MEMFD], children: [200] }, 200: { rss: 5, open: [MEMFD] } };
  const held = (mib: number) => procOf(tree, { "/proc/100/fd/1": [mib, 3], "/proc/200/fd/0": [mib, 3] });
  assert.equal((await afterOneLook(tree, undefined, held(54))).exceeded, null);
  assert.deepEqual((await afterOneLook(tree, undefined, held(55))).signals, [[100, "SIGKILL"]]);
  const two = procOf(tree, { "/proc/100/fd/1": [30, 3], "/proc/200/fd/0": [30, 4] });
  assert.equal((await afterOneLook(tree, undefined, two)).exceeded, "memory");
});

test("a shared mapping counts by its size, also when its descriptor is closed and its pages are not touched", async () => {
  const tree = { 100: { rss: 5, maps: [mapped(3, 60, "/dev/zero (deleted)"), mapped(4, 1, "/usr/lib/libc.so")] } };
  assert.equal((await afterOneLook(tree)).exceeded, "memory");
  const exact = procOf(tree, { "/proc/100/map_files/10000000-13c00000": [20, 3] });
  assert.equal((await afterOneLook(tree, undefined, exact)).exceeded, null, "where its real size can be seen");
  const large = procOf({ 100: { rss: 5, maps: [mapped(3, 1)] } }, { "/proc/100/map_files/10000000-10100000": [60, 3] });
  assert.equal((await afterOneLook({}, undefined, large)).exceeded, "memory");
  const both = { 100: { rss: 5, open: [MEMFD], maps: [mapped(3, 50)] } };
  assert.equal(
    await heldBytes([100], procOf(both, { "/proc/100/fd/0": [40, 3] })),
    40 * MIB,
    "one file, open and mapped",
  );
});

test("the cage's folders in memory count, with what was unlinked in them; the host's own and files on disk do not", async () => {
  const tree = { 100: { rss: 5, open: ["/tmp/x (deleted)", "/srv/big (deleted)", "/srv/memfd:x"] } };
  const folders: FakeSizes = {
    ...{ "/proc/100/root/tmp": [1, 2], "/proc/100/root/dev/shm": [1, 2] },
    ...{ "used /proc/100/root/tmp": [50, 0], "used /proc/100/root/dev/shm": [10, 0] },
    ...{ "/proc/100/fd/0": [99, 1], "/proc/100/fd/1": [99, 2], "/proc/100/fd/2": [99, 3] },
  };
  assert.equal(await heldBytes([100], procOf(tree, folders)), 60 * MIB);
  assert.equal((await afterOneLook(tree, undefined, procOf(tree, folders))).exceeded, "memory");
  const unbuilt = procOf(tree, { ...folders, "/tmp": [1, 2], "/dev/shm": [1, 2] });
  assert.equal(await heldBytes([100], unbuilt), 0, "a cage that is still being built shows the host's folders");
});

test("nobody's descriptors are read where all memory of the machine in files is within the limit", async () => {
  const tree = { 100: { rss: 5, open: [MEMFD] } };
  const shown = { ...procOf(tree, {}, 59), readLink: () => assert.fail("A descriptor was read") };
  assert.equal((await afterOneLook(tree, undefined, shown)).exceeded, null);
});

test("the next look comes sooner the faster a cage nears its limit, and never before the last one has been slept off", () => {
  const calm = { bytes: 100, grownBytes: 0, sinceMs: 250, tookMs: 2, limitBytes: 500 };
  assert.equal(nextLookMs(calm), LOOK_INTERVAL_MS);
  assert.equal(nextLookMs({ ...calm, grownBytes: -50 }), LOOK_INTERVAL_MS);
  assert.equal(nextLookMs({ ...calm, grownBytes: 1 }), LOOK_INTERVAL_MS);
  assert.equal(nextLookMs({ ...calm, bytes: 300, grownBytes: 200 }), 125, "half of the 250 ms that are left");
  assert.equal(nextLookMs({ ...calm, bytes: 490, grownBytes: 390 }), 25);
  assert.equal(nextLookMs({ ...calm, bytes: 490, grownBytes: 390, tookMs: 900 }), 900);
});

test("treeUsage() reads this very process", async () => {
  const pid = Number(await files.readLink("/proc/self"));
  for (const exact of [false, true]) {
    const { ownBytes, tasks, pids } = await treeUsage(pid, files, exact);
    assert.ok(ownBytes > MIB && tasks >= 1 && pids[0] === pid, `${ownBytes} ${tasks}`);
  }
});
