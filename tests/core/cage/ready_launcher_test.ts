import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { CagedProcess } from "../../../src/core/cage/caged_process.ts";
import { sweepRun } from "../../../src/core/cage/end_leftovers.ts";
import type { Runtime } from "../../../src/core/ports/ports.ts";
import { placesIn, requestOf } from "../../support/cage_requests.ts";
import { allGone } from "../../support/processes.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { runScript } from "../../support/run_script.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { until } from "../../support/until.ts";

const here = await detectRuntime();
const { files } = here;
const isRoot = here.uid === 0;

/** Programs in cages of one home, each of which says what it reads. */
async function ground(t: TestContext) {
  const dir = await scratchDir(t);
  const places = await placesIn(dir, here);
  const run = `${places.home}/run`;
  const request = requestOf(
    { command: ["bash", "-c", "echo ready; while read -r line; do echo got $line; done"] },
    places,
  );
  const start = async (input = "", runtime: Runtime = here) => {
    const decoder = new TextDecoder();
    const seen = { out: "" };
    const program = await CagedProcess.start(request, {
      runtime,
      onStdout: (chunk) => void (seen.out += decoder.decode(chunk, { stream: true })),
    });
    program.pipes.write(input); // Before anybody reads it.
    await until(() => seen.out.startsWith("ready\n"), "the program in the cage");
    return { program, seen };
  };
  const named = async (prefix: string) => (await files.list(run)).filter((name) => name.startsWith(prefix));
  /** Resolves with the end of the name of the launcher's folder, once it waits. */
  const waiting = async (): Promise<string> => {
    let ids: string | null = null;
    await until(async () => {
      const [name] = await named("ready-");
      ids = name === undefined ? null : await files.readText(`${run}/${name}/ready`).catch(() => null);
      return ids?.endsWith("\n") === true;
    }, "a launcher that waits");
    return (await named("ready-"))[0]!.slice("ready-".length);
  };
  return { dir, places, run, start, named, waiting };
}

test("K-044 the launcher that waited for a start builds the same cage, and its program gets every byte but the first line", async (t) => {
  const { start, named, waiting } = await ground(t);
  const first = await start();
  await first.program.cage.settle();
  const kept = await waiting();
  const second = await start("one\ntwo\n");
  assert.ok(
    (await named("cage-")).includes(`cage-${kept}`),
    "the second cage has the folder of the launcher that waited",
  );
  await second.program.cage.verifyMounts();
  await until(() => second.seen.out.endsWith("two\n"), "the second line");
  assert.equal(second.seen.out, "ready\ngot one\ngot two\n");
  second.program.pipes.endInput();
  assert.deepEqual((await second.program.ended).exit, { code: 0, signal: null });
  first.program.pipes.endInput();
  await first.program.ended;
  assert.deepEqual(await named(""), []);
});

test("a launcher that waits ends with the last cage of its home, and not before", async (t) => {
  const { run, start, named, waiting } = await ground(t);
  const [one, other] = [await start(), await start()];
  await one.program.cage.settle();
  const kept = await waiting();
  const pid = Number.parseInt(await files.readText(`${run}/ready-${kept}/ready`));
  await one.program.kill();
  assert.deepEqual(await named("ready-"), [`ready-${kept}`]);
  await other.program.kill();
  assert.deepEqual(await named(""), []);
  assert.equal(await files.info(`/proc/${pid}`), null);
});

test("a start does without a launcher whose folder was taken from it, and one that is swept leaves nothing", async (t) => {
  const { places, run, start, named, waiting } = await ground(t);
  const first = await start();
  await first.program.cage.settle();
  await files.remove(`${run}/ready-${await waiting()}`);
  const second = await start();
  second.program.pipes.write("it\n");
  await until(() => second.seen.out.endsWith("got it\n"), "the answer");
  await files.makeDir(`${run}/ready-dead`);
  await files.write(`${run}/ready-dead/ready`, "1 999999999\n");
  await sweepRun(places.home, here);
  assert.equal((await named("ready-dead")).length, 0);
  await Promise.all([first.program.kill(), second.program.kill()]);
  assert.deepEqual(await named(""), []);
});

test("a launcher that somebody ended while it waited is not used", async (t) => {
  const { run, start, named, waiting } = await ground(t);
  const first = await start();
  await first.program.cage.settle();
  const kept = await waiting();
  const pid = Number.parseInt(await files.readText(`${run}/ready-${kept}/ready`));
  here.processes.signal(pid, "SIGKILL");
  await until(async () => await files.info(`/proc/${pid}`) === null, "its end");
  const second = await start();
  assert.ok(!(await named("cage-")).includes(`cage-${kept}`));
  await Promise.all([first.program.kill(), second.program.kill()]);
  assert.deepEqual(await named(""), []);
});

test("cages of a root host share one mount namespace with sealed device nodes, which is not the host's", async (t) => {
  if (!await requireOrSkip(t, "root", () => isRoot, "run as root")) return;
  const { run, start, named, waiting } = await ground(t);
  const space = (pid: number | string): Promise<string> => files.readLink(`/proc/${pid}/ns/mnt`);
  const first = await start();
  await first.program.cage.settle();
  await waiting();
  const [waited, other] = [await start(), await start()];
  const [keeper] = await named("nodes-");
  const pid = Number.parseInt(await files.readText(`${run}/${keeper}/ready`));
  const [own, ...shared] = await Promise.all([first, waited, other].map(({ program }) => space(program.pid)));
  assert.deepEqual(shared, Array(2).fill(await space(pid)));
  assert.equal(new Set([own, shared[0], await space("self")]).size, 3, "the first one sealed nodes for itself");
  const around = await files.readText(`/proc/${other.program.pid}/mountinfo`);
  assert.match(around, / \/dev\/null ro,/);
  assert.doesNotMatch(around, / \/sys[ /]/, "no mount that no cage shows");
  for (const { program } of [first, waited, other]) {
    await program.cage.verifyMounts();
    await program.kill();
  }
  assert.deepEqual(await named(""), []);
  assert.equal(await files.info(`/proc/${pid}`), null);
});

test("a start after somebody ended the keeper of sealed device nodes is sealed as well", async (t) => {
  if (!await requireOrSkip(t, "root", () => isRoot, "run as root")) return;
  const { run, start, named, waiting } = await ground(t);
  const first = await start();
  await first.program.cage.settle();
  await waiting();
  const [keeper] = await named("nodes-");
  const pid = Number.parseInt(await files.readText(`${run}/${keeper}/ready`));
  here.processes.signal(pid, "SIGKILL");
  await until(async () => await files.info(`/proc/${pid}`) === null, "its end");
  for (let round = 0; round < 2; round++) {
    const { program } = await start();
    await program.cage.verifyMounts();
    await program.kill();
  }
  assert.equal((await named("nodes-")).includes(keeper!), false);
  await first.program.kill();
  assert.deepEqual(await named(""), []);
});

test("a start that would not find a granted path in the shared namespace, as after a mount, goes without it", async (t) => {
  if (!await requireOrSkip(t, "root", () => isRoot, "run as root")) return;
  const { places, run, start, named, waiting } = await ground(t);
  const first = await start();
  await first.program.cage.settle();
  const kept = await waiting();
  const [keeper] = await named("nodes-");
  const pid = Number.parseInt(await files.readText(`${run}/${keeper}/ready`));
  const covered = `/proc/${pid}/root${await files.realPath(places.installDir)}`;
  const target: typeof files.target = async (path) =>
    path === covered ? { ...(await files.target(path))!, ino: 0 } : await files.target(path);
  const second = await start("", { ...here, files: { ...files, target } });
  await second.program.cage.verifyMounts();
  const left = await named("");
  assert.ok(!left.includes(keeper!) && !left.includes(`ready-${kept}`) && !left.includes(`cage-${kept}`));
  await Promise.all([first.program.kill(), second.program.kill()]);
  assert.deepEqual(await named(""), []);
});

test("a launcher that waits ends with a host that is killed, and the next host removes its folder", async (t) => {
  const { dir, run, start, named, waiting } = await ground(t);
  const host = runScript(new URL("fixtures/waiting_host.ts", import.meta.url), [dir]);
  t.after(() => host.kill("SIGKILL"));
  await until(async () => await files.info(run) !== null, "a folder for cages");
  const kept = await waiting();
  const pid = Number.parseInt(await files.readText(`${run}/ready-${kept}/ready`));
  const ended = once(host, "exit");
  host.kill("SIGKILL");
  await Promise.all([allGone([pid]), ended]); // Pipes are closed a little before the children have another parent.
  assert.deepEqual(await named("ready-"), [`ready-${kept}`], "nobody was left to remove it");
  const { program } = await start();
  assert.equal((await named("")).length, 1, "nothing is there but the new cage");
  await program.kill();
  assert.deepEqual(await named(""), []);
});
