import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { launcherIds } from "../../../src/core/cage/launcher.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import { verifyWalls } from "../../../src/core/cage/verify_walls.ts";
import type { Files } from "../../../src/core/ports/ports.ts";
import { placesIn, requestOf, startCaged } from "../../support/cage_requests.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { until, untilSettled } from "../../support/until.ts";

const runtime = await detectRuntime();
const { files } = runtime;
const own = { ownNetwork: true, launcher: process.pid };
/** The file system as it is, or as it is said to be, with a clock that leaps: a wall that is missing takes no time. */
const ground = (shown: Files = files) => {
  let ms = 0;
  return { files: shown, clock: { ...runtime.clock, monotonic: () => ms += 100 } };
};

/** A process that waits for its end; resolves once it runs. */
async function waiting(t: TestContext, file: string, args: readonly string[]): Promise<number> {
  const child = spawn(file, args, { env: {} });
  const closed = once(child, "close");
  t.after(async () => {
    child.stdin.end();
    await closed;
  });
  await untilSettled(once(child.stdout, "data"), "the first output of the child");
  return child.pid!;
}

test("verifyWalls() finds a process that no bubblewrap started", async (t) => {
  const pid = await waiting(t, "/bin/bash", ["--norc", "-c", "echo ready; read end"]);
  await assert.rejects(verifyWalls(pid, own, ground()), (error: { code: string; data: { faults: string[] } }) => {
    assert.equal(error.code, "cage.walls_missing");
    const [namespaces = "", ...rest] = error.data.faults;
    assert.deepEqual(namespaces.match(/\w+(?=,| with)/g)?.sort(), ["ipc", "mnt", "net", "pid", "user", "uts"]);
    assert.ok(rest.includes("its system calls are not filtered"));
    return true;
  });
});

test("verifyWalls() passes a real cage, and misses each wall that is not there", async (t) => {
  const places = await placesIn(await scratchDir(t), runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return;
  const caged = await startCaged(requestOf({ command: ["bash", "-c", "echo ready; read end"] }, places));
  await caged.firstLine();
  const pid = (await caged.cage.childPid())!;
  await verifyWalls(pid, own, runtime);
  const showing = (readText: Files["readText"]): Files => ({ ...files, readText });
  const without: Readonly<Record<string, [RegExp, string]>> = {
    "its system calls are not filtered": [/^Seccomp:.*$/m, "Seccomp:\t0"],
    "it could gain privileges": [/^NoNewPrivs:.*$/m, "NoNewPrivs:\t0"],
    "it has privileges": [/^CapEff:.*$/m, "CapEff:\t0000000000000001"],
  };
  for (const [fault, [line, text]] of Object.entries(without)) {
    const looked = showing(async (path) => (await files.readText(path)).replace(line, text));
    await assert.rejects(verifyWalls(pid, own, ground(looked)), { data: { faults: [fault] } }, fault);
  }
  for (const name of ["user", "mnt", "pid", "ipc", "uts", "net"]) {
    const readLink: Files["readLink"] = (path) =>
      files.readLink(path.endsWith(`/${name}`) ? `/proc/self/ns/${name}` : path);
    const fault = `it shares ${name} with the host`;
    await assert.rejects(verifyWalls(pid, own, ground({ ...files, readLink })), { data: { faults: [fault] } }, name);
    if (name === "net") await verifyWalls(pid, { ...own, ownNetwork: false }, ground({ ...files, readLink }));
  }
  caged.child.endInput();
  await caged.end();
});

test("verifyWalls() passes a cage in a network that its launcher made, and in no other namespace of the launcher", async (t) => {
  const places = await placesIn(await scratchDir(t), runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return;
  const command = ["bash", "-c", "echo ready; read end"];
  const caged = await startCaged(requestOf({ command, capabilities: ["net:api.example.com:443"] }, places));
  t.after(async () => {
    caged.child.endInput();
    await caged.end();
  });
  await caged.firstLine();
  const pid = (await caged.cage.childPid())!;
  const [dir = ""] = await files.list(`${places.home}/run`);
  const { launcher = 0 } = await launcherIds(`${places.home}/run/${dir}`, files) ?? {};
  const space = (process: number | string, name: string): Promise<string> =>
    files.readLink(`/proc/${process}/ns/${name}`);
  const made = await space(launcher, "net") !== await space("self", "net");
  assert.equal(await space(pid, "net") === await space(launcher, "net"), made);
  await verifyWalls(pid, { ownNetwork: true, launcher }, runtime);
  for (const name of made ? ["user"] : []) {
    const readLink: Files["readLink"] = (path) =>
      files.readLink(path === `/proc/${pid}/ns/${name}` ? `/proc/${launcher}/ns/${name}` : path);
    const look = ground({ ...files, readLink });
    const faults = [`it shares ${name} with its launcher`];
    await assert.rejects(verifyWalls(pid, { ownNetwork: true, launcher }, look), { data: { faults } });
  }
  const faults = ["its namespaces cannot be seen: user, mnt, pid, ipc, uts"];
  await assert.rejects(verifyWalls(pid, { ownNetwork: true, launcher: 0 }, ground()), { data: { faults } });
});

test("verifyWalls() waits for a filter that is still being put up, and passes a process that has ended", async (t) => {
  let looks = 0;
  const readText: Files["readText"] = () => {
    const filter = ++looks > 3 ? 2 : 0;
    return Promise.resolve(`State:\tS\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t${filter}\n`);
  };
  const readLink: Files["readLink"] = (path) => Promise.resolve(path);
  await verifyWalls(7, own, ground({ ...files, readText, readLink }));
  assert.equal(looks, 4);
  const gone = await waiting(t, "/bin/bash", ["--norc", "-c", "echo ready"]);
  await until(
    async () => !/^State:\s*[^ZX]/m.test(await files.readText(`/proc/${gone}/status`).catch(() => "")),
    "the end of the process",
  );
  await verifyWalls(gone, own, runtime);
});

test("verifyWalls() passes a process that has lost its namespaces and is about to end, and no other that hides them", async () => {
  const status = (state: string) => `State:\t${state}\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n`;
  const hidden: Files["readLink"] = (path) =>
    path.startsWith("/proc/self/") ? Promise.resolve(path) : Promise.reject(new Error("ENOENT"));
  let looks = 0;
  const ending = (): Promise<string> => Promise.resolve(status(++looks < 3 ? "S" : "Z"));
  await verifyWalls(7, own, ground({ ...files, readText: ending, readLink: hidden }));
  assert.equal(looks, 3);
  const living = (): Promise<string> => Promise.resolve(status("S"));
  const faults = ["its namespaces cannot be seen: user, mnt, pid, ipc, uts, net"];
  await assert.rejects(verifyWalls(7, own, ground({ ...files, readText: living, readLink: hidden })), {
    data: { faults },
  });
});
