import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import type { CagePlaces } from "../../../../src/core/cage/cage.ts";
import { readGroups } from "../../../../src/core/cage/launcher.ts";
import type { CageLimits } from "../../../../src/core/cage/limits/cage_limits.ts";
import { chooseTier } from "../../../../src/core/cage/limits/choose_tier.ts";
import { probeCage } from "../../../../src/core/cage/probe_cage.ts";
import type { Command, FileInfo, Files, Runtime } from "../../../../src/core/ports/ports.ts";
import { type CagedEnd, placesIn, requestOf, startCaged } from "../../../support/cage_requests.ts";
import { requireOrSkip } from "../../../support/require_or_skip.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;
const LIMITS: CageLimits = { memory_mb: 128, cpu_shares: 128, pids: 40 };

/** This machine as it would be without control groups. */
const ungrouped: Runtime = {
  ...runtime,
  files: {
    ...files,
    readText: (path) => /^\/proc\/self\/(mountinfo|cgroup)$/.test(path) ? Promise.resolve("") : files.readText(path),
  },
};

async function ground(t: TestContext): Promise<CagePlaces | null> {
  const places = await placesIn(await scratchDir(t), runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return null;
  const python = async (): Promise<boolean> => await files.target("/usr/bin/python3") !== null;
  return await requireOrSkip(t, "python3", python, "install python3") ? places : null;
}

const grouped = (t: TestContext): Promise<boolean> =>
  requireOrSkip(
    t,
    "control groups this user may make",
    async () => ["cgroup2", "cgroup1"].includes((await chooseTier(runtime)).tier.name),
    "run the tests as root",
  );

/** Runs a Python program in a cage with small limits. */
async function python(
  program: string,
  places: CagePlaces,
  own: Runtime = runtime,
  limits: CageLimits = LIMITS,
): Promise<CagedEnd> {
  const request = { ...requestOf({ command: ["python3", "-c", program] }, places), limits };
  const caged = await startCaged(request, undefined, own);
  return await caged.end();
}

/** Takes memory in steps, twice what it may, then waits to be ended; `map` decides which kind of memory. */
const hog = (map: string): string => `
import mmap, time
held = []
for _ in range(16):
    part = ${map}
    for at in range(0, 16 << 20, 4096): part[at] = 1
    held.append(part)
print("took it all", flush=True)
time.sleep(60)
`;
const PRIVATE = "mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)";
const SHARED = "mmap.mmap(-1, 16 << 20)";

/** Starts 120 children that sleep, and says how many there are; waits to be ended when it got them all. */
const FORKS = `
import os, time
count = 0
try:
    for _ in range(120):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
    time.sleep(60)
except OSError as error:
    print(count, error.strerror, flush=True)
`;

test("a plugin that takes more memory than it may is ended by the kernel, and the end says so", async (t) => {
  const places = await ground(t);
  if (!places || !await grouped(t)) return;
  const { failure, out } = await python(hog(PRIVATE), places);
  assert.deepEqual([failure?.code, out], ["plugin.memory_exceeded", ""]);
  assert.match(failure?.message ?? "", /128 MiB/);
});

test("a plugin stops being able to fork at its limit, and goes on", async (t) => {
  const places = await ground(t);
  if (!places || !await grouped(t)) return;
  const { exit, failure, out } = await python(FORKS, places);
  assert.deepEqual([exit.code, failure], [0, null]);
  const [, count = "", why] = /^(\d+) (.*)\n$/.exec(out) ?? [];
  assert.equal(why, "Resource temporarily unavailable");
  // Bubblewrap's own two and the plugin's first count too.
  assert.ok(Number(count) >= LIMITS.pids - 6 && Number(count) < LIMITS.pids, out);
});

test("a cage is in groups of its own while it runs, with its limits in them, and they go with it", async (t) => {
  const places = await ground(t);
  if (!places || !await grouped(t)) return;
  const request = { ...requestOf({ command: ["bash", "-c", "echo ready; read end"] }, places), limits: LIMITS };
  const caged = await startCaged(request);
  await caged.firstLine();
  const { tier } = await chooseTier(runtime);
  assert.deepEqual(caged.cage.limits, { tier: tier.name, ...LIMITS });
  const groups = await readGroups(caged.cage.command.cwd, files);
  assert.ok(groups.length > 0);
  const pid = await caged.cage.childPid();
  for (const group of groups) {
    assert.ok((await files.readText(`${group}/cgroup.procs`)).split("\n").includes(`${pid}`), group);
  }
  const read = async (name: string): Promise<string[]> => {
    const texts = await Promise.all(groups.map((group) => files.readText(`${group}/${name}`).catch(() => "")));
    return texts.filter((text) => text !== "").map((text) => text.trim());
  };
  const memory = tier.name === "cgroup1" ? "memory.limit_in_bytes" : "memory.max";
  assert.deepEqual([await read(memory), await read("pids.max")], [["134217728"], ["40"]]);
  const share = tier.name === "cgroup1" ? "cpu.shares" : "cpu.weight";
  assert.deepEqual(await read(share), [tier.name === "cgroup1" ? "1024" : "100"]);
  await caged.cage.settle();
  assert.deepEqual(await read(share), [tier.name === "cgroup1" ? "128" : "13"]);
  caged.child.kill("SIGKILL");
  await caged.end();
  await caged.cage.settle(); // Too late, and no failure.
  for (const group of groups) assert.equal(await files.info(group), null, group);
  assert.deepEqual(await files.list(`${places.home}/run`), []);
});

test("a cage whose groups are gone before it joins them is not started", async (t) => {
  const places = await ground(t);
  if (!places || !await grouped(t)) return;
  const request = requestOf({ command: ["bash", "-c", "echo ran"] }, places);
  const caged = await startCaged(request, async ({ command }) => {
    for (const group of await readGroups(command.cwd, files)) await files.removeDir(group);
  });
  const { failure, out } = await caged.end();
  assert.deepEqual([failure?.code, out], ["cage.limits_failed", ""]);
  assert.match(failure?.message ?? "", /control groups/);
});

test("without control groups a watchdog ends a plugin that takes more memory than it may", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const { failure } = await python(hog(SHARED), places, ungrouped);
  assert.equal(failure?.code, "plugin.memory_exceeded");
});

/** Ways to hold 16 MiB that no process has in its own memory. */
const HIDDEN: Readonly<Record<string, string>> = {
  "a memfd that nobody maps": "fd = os.memfd_create('x'); os.write(fd, bytes(16 << 20)); held.append(fd)",
  "a memfd that is mapped and closed": `
    fd = os.memfd_create('x')
    os.write(fd, bytes(16 << 20))
    held.append(mmap.mmap(fd, 16 << 20))
    os.close(fd)`,
  "a shared mapping whose pages were given back": `
    part = mmap.mmap(-1, 16 << 20)
    for at in range(0, 16 << 20, 4096): part[at] = 1
    part.madvise(mmap.MADV_DONTNEED)
    held.append(part)`,
};
const hiding = (way: string, times: number): string => `
import mmap, os, time
held = []
for _ in range(${times}):
    ${way}
print("took it all", flush=True)
time.sleep(60)
`;

test("without control groups memory counts that no process has mapped or touched", async (t) => {
  const places = await ground(t);
  if (!places) return;
  for (const [name, way] of Object.entries(HIDDEN)) {
    const { failure } = await python(hiding(way, 16), places, ungrouped);
    assert.equal(failure?.code, "plugin.memory_exceeded", name);
  }
});

test("without control groups unlinked and linked files in the cage's /tmp and /dev/shm count as memory", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const few = { ...LIMITS, memory_mb: 48 };
  const unlinked = "fd = os.open('/tmp', os.O_TMPFILE | os.O_RDWR); os.write(fd, bytes(16 << 20)); held.append(fd)";
  const linked =
    "open(f'/tmp/{_}', 'wb', buffering=0).write(bytes(14 << 20)); open('/dev/shm/x', 'ab').write(bytes(4 << 20))";
  for (const way of [unlinked, linked]) {
    assert.equal((await python(hiding(way, 3), places, ungrouped, few)).failure?.code, "plugin.memory_exceeded", way);
  }
});

test("without control groups a program's own data ends at the limit", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const { exit, out, err } = await python(hog(PRIVATE), places, ungrouped);
  assert.deepEqual([exit.code, out], [1, ""]);
  assert.match(err, /Cannot allocate memory/);
});

test("without control groups a plugin gets no more processes than it may, whoever runs the host", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const { exit, failure, out } = await python(FORKS, places, ungrouped);
  // The kernel counts for an ordinary user; for root only the watchdog does.
  if (runtime.uid === 0) return assert.equal(failure?.code, "plugin.pids_exceeded");
  assert.deepEqual([exit.code, failure], [0, null]);
  assert.match(out, /^3\d Resource/);
});

test("without control groups plugins on the host's own runtime start as they do with them", async (t) => {
  const places = await ground(t);
  if (!places) return;
  await files.write(`${places.installDir}/main.js`, "console.log('up')");
  const caged = await startCaged(requestOf({ command: ["js", "./main.js"] }, places), undefined, ungrouped);
  assert.deepEqual(caged.cage.limits, { tier: "watchdog", memory_mb: 512, cpu_shares: 256, pids: 100 });
  const { exit, out, err } = await caged.end();
  assert.deepEqual([exit.code, out, err], [0, "up\n", ""]);
});

test("a cage in a scope of systemd is launched through it, from an empty environment", async (t) => {
  const places = await ground(t);
  if (!places) return;
  const here: FileInfo = {
    kind: "file",
    dev: 1,
    ino: 1,
    mode: 0o755,
    uid: 0,
    size: 0,
    allocatedBytes: 0,
    modifiedMs: 0,
    changedMs: 0,
  };
  const asked: Command[] = [];
  const door = runtime.uid === 0 ? "/run/systemd/private" : `/run/user/${runtime.uid}/bus`;
  const target: Files["target"] = (path) =>
    path === door || path === "/usr/bin/systemd-run" ? Promise.resolve(here) : files.target(path);
  // Does what systemd-run does after it has made the scope: runs the rest in its own place.
  const spawn: Runtime["processes"]["spawn"] = (command, listeners) => {
    if (command.file !== "/usr/bin/systemd-run") return runtime.processes.spawn(command, listeners);
    asked.push(command);
    const [file = "", ...args] = command.args.slice(command.args.indexOf("--") + 1);
    return runtime.processes.spawn({ ...command, file, args, env: { LEAK: "1" } }, listeners);
  };
  const scoped = { ...ungrouped, files: { ...ungrouped.files, target }, processes: { ...runtime.processes, spawn } };
  const request = requestOf({ command: ["bash", "-c", "echo $LEAK; cat /proc/1/environ"] }, places);
  const manifest = { ...request.manifest, capabilities: ["exec:cat:plugin:/"] };
  const caged = await startCaged({ ...request, manifest, limits: LIMITS }, undefined, scoped);
  const { exit, out } = await caged.end();
  assert.deepEqual([caged.cage.limits.tier, exit.code, out], ["systemd", 0, "\n"]);
  const { args } = asked.at(-1)!;
  for (const word of ["MemoryMax=134217728", "TasksMax=40", "CPUWeight=13"]) assert.ok(args.includes(word), word);
});
