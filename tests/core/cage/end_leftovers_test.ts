import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { endLeftovers } from "../../../src/core/cage/end_leftovers.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import { placesIn, requestOf, startCaged } from "../../support/cage_requests.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { untilSettled } from "../../support/until.ts";

const runtime = await detectRuntime();
const { files } = runtime;

/** A process that holds a file open as its descriptor 6, as bubblewrap's child does. */
async function holder(path: string): Promise<{ pid: number; ended: Promise<string | null>; end(): void }> {
  const child = spawn("/bin/bash", ["--norc", "-c", `exec 6<'${path}'; echo ready; exec sleep 600`], { env: {} });
  await untilSettled(once(child.stdout, "data"), "the first output of the child");
  const ended = new Promise<string | null>((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  return { pid: child.pid ?? 0, ended, end: () => void child.kill("SIGTERM") };
}

test("a child that bubblewrap never reported is found by its file, and no other process is", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/hosts`, "");
  await files.write(`${dir}/other`, "");
  await files.write(`${dir}/status`, "");
  const [left, other] = [await holder(`${dir}/hosts`), await holder(`${dir}/other`)];
  await endLeftovers(dir, runtime);
  assert.equal(await left.ended, "SIGKILL");
  other.end();
  assert.equal(await other.ended, "SIGTERM");
});

test("a child that was reported is ended only while it is in the cage's own namespace", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/hosts`, "");
  const { pid, ended } = await holder(`${dir}/hosts`);
  const [, namespace] = /\[(\d+)\]/.exec(await files.readLink(`/proc/${pid}/ns/pid`)) ?? [];
  const report = async (own: string, end = ""): Promise<void> => {
    await files.write(`${dir}/status`, `{ "child-pid": ${pid}, "pid-namespace": ${own} }\n${end}`);
    await endLeftovers(dir, runtime);
  };
  await report("1"); // The id is another process's by now.
  await report(namespace ?? "", '{ "exit-code": 0 }\n'); // Its end was reported.
  await files.remove(`${dir}/status`);
  await endLeftovers(dir, runtime); // It was never started.
  assert.notEqual(await files.info(`/proc/${pid}/ns/pid`), null);
  await report(namespace ?? "");
  assert.equal(await ended, "SIGKILL");
});

test("a report that was cut short is taken for none", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/hosts`, "");
  const { pid, ended } = await holder(`${dir}/hosts`);
  await files.write(`${dir}/status`, `{ "child-pid": ${pid}, "mnt-na`);
  await endLeftovers(dir, runtime);
  assert.equal(await ended, "SIGKILL");
});

test("bubblewrap killed at any moment of a start leaves no process behind", async (t) => {
  const dir = await scratchDir(t);
  const places = await placesIn(dir, runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return;
  const mark = `mark-${dir.slice(-6)}`;
  for (let round = 0; round < 24; round++) {
    const caged = await startCaged(requestOf({ command: ["bash", "-c", `while :; do :; done; ${mark}`] }, places));
    // The launcher's own steps are the clock: each look at the disk lets it go a little further.
    for (let look = 0; look < round * 6; look++) await files.info(caged.cage.command.cwd);
    caged.child.kill("SIGKILL");
    await caged.child.exited;
    caged.child.release();
    await caged.end();
  }
  const commands = await Promise.all(
    (await files.list("/proc")).map((name) => files.readText(`/proc/${name}/cmdline`).catch(() => "")),
  );
  assert.deepEqual(commands.filter((text) => text.includes(mark)), []);
  assert.deepEqual(await files.list(`${places.home}/run`), []);
});
