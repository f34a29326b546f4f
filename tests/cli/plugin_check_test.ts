import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { CHECK_IDS } from "../../src/operator/check/report.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { processesIn } from "../support/processes_in.ts";
import { runKaged, signalKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("kaged plugin check prints one line per rule and exits with 0 when all are kept", async (t) => {
  const tmp = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  const { code, stdout, stderr } = await runKaged(["plugin", "check", plugin.dir], {
    env: { TMPDIR: tmp },
    isProcess: true,
  });
  const lines = stdout.split("\n");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(lines.slice(0, CHECK_IDS.length).map((line) => line.slice(0, 2)), CHECK_IDS.map(() => "✓ "));
  assert.deepEqual(lines.slice(0, CHECK_IDS.length).map((line) => line.split(/\s+/)[1]), [...CHECK_IDS]);
  assert.deepEqual(lines.slice(CHECK_IDS.length), ["", `All ${CHECK_IDS.length} rules kept`, ""]);
  assert.deepEqual([await readdir(tmp), await processesIn(plugin.dir)], [[], []]);
});

test("kaged plugin check says that all rules are kept only where nothing is to be warned of", async () => {
  await using plugin = await fixturePlugin("mcp_tools");
  const { code, stdout } = await runKaged(["plugin", "check", plugin.dir]);
  assert.equal(code, 0);
  assert.match(stdout, /\n {20,}warning: The host cannot check arguments [^]*\n\n16 rules kept, with 1 warning\n$/);
});

test("kaged plugin check --json gives { ok, checks } with id, ok and detail in each", async () => {
  await using plugin = await fixturePlugin("wrong_version");
  const { code, stdout, stderr } = await runKaged(["plugin", "check", plugin.dir, "--json"]);
  const { ok, checks } = JSON.parse(stdout);
  assert.deepEqual([code, stderr, ok], [1, "", false]);
  assert.deepEqual(checks.map(({ id }: { id: string }) => id), [...CHECK_IDS]);
  for (const check of checks) assert.deepEqual([typeof check.ok, typeof check.detail], ["boolean", "string"]);
  const { id, code: failure, hint } = checks.find((check: { ok: boolean }) => !check.ok);
  assert.deepEqual([id, failure], ["initialize.version", "initialize.version_mismatch"]);
  assert.equal(typeof hint, "string");
});

test("kaged plugin check lists every issue of a manifest with file, line, column and code", async (t) => {
  const dir = await scratchDir(t);
  const file = join(dir, "kaged-plugin.yaml");
  await writeFile(file, "name: Bad Name\nversion: one\nhooks: [on_lunch]\n");
  const { code, stdout } = await runKaged(["plugin", "check", dir]);
  assert.equal(code, 1);
  for (
    const place of [
      `${file}:1:7 [manifest.invalid_name] name: `,
      `${file}:2:10 [manifest.invalid_version] version: `,
      `${file}:3:9 [manifest.unknown_hook] hooks[0]: `,
    ]
  ) {
    assert.ok(stdout.includes(place), `${place} in:\n${stdout}`);
  }
  assert.match(stdout, /hint: Correct each of these places\n/);
  assert.match(stdout, /1 rule broken, 15 not tried\n$/);
  const called = await runKaged(["plugin", "call", dir, "a.b"]);
  assert.equal(called.code, 1);
  assert.match(called.stderr, /^error\[manifest\.invalid\]: /);
  assert.ok(called.stderr.includes(`\n  ${file}:2:10 [manifest.invalid_version] version: `), called.stderr);
});

test("kaged plugin check takes a folder that does not exist for a plugin without a manifest", async () => {
  const { code, stdout } = await runKaged(["plugin", "check", "/nonexistent", "--json"]);
  assert.deepEqual([code, JSON.parse(stdout).checks[0].code], [1, "manifest.missing"]);
});

test("kaged plugin check cleans up without a word when its reader goes away", async (t) => {
  const tmp = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  const { code, stderr } = await runKaged(["plugin", "check", plugin.dir], {
    env: { TMPDIR: tmp },
    onStart: (child) => child.stdout?.once("data", () => child.stdout?.destroy()),
  });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual([await readdir(tmp), await processesIn(plugin.dir)], [[], []]);
});

test("kaged plugin check stops the plugin at SIGTERM, leaves nothing behind and exits with 143", async (t) => {
  const tmp = await scratchDir(t);
  await using plugin = await fixturePlugin("never_initializes");
  const { code, stderr } = await runKaged(["plugin", "check", plugin.dir], {
    env: { TMPDIR: tmp },
    onStart: (child) => {
      // The cage is the last rule that is printed before the plugin is spawned.
      child.stdout?.on("data", (chunk) => String(chunk).includes("cage") && signalKaged(child, "SIGTERM"));
    },
  });
  assert.deepEqual([code, stderr], [143, "error[host.interrupted]: Stopped by SIGTERM\n"]);
  assert.deepEqual([await readdir(tmp), await processesIn(plugin.dir)], [[], []]);
});

test("kaged plugin check and call find interpreters in [runtimes] of the operator's config.toml", async (t) => {
  const dir = await scratchDir(t);
  const [plugin, home] = [join(dir, "plugin"), join(dir, "home")];
  await cp(new URL("../../examples/plugins/hello-bash", import.meta.url), plugin, { recursive: true });
  const manifest = await readFile(join(plugin, "kaged-plugin.yaml"), "utf8");
  await writeFile(join(plugin, "kaged-plugin.yaml"), manifest.replace("[bash, ", "[my-shell, "));
  await mkdir(home);
  const without = await runKaged(["plugin", "check", plugin, "--home", home]);
  assert.equal(without.code, 1);
  await writeFile(join(home, "config.toml"), '[runtimes]\nmy-shell = "/usr/bin/bash"\n');
  assert.deepEqual((await runKaged(["plugin", "check", plugin, "--home", home])).code, 0);
  const call = await runKaged(["plugin", "call", plugin, "hello-bash.greet", '{"name":"Ada"}', "--home", home]);
  assert.match(call.stdout, /Hello, Ada!/);
  await writeFile(join(home, "config.toml"), "[runtimes]\nmy-shell = 1\n");
  const wrong = await runKaged(["plugin", "check", plugin, "--home", home]);
  assert.deepEqual([wrong.code, wrong.stderr.includes("config.toml:2:")], [1, true], wrong.stderr);
});

test("kaged plugin check --conformance shows what was sent, what came and where the rule is written", async () => {
  await using plugin = await fixturePlugin("refuses_pings");
  const args = ["plugin", "check", plugin.dir, "--conformance", "--rule", "ping"];
  const { code, stdout, stderr } = await runKaged(args);
  const lines = stdout.split("\n");
  assert.deepEqual([code, stderr], [1, ""]);
  assert.equal(lines[0], "✗ ping  Runs on after initialized and answers ping");
  assert.match(lines[1]!, /^ {4}ping: It answered the error \{"code":-32000,/);
  const said = lines.map((line) => line.trim().split(/ {2,}/)[0]);
  assert.deepEqual(said.slice(2, -3), [...new Array(4).fill("sent"), ...new Array(3).fill("came"), "written", "hint"]);
  assert.match(stdout, / docs\/wire\.md#what-a-plugin-owes-the-host \(K-011\)\n/);
  assert.equal(lines.at(-2), "refuses-pings 1.0.0 does not conform: 0 kept, 1 broken, 0 not tried");
});

test("kaged plugin check --conformance --json gives each rule with its evidence; all kept exits with 0", async () => {
  await using plugin = await fixturePlugin("no_config");
  const args = ["plugin", "check", plugin.dir, "--conformance", "--json", "--rule", "ping", "--rule", "garbage"];
  const { code, stdout, stderr } = await runKaged(args);
  const { ok, plugin: name, version, rules } = JSON.parse(stdout);
  assert.deepEqual([code, stderr, ok, name, version], [0, "", true, "no-config", "1.0.0"]);
  assert.deepEqual(rules.map((rule: { id: string }) => rule.id), ["ping", "garbage"]);
  assert.deepEqual(Object.keys(rules[0]), [
    "id",
    "requirement",
    "written",
    "expected",
    "status",
    "detail",
    "sent",
    "came",
  ]);
});

test("kaged plugin check warns of a field that looks like a credential and is in no list, and prints no secret", async () => {
  const fields = { api_key: { type: "string" }, db_token: { type: "string" }, region: { type: "string" } };
  const manifest = {
    system_config_schema: { type: "object", properties: fields },
    secrets: { db_token: { exposed: true } },
  } as const;
  await using plugin = await fixturePlugin("echo", { manifest });
  const config = JSON.stringify({ api_key: "s3cr3t-one", db_token: "s3cr3t-two", region: "eu-west" });
  const { code, stdout, stderr } = await runKaged(["plugin", "check", plugin.dir, "--config", config]);
  assert.deepEqual([code, stderr, stdout.match(/warning: /g)?.length], [0, "", 1]);
  assert.match(stdout, /warning: api_key looks like a credential, .*secrets.*exposed: true/);
  assert.match(
    stdout,
    /Takes \{"api_key":"\[secret:api_key\]","db_token":"\[secret:db_token\]","region":"\[secret:region\]"\}/,
  );
  assert.doesNotMatch(stdout, /s3cr3t|eu-west/);
});
