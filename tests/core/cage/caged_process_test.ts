import assert from "node:assert/strict";
import { readdir, rm } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { CageRequest } from "../../../src/core/cage/cage.ts";
import { CagedProcess, type CagedProcessOptions } from "../../../src/core/cage/caged_process.ts";
import type { Runtime } from "../../../src/core/ports/ports.ts";
import { placesIn, requestOf } from "../../support/cage_requests.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { until } from "../../support/until.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

/** A bash script in a cage of its own, with everything it printed and what was cleaned up after it. */
async function caged(t: TestContext, script: string, own: Partial<CageRequest["manifest"]> = {}) {
  const runtime = await detectRuntime();
  const places = await placesIn(await scratchDir(t), runtime);
  const decoder = new TextDecoder();
  const seen = { out: "", log: [] as string[], cleanUps: 0 };
  const request = {
    ...requestOf({ command: ["bash", "-c", script], ...own }, places),
    cleanUp: () => Promise.resolve(void seen.cleanUps++),
  };
  const start = (options: Partial<CagedProcessOptions> & { readonly runtime?: Runtime } = {}) =>
    CagedProcess.start(request, {
      runtime,
      onStdout: (chunk) => void (seen.out += decoder.decode(chunk, { stream: true })),
      onLog: (line) => void seen.log.push(line),
      ...options,
    });
  const left = async () => (await readdir(`${places.home}/run`)).filter((name) => name.startsWith("cage-"));
  return { runtime, places, seen, start, left };
}

test("K-003 a caged program is heard to its end, and leaves nothing of its cage behind", async (t) => {
  const { seen, start, left } = await caged(t, "read -r line; echo got $line; echo first >&2; echo last >&2; exit 3");
  const program = await start();
  program.pipes.write("it\n");
  const end = await program.ended;
  assert.deepEqual(end, { exit: { code: 3, signal: null }, fault: null, stderr: ["first", "last"] });
  assert.deepEqual([seen.out, seen.log, seen.cleanUps, await left()], ["got it\n", ["first", "last"], 1, []]);
});

test("K-048 the end of a caged program names the cage that could not be built", async (t) => {
  const { places, start, left } = await caged(t, "true", { capabilities: ["read:fs:project:/gone"] });
  await rm(`${places.projectDir}/gone`, { recursive: true, force: true });
  const runtime = await detectRuntime();
  await runtime.files.makeDir(`${places.projectDir}/gone`, { mode: 0o700 });
  const { spawn } = runtime.processes;
  const vanishing: Runtime["processes"]["spawn"] = async (command, listeners) => {
    await rm(`${places.projectDir}/gone`, { recursive: true, force: true });
    return await spawn(command, listeners);
  };
  const program = await start({ runtime: { ...runtime, processes: { ...runtime.processes, spawn: vanishing } } });
  assert.equal((await program.ended).fault?.code, "cage.path_vanished");
  assert.deepEqual(await left(), []);
});

test("K-044 a start that nobody wants any more, or that cannot be spawned, leaves no cage and is cleaned up", async (t) => {
  const { runtime, seen, start, left } = await caged(t, "true");
  const unwanted = new Error("Stopped meanwhile");
  await assert.rejects(
    start({
      beforeSpawn() {
        throw unwanted;
      },
    }),
    unwanted,
  );
  const spawn = () => Promise.reject(new Error("EAGAIN"));
  const processes = { ...runtime.processes, spawn };
  await assert.rejects(start({ runtime: { ...runtime, processes } }), { code: "cage.spawn_failed", message: /EAGAIN/ });
  assert.deepEqual([seen.cleanUps, await left()], [2, []]);
});

test("K-064 terminate() lets a program end by itself, and kills one that ignores SIGTERM after 2 s", async (t) => {
  const clock = createFakeClock();
  const ends = async (trap: string) => {
    const { runtime, seen, start } = await caged(t, `trap '${trap}' TERM; echo up; while :; do read -t 1; done`);
    const program = await start({ runtime: { ...runtime, clock } });
    t.after(() => program.kill());
    await until(() => seen.out !== "", "output of the caged program");
    assert.equal(await program.terminate(), true);
    if (trap === "") {
      assert.ok(clock.isDueIn(2_000));
      clock.advance(2_000);
    }
    return (await program.ended).exit;
  };
  assert.deepEqual(await ends("exit 7"), { code: 7, signal: null });
  assert.equal((await ends("")).signal, "SIGKILL");
});

test("K-064 kill() ends a program with everything it started", async (t) => {
  const { seen, start, left } = await caged(t, "exec 3<&0; read -r <&3 & read -r <&3 & echo up; wait");
  const program = await start();
  await until(() => seen.out !== "", "output of the caged program");
  const { exit } = await program.kill();
  assert.deepEqual([exit.signal ?? exit.code, await left()], ["SIGKILL", []]);
});
