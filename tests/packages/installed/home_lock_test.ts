import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { withHomeLock } from "../../../src/core/files/file_lock.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { untilSettled } from "../../support/until.ts";

const runtime = await detectRuntime();
const HOLDER: string = fileURLToPath(new URL("fixtures/holds_lock.ts", import.meta.url));

test("two who want the folder get it one after the other", async (t) => {
  const home = `${await scratchDir(t)}/home`;
  const order: string[] = [];
  const work = (name: string) =>
    withHomeLock(home, runtime, async () => {
      order.push(`${name} in`);
      await new Promise(setImmediate);
      order.push(`${name} out`);
    });
  await Promise.all([work("a"), work("b"), work("c")]);
  assert.deepEqual(order.map((step) => step.split(" ")[1]), ["in", "out", "in", "out", "in", "out"]);
  assert.equal(new Set(order).size, 6);
});

test("a wait that is too long fails, and a failure of the work lets go", async (t) => {
  const home = await scratchDir(t);
  await withHomeLock(home, runtime, async () => {
    await assert.rejects(withHomeLock(home, runtime, () => assert.fail("ran"), { waitMs: 0 }), {
      code: "install.busy",
    });
  });
  await assert.rejects(withHomeLock(home, runtime, () => Promise.reject(new Error("mine"))), /mine/);
  assert.equal(await withHomeLock(home, runtime, () => Promise.resolve(1), { waitMs: 0 }), 1);
});

test("a process that is killed leaves no lock behind", async (t) => {
  const home = await scratchDir(t);
  const deno = process.versions["deno"] ? ["run", "-A", "--quiet"] : [];
  const child = spawn(process.execPath, [...deno, HOLDER, home], { stdio: ["ignore", "pipe", "inherit"] });
  await untilSettled(once(child.stdout, "data"), "the first output of the process that holds the lock");
  await assert.rejects(withHomeLock(home, runtime, () => assert.fail("ran"), { waitMs: 0 }), { code: "install.busy" });
  process.kill(child.pid!, "SIGKILL");
  await once(child, "exit");
  await withHomeLock(home, runtime, () => Promise.resolve(), { waitMs: 0 });
});
