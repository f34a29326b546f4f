/**
 * One host of `bench cage` without control groups: runs programs that take 1.5 GiB each in their way, and prints as JSON
 * how many milliseconds after 512 MiB, their limit, each was ended: the longest of some rounds. Arguments: how many.
 *
 * @module
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { detectRuntime } from "../../src/adapters/default.ts";
import { CagedProcess } from "../../src/core/cage/caged_process.ts";
import { programManifest } from "../../src/core/cage/program_manifest.ts";
import type { Runtime } from "../../src/core/ports/ports.ts";

const WAYS: Readonly<Record<string, string>> = {
  shared: "a shared mapping",
  "given back": "a shared mapping, its pages given back",
  memfd: "a memfd that nobody maps",
  closed: "a memfd, mapped and closed",
};

const found = await detectRuntime();
const { files } = found;
/** This machine as it would be without control groups. */
const runtime: Runtime = {
  ...found,
  files: {
    ...files,
    readText: (path) => /^\/proc\/self\/(mountinfo|cgroup)$/.test(path) ? Promise.resolve("") : files.readText(path),
  },
};
const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
const [installDir, home] = [join(dir, "plugin"), join(dir, "home")];
for (const path of [installDir, home]) mkdirSync(path);
copyFileSync(new URL("hog.py", import.meta.url), join(installDir, "hog.py"));

async function endedAfterMs(way: string): Promise<number> {
  let crossedMs: number | null = null;
  const manifest = programManifest({
    name: "hog",
    description: "Takes memory",
    command: ["python3", "hog.py", way],
    env: {},
    capabilities: [],
  });
  const request = { manifest, places: { installDir, home, projectDir: null }, logLevel: "info", runtimes: {} };
  const { exited } = await CagedProcess.start(request, { runtime, onStdout: () => crossedMs = performance.now() });
  const { fault } = await exited;
  if (fault?.code !== "plugin.memory_exceeded") throw new Error(`${way} ended with ${fault?.message}`);
  // Its interpreter's memory counts too, so its end may come before the 512 MiB are full.
  return crossedMs === null ? 0 : performance.now() - crossedMs;
}

try {
  const ends: Record<string, number> = {};
  for (const [way, name] of Object.entries(WAYS)) {
    const times: number[] = [];
    for (let round = 0; round < Number(process.argv[2] ?? 1); round++) times.push(await endedAfterMs(way));
    ends[name] = Math.max(...times);
  }
  console.log(JSON.stringify(ends));
} finally {
  rmSync(dir, { recursive: true });
}
