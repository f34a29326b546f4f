import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { checkPlugin } from "../../../src/operator/check/check_plugin.ts";
import { type Check, CHECK_IDS, type CheckOptions, type CheckReport } from "../../../src/operator/check/report.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { type FixtureOptions, fixturePlugin } from "../../support/fixture_plugins.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

type Test = Parameters<typeof scratchDir>[0];

async function check(t: Test, dir: string, options: Partial<CheckOptions> = {}): Promise<CheckReport> {
  return await checkPlugin(dir, { runtime: await detectRuntime(), home: await scratchDir(t), ...options });
}

async function checkFixture(t: Test, fixture: string, options: FixtureOptions = {}): Promise<CheckReport> {
  await using plugin = await fixturePlugin(fixture, options);
  return await check(t, plugin.dir);
}

/** The rules that were tried and broken. */
const broken = ({ checks }: CheckReport): string[] => checks.filter((c) => !c.ok && !c.skipped).map(({ id }) => id);
const tried = ({ checks }: CheckReport): string[] => checks.filter((c) => !c.skipped).map(({ id }) => id);
const find = ({ checks }: CheckReport, id: string): Check => checks.find((c) => c.id === id)!;

test("checkPlugin() reports each rule of a well-behaved plugin, in order, as it goes", async (t) => {
  await using plugin = await fixturePlugin("echo");
  const heard: Check[] = [];
  const report = await check(t, plugin.dir, { onCheck: (result) => heard.push(result) });
  assert.deepEqual(report.checks.filter((c) => !c.ok), []);
  assert.equal(report.ok, true);
  assert.deepEqual(report.checks.map(({ id }) => id), [...CHECK_IDS]);
  assert.deepEqual(heard, report.checks);
});

test("K-009 checkPlugin() finds the rule of the handshake that a plugin breaks", async (t) => {
  for (
    const [fixture, rule, code] of [
      ["exits_before_initialize", "initialize", "plugin.unavailable"],
      ["speaks_before_initialize", "initialize", "protocol.violation"],
      ["malformed_initialize", "initialize", "initialize.malformed"],
      ["refuses_initialize", "initialize", "initialize.refused"],
      ["wrong_name", "initialize.name", "initialize.name_mismatch"],
      ["wrong_version", "initialize.version", "initialize.version_mismatch"],
      ["wrong_api", "initialize.api", "initialize.api_mismatch"],
      ["overreaches", "initialize.capabilities", "initialize.capability_overreach"],
      ["refuses_config", "config.update", "plugin.config_invalid"],
    ] as const
  ) {
    const report = await checkFixture(t, fixture);
    assert.deepEqual([report.ok, broken(report)], [false, [rule]], fixture);
    assert.equal(find(report, rule).code, code, fixture);
  }
});

test("checkPlugin() reports what could not be tried as such, never as kept", async (t) => {
  const report = await checkFixture(t, "wrong_name");
  const at = CHECK_IDS.indexOf("initialize.name");
  assert.deepEqual(tried(report), CHECK_IDS.slice(0, at + 1));
  assert.deepEqual(
    report.checks.slice(at + 1),
    CHECK_IDS.slice(at + 1).map((id) => ({
      id,
      ok: false,
      skipped: true,
      detail: "Not tried: initialize.name failed",
    })),
  );
});

test("K-008 checkPlugin() fails a declared method that is not offered, and names it", async (t) => {
  const report = await checkFixture(t, "lists_other_methods");
  assert.deepEqual(broken(report), ["methods"]);
  assert.match(find(report, "methods").detail, /"fixture\.absent"/);
  assert.equal(tried(report).length, CHECK_IDS.length, "the rest is tried all the same");
});

test("K-010 checkPlugin() finds a plugin that does not outlive initialized", async (t) => {
  assert.deepEqual(broken(await checkFixture(t, "exits_after_initialized")), ["initialized"]);
});

test("K-011 checkPlugin() finds a plugin that answers ping with an error", async (t) => {
  const report = await checkFixture(t, "refuses_pings");
  assert.deepEqual([broken(report), find(report, "ping").detail], [["ping"], "Unwell"]);
});

test("K-011 checkPlugin() takes a plugin without config.update when its config is empty, and warns otherwise", async (t) => {
  await using plugin = await fixturePlugin("no_config");
  const empty = await check(t, plugin.dir);
  assert.deepEqual([empty.ok, find(empty, "config.update").warnings], [true, undefined]);
  const given = await check(t, plugin.dir, { config: { tags: [] } });
  assert.deepEqual([given.ok, find(given, "config.update").warnings?.length], [true, 1]);
});

test("K-050 checkPlugin() finds a plugin that ignores shutdown, even when it then ends well", async (t) => {
  const report = await checkFixture(t, "ignores_shutdown", { manifest: { shutdown_timeout_sec: 1 } });
  assert.deepEqual(broken(report), ["shutdown"]);
  assert.match(find(report, "shutdown").detail, /ended by SIGTERM: it ignored shutdown for 1 s/);
});

test("K-004 checkPlugin() finds what is printed on stdout beside messages", async (t) => {
  const report = await checkFixture(t, "prints_garbage");
  assert.deepEqual(broken(report), ["stdout"]);
  assert.match(find(report, "stdout").detail, /"starting up…" is no JSON/);
});

test("K-040 checkPlugin() gives every issue of a manifest and tries nothing else", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "kaged-plugin.yaml"), "name: Bad Name\nversion: one\nhooks: [on_lunch]\n");
  const report = await check(t, dir);
  const { issues } = find(report, "manifest").data as { issues: { line: number; path: string }[] };
  assert.deepEqual([broken(report), tried(report)], [["manifest"], ["manifest"]]);
  for (const path of ["name", "version", "kaged_api", "command"]) assert.ok(issues.some((i) => i.path === path), path);
  assert.equal(issues.find((issue) => issue.path === "name")?.line, 1);
});

test("checkPlugin() reports a folder without a manifest, and one that does not exist", async (t) => {
  const dir = await scratchDir(t);
  assert.equal(find(await check(t, dir), "manifest").code, "manifest.missing");
  assert.equal(find(await check(t, join(dir, "absent")), "manifest").code, "manifest.missing");
});

test("K-043 checkPlugin() finds a capability that leads nowhere and still looks at the imports", async (t) => {
  const report = await checkFixture(t, "echo", {
    manifest: { capabilities: ["read:fs:/nonexistent/notes"] },
  });
  assert.deepEqual([broken(report), tried(report)], [["capabilities"], ["manifest", "capabilities", "imports"]]);
  assert.equal(find(report, "capabilities").code, "capability.path_missing");
});

test("checkPlugin() does not call a capability kept when the cage cannot be built", async (t) => {
  const report = await checkFixture(t, "echo", {
    manifest: { command: ["no-such-runtime", "./index.js"], capabilities: ["write:fs:config:/echo"] },
  });
  assert.deepEqual([broken(report), find(report, "cage").code], [["cage"], "cage.command_missing"]);
  assert.equal(find(report, "capabilities").detail, "Not tried: cage failed");
});

test("checkPlugin() names an import that leaves the folder, with file and line", async (t) => {
  const report = await checkFixture(t, "echo", { files: { "index.js": '\nimport "../elsewhere.js";\n' } });
  assert.deepEqual(find(report, "imports").data, {
    leaving: [{ file: "index.js", line: 2, specifier: "../elsewhere.js", reason: "leaves the folder" }],
  });
});

test("checkPlugin() shows the last lines of a plugin that dies at once", async (t) => {
  const report = await checkFixture(t, "echo", {
    files: { "index.js": 'console.error("no such setting"); process.exit(4);\n' },
  });
  const { id, detail, log } = report.checks.find((c) => !c.ok)!;
  assert.deepEqual([id, log], ["initialize", ["no such setting"]]);
  assert.match(detail, /exit code 4/);
});

test("checkPlugin() ends early at its signal, and leaves nothing in the operator's folder", async (t) => {
  await using plugin = await fixturePlugin("never_initializes");
  const home = await scratchDir(t);
  const controller = new AbortController();
  const reason = new HostError("host.interrupted", "Enough");
  const onCheck = ({ id }: Check) => id === "cage" && controller.abort(reason);
  await assert.rejects(check(t, plugin.dir, { home, signal: controller.signal, onCheck }), reason);
  assert.deepEqual(await leftIn(join(home, "run")), []);
});

test("checkPlugin() starts nothing any more once its signal has aborted", async (t) => {
  await using plugin = await fixturePlugin("never_initializes");
  const runtime = await detectRuntime();
  const { processes } = runtime;
  const controller = new AbortController();
  let startedLate = 0;
  const spawn: typeof processes.spawn = (command, listeners) => {
    if (controller.signal.aborted) startedLate++;
    return processes.spawn(command, listeners);
  };
  // The manifest is read once more between the cage and the start: the signal comes meanwhile.
  const onCheck = ({ id }: Check) => void (id === "cage" && setImmediate(() => controller.abort()));
  const watched = { ...runtime, processes: { ...processes, spawn } };
  await assert.rejects(check(t, plugin.dir, { runtime: watched, signal: controller.signal, onCheck }));
  assert.equal(startedLate, 0);
});

async function leftIn(dir: string): Promise<string[]> {
  return await readdir(dir).catch(() => []);
}

test("checkPlugin() says in plain words what a plugin asks for, and what to think twice about", async (t) => {
  const report = await checkFixture(t, "echo", { manifest: { capabilities: ["net:*", "kaged:storage:read"] } });
  const { grants = [] } = find(report, "capabilities");
  assert.deepEqual(grants.map(({ text, danger }) => [text, danger !== null]), [
    ["Can use the whole network", true],
    ["Can read the rows it kept", false],
  ]);
});

test("D-012 checkPlugin() reports the name of an MCP server and the tools it lists", async (t) => {
  const report = await checkFixture(t, "mcp_tools");
  assert.equal(report.ok, true);
  assert.equal(find(report, "initialize.name").detail, 'mcp-tools; the server calls itself "Fixture Server"');
  assert.equal(find(report, "initialize.api").detail, "MCP 2025-11-25");
  assert.match(find(report, "methods").detail, /^Tools: mcp-tools\.say_it, mcp-tools\.count_words, /);
  assert.match(find(report, "methods").warnings![0]!, /schema of count_words/);
});

test("D-012 checkPlugin() finds the rule that an MCP server breaks", async (t) => {
  const rules = { mcp_clashes: "methods", mcp_wrong_version: "initialize.api", mcp_dies_in_initialize: "initialize" };
  for (const [fixture, rule] of Object.entries(rules)) {
    assert.deepEqual(broken(await checkFixture(t, fixture)), [rule], fixture);
  }
});

/** Checks a server that lists the tools given. */
async function checkTools(t: Test, tools: readonly object[]): Promise<CheckReport> {
  const data = await scratchDir(t);
  const TOOLS_FILE = join(data, "tools.json");
  await writeFile(TOOLS_FILE, JSON.stringify(tools));
  return await checkFixture(t, "mcp_from_file", {
    manifest: { env: { TOOLS_FILE }, capabilities: [`read:fs:${data}`] },
  });
}

test("checkPlugin() says how many tools of an MCP server are left out and why, and fails where all are", async (t) => {
  const good = { name: "good", inputSchema: { type: "object" } };
  const long = [1, 2, 3, 4].map((n) => ({ ...good, name: `${n}${"x".repeat(64)}` }));
  const odd = { name: "odd", inputSchema: {} };
  const some = await checkTools(t, [good, ...long, odd]);
  assert.equal(some.ok, true);
  const names = long.slice(0, 3).map(({ name }) => `"${name}"`).join(", ");
  assert.deepEqual(find(some, "methods").warnings, [
    `5 of 6 tools are left out: Its name is longer than 64 characters (${names} and 1 more); ` +
    'Its inputSchema is not of type "object" ("odd")',
  ]);
  const all = await checkTools(t, [odd]);
  assert.deepEqual(broken(all), ["methods"]);
  const { detail, code } = find(all, "methods");
  assert.deepEqual([detail, code], [
    'The only tool is left out: Its inputSchema is not of type "object" ("odd")',
    "check.tools_left_out",
  ]);
});
