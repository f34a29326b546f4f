import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import { checkPlugin } from "../../../src/operator/check/check_plugin.ts";
import type { Runtime } from "../../../src/core/ports/ports.ts";
import { fixturePlugin } from "../../support/fixture_plugins.ts";
import { processesIn } from "../../support/processes_in.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { runKaged } from "../../support/run_kaged.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;

async function canCage(t: TestContext, home: string): Promise<boolean> {
  const can = async (): Promise<boolean> => (await probeCage(runtime, home)).error === null;
  return await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor");
}

const hasStrace = async (t: TestContext): Promise<boolean> =>
  await requireOrSkip(t, "strace", async () => await files.target("/usr/bin/strace") !== null, "install strace");

const without = (program: string): Runtime => {
  const target: typeof files.target = async (path) => path.endsWith(`/${program}`) ? null : await files.target(path);
  return { ...runtime, files: { ...files, target } };
};

test("checkPlugin() with trace reports what a caged run used, what it lacked, and the smallest list", async (t) => {
  const dir = await scratchDir(t);
  if (!await canCage(t, `${dir}/home`) || !await hasStrace(t)) return;
  await files.makeDir(`${dir}/data/in`, { recursive: true });
  await files.makeDir(`${dir}/data/out`);
  await files.write(`${dir}/data/in/a`, "a");
  await files.write(`${dir}/closed`, "secret");
  const capabilities = [`write:fs:${dir}/data`, "exec:jq:plugin:/", "kaged:storage:read"];
  await using plugin = await fixturePlugin("echo", { manifest: { capabilities } });
  const { ok, trace } = await checkPlugin(plugin.dir, {
    runtime,
    home: `${dir}/home`,
    trace: true,
    calls: [
      { method: "echo.read", params: { path: `${dir}/data/in/a` } },
      { method: "echo.write", params: { path: `${dir}/data/out/b`, text: "b" } },
      { method: "echo.read", params: { path: `${dir}/closed` } },
      { method: "echo.connect", params: { host: "127.0.0.1", port: 9 } },
      { method: "echo.storage", params: { sql: "select 1" } },
    ],
  });
  assert.deepEqual([ok, trace?.files], [true, true]);
  assert.deepEqual(trace?.grants.map(({ capability, used }) => [capability, used]), [
    [`write:fs:${dir}/data`, true],
    ["exec:jq:plugin:/", false],
    ["kaged:storage:read", true],
  ]);
  assert.deepEqual(trace?.smallest, [
    `read:fs:${dir}/data/in/a`,
    `write:fs:${dir}/data/out`,
    "kaged:storage:read",
  ]);
  const denied = trace?.denied.map(({ kind, what }) => `${kind} ${what}`) ?? [];
  for (const expected of [`read ${dir}/closed`, "net 127.0.0.1:9"]) assert.ok(denied.includes(expected), denied.join());
  assert.equal(trace?.notes.length, 2);
  // The secret was not read: a traced plugin is as caged as any.
  assert.match(trace?.notes[0] ?? "", /ENOENT/);
  const left = (await files.list(`${dir}/home/run`)).filter((name) => !name.startsWith("storage-"));
  assert.deepEqual([left, await processesIn(plugin.dir)], [[], []]);
});

test("checkPlugin() with trace but without strace watches network and programs only, and says so", async (t) => {
  const home = await scratchDir(t);
  if (!await canCage(t, home)) return;
  const capabilities = ["net:api.example.com:443", "write:fs:config:/notes"];
  await using plugin = await fixturePlugin("fetches", { manifest: { capabilities } });
  const { ok, trace } = await checkPlugin(plugin.dir, {
    runtime: without("strace"),
    home,
    trace: true,
    calls: [{ method: "fixture.call", params: { url: "http://evil.example/" } }],
  });
  assert.deepEqual([ok, trace?.files], [true, false]);
  assert.match(trace?.notes[0] ?? "", /Files were not watched.*strace is not installed/);
  assert.deepEqual(trace?.denied, [{ kind: "net", what: "evil.example:80", capability: "net:evil.example:80" }]);
  assert.deepEqual(trace?.smallest, ["write:fs:config:/notes"]);
});

test("checkPlugin() with trace names a host that a plugin without any net: grant looked up", async (t) => {
  const home = await scratchDir(t);
  if (!await canCage(t, home) || !await hasStrace(t)) return;
  await using plugin = await fixturePlugin("fetches");
  const { trace } = await checkPlugin(plugin.dir, {
    runtime,
    home,
    trace: true,
    calls: [
      { method: "fixture.call", params: { url: "https://api.example.com/x" } },
      { method: "fixture.call", params: { url: "http://127.0.0.1:9211/x" } },
    ],
  });
  assert.deepEqual(trace?.denied.filter(({ kind }) => kind === "net").toSorted((a, b) => a.what < b.what ? -1 : 1), [
    { kind: "net", what: "127.0.0.1:9211", capability: "net:127.0.0.1:9211" },
    { kind: "net", what: "api.example.com:443", capability: "net:api.example.com:443" },
  ]);
});

test("kaged plugin check --trace prints the report, and --json has it as trace", async (t) => {
  const home = await scratchDir(t);
  if (!await canCage(t, home) || !await hasStrace(t)) return;
  const capabilities = ["read:fs:config:/notes", "write:fs:config:/out"];
  await files.makeDir(`${home}/files/notes`, { recursive: true });
  await using plugin = await fixturePlugin("echo", { manifest: { capabilities } });
  const call = `echo.list=${JSON.stringify({ path: `${home}/files/notes` })}`;
  const args = ["plugin", "check", plugin.dir, "--trace", "--call", call, "--home", home];
  const { code, stdout, stderr } = await runKaged(args);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /read:fs:config:\/notes {2}used\n/);
  assert.match(stdout, /write:fs:config:\/out {2}not used\n/);
  assert.match(stdout, /Smallest list that covers the run\n {2}capabilities:\n {4}- "read:fs:config:\/notes"\n/);
  const json = await runKaged([...args, "--json"]);
  assert.deepEqual(JSON.parse(json.stdout).trace.smallest, ["read:fs:config:/notes"]);
});
