/**
 * A host that runs out of file descriptors: plugins fail to start, each with a reason, and the host goes on.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const PROGRAM = fileURLToPath(new URL("./fixtures/starts_and_reports.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));
const COUNT = 20;

/** The arguments with which this runtime runs a TypeScript program. */
function runArgs(): string[] {
  if (process.versions["deno"]) return ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", CONFIG];
  return process.versions["bun"] ? ["--config=/dev/null", "--no-install"] : ["--disable-warning=ExperimentalWarning"];
}

test("a host with 60 descriptors and 20 plugins reports those that do not start, and the others answer", async (t) => {
  const [dir, home] = [await scratchDir(t), await scratchDir(t)];
  const names = Array.from({ length: COUNT }, (_, at) => `p${at}`);
  const plugins: Record<string, string> = {};
  for (const name of names) {
    const plugin = await fixturePlugin("echo", { manifest: { name } });
    t.after(() => plugin[Symbol.asyncDispose]() as Promise<void>);
    plugins[`@test/${name}`] = plugin.dir;
  }
  const declared = Object.fromEntries(names.map((name) => [name, { package: `@test/${name}` }]));
  await writeFile(join(dir, "project.yaml"), JSON.stringify({ id: "music", primary: { plugins: declared } }));
  const given = JSON.stringify({ project: dir, home, plugins });
  const limited = ["-c", 'ulimit -n 60; exec "$@"', "sh", process.execPath, ...runArgs(), PROGRAM, given];
  const child = spawn("/bin/sh", limited, { stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => stdout += chunk);
  child.stderr.on("data", (chunk) => stderr += chunk);
  const [code] = await once(child, "close");
  assert.deepEqual([code, stderr], [0, ""]);
  const { running, failed, answered } = JSON.parse(stdout) as Record<string, string[]>;
  assert.equal(running!.length + failed!.length, COUNT);
  assert.ok(failed!.length > 0, "60 descriptors were enough");
  assert.deepEqual([...new Set(failed)], ["plugin.no_descriptors"]);
  assert.deepEqual(answered, running);
});
