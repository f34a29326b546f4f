import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { PLUGIN_TEMPLATES } from "../../../src/cli/generated/plugin_templates.ts";
import { SDK_PY } from "../../../src/cli/generated/python_sdk_source.ts";
import { SDK_DTS, SDK_JS } from "../../../src/cli/generated/sdk_source.ts";
import { checkConformance, type ConformanceOptions } from "../../../src/operator/conformance/check_conformance.ts";
import { CONFORMANCE_RULES } from "../../../src/operator/conformance/rules.ts";
import type { ConformanceReport } from "../../../src/operator/conformance/try_rules.ts";
import { scaffold } from "../../../src/operator/scaffold/scaffold.ts";
import { type FixtureOptions, fixturePlugin } from "../../support/fixture_plugins.ts";
import { processesIn } from "../../support/processes_in.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const texts = { ...PLUGIN_TEMPLATES, "kaged_sdk.js": SDK_JS, "kaged_sdk.d.ts": SDK_DTS, "kaged_sdk.py": SDK_PY };

type Test = Parameters<typeof scratchDir>[0];

async function check(t: Test, dir: string, options: Partial<ConformanceOptions> = {}): Promise<ConformanceReport> {
  return await checkConformance(dir, { runtime: await detectRuntime(), home: await scratchDir(t), ...options });
}

const brokenIn = ({ rules }: ConformanceReport) => rules.filter(({ status }) => status === "failed");

const example = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** A shell reads a line byte by byte: the one rule about 4 MiB takes it ten seconds and more, too long for here. */
const QUICK_RULES: readonly string[] = CONFORMANCE_RULES.map(({ id }) => id).filter((id) => id !== "lines.long");

for (const path of ["notes", "tasks", "hello-python", "hello-bash"]) {
  test(`K-065 the example ${path} keeps every rule of the wire in its cage`, async (t) => {
    const dir = example(`examples/plugins/${path}`);
    const report = await check(t, dir, path === "hello-bash" ? { rules: QUICK_RULES } : {});
    assert.deepEqual([report.ok, brokenIn(report)], [true, []]);
  });
}

for (const name of ["memory-markdown", "smart-compactor"]) {
  test(`the reference plugin ${name} keeps every rule of the wire`, async (t) => {
    assert.deepEqual(brokenIn(await check(t, example(`plugins/${name}`))), []);
  });
}

for (const runtime of ["js", "python", "bash"] as const) {
  test(`K-065 what kaged plugin new writes in ${runtime} keeps every rule of the wire`, async (t) => {
    const dir = await scratchDir(t);
    for (const [path, { content, mode }] of scaffold({ name: "fresh", runtime, texts })) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), content, { mode });
    }
    assert.deepEqual(brokenIn(await check(t, dir, runtime === "bash" ? { rules: QUICK_RULES } : {})), []);
  });
}

test("K-009 real processes in their cage break the rules they are made to break", async (t) => {
  const cases: readonly (readonly [fixture: string, rule: string, detail: RegExp, options?: FixtureOptions])[] = [
    ["exits_before_initialize", "initialize.first", /^It ended with exit code /],
    ["wrong_name", "initialize.result", /name is ".*" but must be "wrong-name"/],
    ["five_mib_line", "methods", /^fixture\.call: It wrote a line of more than 4 MiB$/],
    ["ignores_shutdown", "shutdown", /^It is still there after 1 s$/, { manifest: { shutdown_timeout_sec: 1 } }],
  ];
  for (const [fixture, rule, detail, options] of cases) {
    await using plugin = await fixturePlugin(fixture, options);
    const report = await check(t, plugin.dir, { rules: [rule] });
    assert.deepEqual(brokenIn(report).map(({ id }) => id), [rule], fixture);
    assert.match(brokenIn(report)[0]!.detail, detail);
    assert.deepEqual(await processesIn(plugin.dir), []);
  }
});

test("a server of MCP, and a folder without a plugin, are refused with the next step", async (t) => {
  await using server = await fixturePlugin("mcp_tools");
  await assert.rejects(check(t, server.dir), { code: "check.conformance_mcp", hint: "Leave --conformance away" });
  await assert.rejects(check(t, await scratchDir(t)), { code: "manifest.missing" });
});
