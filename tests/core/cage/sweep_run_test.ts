import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { once } from "node:events";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import { sweepRun } from "../../../src/core/cage/end_leftovers.ts";
import { placesIn, requestOf, startCaged } from "../../support/cage_requests.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { untilSettled } from "../../support/until.ts";

const runtime = await detectRuntime();
const { files } = runtime;

test("files of a cage whose launcher is gone are removed; those of one about to start are not", async (t) => {
  const home = await scratchDir(t);
  for (const name of ["cage-dead", "cage-new", "cage-old", "other"]) {
    await files.makeDir(`${home}/run/${name}`, { recursive: true });
  }
  await files.write(`${home}/run/cage-dead/status`, `1 ${process.pid}\n`);
  await sweepRun(home, runtime);
  assert.deepEqual(await files.list(`${home}/run`), ["cage-new", "cage-old", "other"]);
  const later = { ...runtime, clock: { ...runtime.clock, now: () => Date.now() + 3_700_000 } };
  await sweepRun(home, later);
  assert.deepEqual(await files.list(`${home}/run`), ["other"]);
});

test("a home without a run folder needs no sweeping", async (t) => {
  await sweepRun(`${await scratchDir(t)}/none`, runtime);
});

test("a launcher whose host is gone is ended, and no other process with its id", async (t) => {
  const home = await scratchDir(t);
  const dir = `${home}/run/cage-orphan`;
  await files.makeDir(dir, { recursive: true });
  const start = async (file: string): Promise<{ pid: number; ended: Promise<string | null>; end(): void }> => {
    const script = `exec 7>'${dir}/${file}'; echo ready; exec sleep 600`;
    const child = spawn("/bin/bash", ["--norc", "-c", script], { env: {} });
    await untilSettled(once(child.stdout, "data"), "the first output of the child");
    const ended = new Promise<string | null>((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
    return { pid: child.pid ?? 0, ended, end: () => void child.kill("SIGTERM") };
  };
  const other = await start("another-file");
  await files.write(`${dir}/status`, `${other.pid} 999999999\n`);
  await sweepRun(home, runtime);
  assert.deepEqual(await files.list(`${home}/run`), []);
  await files.makeDir(dir);
  const orphan = await start("status");
  await files.write(`${dir}/status`, `${orphan.pid} 999999999\n`);
  await sweepRun(home, runtime);
  assert.equal(await orphan.ended, "SIGKILL");
  other.end();
  assert.equal(await other.ended, "SIGTERM");
});

test("a cage whose host lives is left alone", async (t) => {
  const places = await placesIn(await scratchDir(t), runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return;
  const caged = await startCaged(requestOf({ command: ["bash", "-c", "echo ready; read end; echo $end"] }, places));
  await caged.firstLine();
  await sweepRun(places.home, runtime);
  assert.equal((await files.list(`${places.home}/run`)).length, 1);
  caged.child.write("still here\n");
  assert.equal((await caged.end()).out, "ready\nstill here\n");
});
