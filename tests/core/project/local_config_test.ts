import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { DEFAULT_HOOK_SETTINGS } from "../../../src/core/project/hook_settings.ts";
import { parseLocalConfig, readLocalConfig } from "../../../src/core/project/local_config.ts";
import { parseOperatorConfig, readOperatorConfig } from "../../../src/core/project/operator_config.ts";
import { readToml } from "../../../src/core/documents/read_toml.ts";
import type { Issue } from "../../../src/core/project/types.ts";
import { DocumentReport } from "../../../src/core/documents/document_report.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const file = "local.toml";

async function issuesOf(read: Promise<unknown>): Promise<string[]> {
  try {
    await read;
    return [];
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    const { issues } = thrown.data as { issues: Issue[] };
    return issues.map(({ code, line, column, path }) => `${code} ${line}:${column} ${path}`.trim());
  }
}

test("X-13 records and secrets have tables of their own, and a package without a scope has one for both", async () => {
  const { records, secrets, models, warnings } = await parseLocalConfig(
    `[plugins.memory-markdown]
installed = "0.1.0"
hash = "sha256-x"
local = true
enabled = true
package = "@kaged/memory-markdown"
source = "https://example.org/memory"
projects = ["music"]
withheld = ["net:A.example.:443"]
added = ["net:B.example.:443"]

[plugins."@kaged/memory-hindsight"]
api_token = "\${TOKEN}"
nested = { a = [1, { b = 2 }] }

[plugins.notes]
installed = "1.0.0"
key = "k"

[models]
fast = "small-1"
`,
    { file },
  );
  assert.deepEqual([...records.values()], [
    {
      name: "memory-markdown",
      installed: "0.1.0",
      hash: "sha256-x",
      package: "@kaged/memory-markdown",
      local: true,
      enabled: true,
      source: "https://example.org/memory",
      projects: ["music"],
      withheld: ["net:a.example:443"],
      added: ["net:b.example:443"],
    },
    { name: "notes", installed: "1.0.0", local: false, enabled: false, projects: [], withheld: [], added: [] },
  ]);
  const values = [...secrets].map(([name, { values }]) => [name, values]);
  assert.deepEqual(values, [
    ["@kaged/memory-hindsight", { api_token: "${TOKEN}", nested: { a: [1, { b: 2 }] } }],
    ["notes", { key: "k" }],
  ]);
  const { placeOf } = secrets.get("@kaged/memory-hindsight")!;
  assert.deepEqual([placeOf(["api_token"]), placeOf(["nested", "a", 1, "b"])], [
    { line: 13, column: 13 },
    { line: 14, column: 26 },
  ]);
  assert.deepEqual([[...models], warnings], [[["fast", "small-1"]], []]);
});

test("wrong types in local.toml have their place, and an unknown key is a warning", async () => {
  const text = '[plugins]\na = 1\n[plugins.b]\ninstalled = 3\nlocal = "yes"\n';
  assert.deepEqual(await issuesOf(parseLocalConfig(text, { file })), [
    "local.wrong_type 2:5 plugins.a",
    "local.wrong_type 4:13 plugins.b.installed",
    "local.wrong_type 5:9 plugins.b.local",
  ]);
  for (const list of ['["net:*", 7]', '["net"]', '"net:*"']) {
    const record = `[plugins.b]\ninstalled = "1.0.0"\nwithheld = ${list}\n`;
    assert.deepEqual(await issuesOf(parseLocalConfig(record, { file })), ["local.wrong_type 3:12 plugins.b.withheld"]);
  }
  const { warnings } = await parseLocalConfig("[plugin.x]\na = 1\n", { file });
  assert.deepEqual(warnings.map(({ code, path }) => [code, path]), [["local.unknown_key", "plugin"]]);
});

test("a syntax error has a line and a column, and nothing of the text, which may be a secret", async () => {
  const secret = "s3cr3tvalue";
  for (
    const text of [`\n[plugins."@x/y"]\ntoken = ${secret}\n`, `a = "${secret}\n`, `${secret}\n`, `a = "x" ${secret}`]
  ) {
    await assert.rejects(parseLocalConfig(text, { file }), (thrown) => {
      assert.ok(thrown instanceof HostError);
      const { code, message, data, hint } = thrown;
      assert.equal(code, "local.invalid");
      const { issues } = data as { issues: Issue[] };
      assert.equal(issues[0]?.code, "local.toml_syntax");
      assert.ok(!JSON.stringify([message, data, hint]).includes(secret), message);
      return true;
    });
  }
  assert.deepEqual(await issuesOf(parseLocalConfig(`\n\na = ${secret}\n`, { file })), ["local.toml_syntax 3:5"]);
});

test("a file that is not there says nothing; one that is too large or no text is refused", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  const { records, secrets } = await readLocalConfig(home, files);
  assert.deepEqual([records.size, secrets.size], [0, 0]);
  assert.equal((await readOperatorConfig(home, files)).logLevel, "info");
  await writeFile(join(home, "local.toml"), `# ${"x".repeat(2_000_000)}`);
  assert.deepEqual(await issuesOf(readLocalConfig(home, files)), ["local.too_large 1:1"]);
  await writeFile(join(home, "local.toml"), new Uint8Array([0xff, 0xfe]));
  assert.deepEqual(await issuesOf(readLocalConfig(home, files)), ["local.not_utf8 1:1"]);
  await writeFile(join(home, "config.toml"), "[limits]\nmemory_mb = 64\n");
  assert.deepEqual((await readOperatorConfig(home, files)).limits, { memory_mb: 64 });
});

test("config.toml: runtimes, limits, hooks, http, audit, approvals, plugins and the log level", async () => {
  const config = await parseOperatorConfig(
    `log_level = "debug"
[runtimes]
deno = "/opt/deno"
[limits]
memory_mb = 256
[plugin_limits.memory-markdown]
pids = 20
cpu_shares = 128
[hooks]
git_writable = true
[http]
port = 8080
[audit]
retention_days = 30
[approvals]
wait_sec = 30
[plugins]
start = "on_demand"
idle_stop_sec = 60
[[tool_rules]]
tool = "mail.*"
decision = "ask"
`,
    { file: "config.toml" },
  );
  assert.deepEqual(config, {
    file: "config.toml",
    runtimes: { deno: "/opt/deno" },
    limits: { memory_mb: 256 },
    pluginLimits: { "memory-markdown": { pids: 20, cpu_shares: 128 } },
    hooks: { ...DEFAULT_HOOK_SETTINGS, git_writable: true },
    http: { port: 8080 },
    audit: { retention_days: 30 },
    plugins: { start: "on_demand", idle_stop_sec: 60 },
    netRules: [],
    toolRules: [{ tool: "mail.*", agent: null, project: null, decision: "ask", id: "config.toml:20" }],
    approvals: { destructive: "allow", waitSec: 30, network: "refuse", sampling: "ask" },
    logLevel: "debug",
    warnings: [],
  });
});

test("config.toml: a limit that would not hold is refused, an unknown table is a warning", async () => {
  const text = `log_level = "loud"
[runtimes]
deno = "bin/deno"
[limits]
memory = 1
pids = 0
[plugin_limits]
x = 3
`;
  assert.deepEqual(await issuesOf(parseOperatorConfig(text, { file: "config.toml" })), [
    "config.invalid_value 1:13 log_level",
    "config.invalid_value 3:8 runtimes.deno",
    "config.unknown_key 5:1 limits.memory",
    "config.invalid_value 6:8 limits.pids",
    "config.wrong_type 8:5 plugin_limits.x",
  ]);
  const { warnings } = await parseOperatorConfig("[limit]\nx = 1\n", { file: "config.toml" });
  assert.deepEqual(warnings.map(({ code, path, hint }) => [code, path, hint]), [
    ["config.unknown_key", "limit", 'Did you mean "limits"?'],
  ]);
});

interface Tagged {
  readonly type: string;
  readonly value: string;
}

/** What the suite's tagged value is as plain data; dates stay texts of any form. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  const { type, value: text } = value as Tagged;
  if (typeof type !== "string" || typeof text !== "string") {
    return Object.fromEntries(Object.entries(value as object).map(([key, part]) => [key, plain(part)]));
  }
  if (type === "bool") return text === "true";
  if (type === "integer") return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  if (type === "float") return Number(text.replace(/inf/, "Infinity"));
  return type === "string" ? text : "date";
}

const datesAs = (value: unknown, other: unknown): unknown => {
  if (other === "date") return typeof value === "string" ? "date" : value;
  if (Array.isArray(value)) return value.map((part, index) => datesAs(part, (other as unknown[])?.[index]));
  if (typeof value !== "object" || value === null) return value;
  const map = (other ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, datesAs(part, map[key])]));
};

test("the TOML suite: valid files give their data, the others an issue at a place", async () => {
  const root = new URL("../../corpora/toml-test/", import.meta.url);
  const list = (await readFile(new URL("files-toml-1.1.0", root), "utf8")).split("\n").filter((name) =>
    name.endsWith(".toml")
  );
  let count = 0;
  for (const name of list) {
    const bytes = await readFile(new URL(name, root)).catch(() => null);
    if (bytes === null) continue; // The corpus is a part of the suite.
    count++;
    const report = new DocumentReport(name, { room: "local", title: name, maxBytes: 1_000_000 });
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      assert.match(name, /^invalid\//);
      continue;
    }
    const document = await readToml(text, report);
    if (name.startsWith("invalid/")) {
      assert.ok(document === null && !report.isClean, name);
      continue;
    }
    const expected = plain(JSON.parse(await readFile(new URL(name.replace(/toml$/, "json"), root), "utf8")));
    assert.deepEqual(datesAs(document?.data, expected), expected, name);
  }
  assert.ok(count > 300, String(count));
});

test("a tower of brackets in TOML is refused and not climbed", async () => {
  assert.deepEqual(await issuesOf(parseLocalConfig(`a = ${"[".repeat(100_000)}`, { file })), [
    "local.toml_syntax 1:133",
  ]);
});

test("added in a record takes hosts and nothing else, and a place is named", async () => {
  for (const wrong of ['["net:*"]', '["net:[]"]', '["read:fs:/srv"]', '["a.example"]', "[1]", '"net:a.example:443"']) {
    await assert.rejects(parseLocalConfig(`[plugins.notes]\ninstalled = "1.0.0"\nadded = ${wrong}\n`, { file }), {
      code: "local.invalid",
    }, wrong);
  }
});
