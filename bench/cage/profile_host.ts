/**
 * One host of `bench cage`: a caged start on its own runtime, taken apart, each step alone and its best time of all rounds
 * in milliseconds as JSON. The steps of one start overlap, so they add up to more than a start takes; a launcher that
 * waited has done those named "before". Arguments: how many rounds.
 *
 * @module
 */
import process from "node:process";
import { detectRuntime } from "../../src/adapters/default.ts";
import { CagedProcess } from "../../src/core/cage/caged_process.ts";
import { compileCage } from "../../src/core/cage/compile_cage.ts";
import { gatherFacts } from "../../src/core/cage/gather_facts.ts";
import { launchCommand, writeLaunchFiles, writeOrders } from "../../src/core/cage/launcher.ts";
import { DEFAULT_LIMITS } from "../../src/core/cage/limits/cage_limits.ts";
import { makeGroups, removeGroups } from "../../src/core/cage/limits/control_group.ts";
import { groupPlan } from "../../src/core/cage/limits/limit_parts.ts";
import { hashTree } from "../../src/core/files/tree.ts";
import type { Command } from "../../src/core/ports/ports.ts";
import { PluginFolder } from "../../src/core/supervisor/plugin_source.ts";
import { createBenchFolders } from "../wire/bench_plugin.ts";
import { startUncaged } from "./uncaged.ts";

const rounds = Number(process.argv[2] ?? 10);
const runtime = await detectRuntime();
const { files, ids, processes } = runtime;
const folders = createBenchFolders(["js", "./main.mjs"], {
  "main.mjs": new URL("../wire/line_plugin.js", import.meta.url),
});
const source = new PluginFolder("bench-plugin", { dir: folders.plugin }, { host: { runtime, home: folders.home } });
const isRoot = runtime.uid === 0;
const best: Record<string, number> = {};

async function step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await work();
  best[name] = Math.min(best[name] ?? Infinity, performance.now() - startMs);
  return result;
}

/** Runs a program to its end. */
async function run(command: Command): Promise<void> {
  const child = await processes.spawn(command, { stdout: ignore, stdoutEnd: ignore, stderr: ignore });
  child.endInput();
  await child.exited;
  await child.closed;
}

function ignore(): void {}

async function round(): Promise<void> {
  await step("hash of the plugin's tree", () => hashTree(folders.plugin, files));
  const request = await step("manifest looked at", () => source.prepare());
  const facts = await step("facts of the machine and of paths", () => gatherFacts(request, runtime));
  const dir = await files.makeTempDir(`${folders.home}/run/cage-`);
  const plan = await step(
    "plan and seccomp program",
    () => compileCage(request, { ...facts, runDir: dir, trust: null }),
  );
  const groups = groupPlan(facts.tier, DEFAULT_LIMITS, ids.create("kaged"));
  await step("files of the start", async () => {
    await writeOrders(plan, { groups, dir, files });
    await writeLaunchFiles(plan, dir, files);
  });
  await step("control groups", () => makeGroups(groups, files));
  await removeGroups(groups.dirs, runtime);
  const bare = { args: [], env: {}, cwd: "/" };
  await step("a bare program, for comparison", () => run({ ...bare, file: "/bin/true" }));
  await step(
    "before: launcher until it waits, and its end",
    () => run(launchCommand("/bin/bash", dir, { isRoot, part: "wait" })),
  );
  await files.remove(dir);
  const trivial = { ...request, manifest: { ...request.manifest, command: ["true"] } };
  await step("cage around a bare program, whole", async () => {
    await (await CagedProcess.start(trivial, { runtime, onStdout: ignore })).exited;
  });
  const stop = await step("program uncaged, with its handshake", () => startUncaged(runtime, folders));
  await stop();
  const sleeper = { ...request, manifest: { ...request.manifest, command: ["cat"] } };
  let echoed = ignore;
  const answer = new Promise<void>((resolve) => echoed = resolve);
  const program = await CagedProcess.start(sleeper, { runtime, onStdout: () => echoed() });
  program.pipes.write("alive\n");
  await answer;
  await step("walls and mounts compared", () => program.cage.verifyMounts());
  await program.kill();
}

try {
  await files.makeDir(`${folders.home}/run`, { mode: 0o700 });
  await round(); // Warms the disk and what is asked once in a process.
  for (const name of Object.keys(best)) delete best[name];
  for (let done = 0; done < rounds; done++) await round();
  console.log(JSON.stringify(best));
} finally {
  folders.remove();
}
process.exit(0);
