import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import { createHost } from "../../src/create_host.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const tools = [{ name: "greet", description: "Says hello", parameters_schema: { type: "object" } }] as const;
const MANIFEST: Partial<Manifest> = { capabilities: [], tools, hooks: ["pre_compact"], roles: ["observer"] };

/** A project whose own folder holds a plugin that it declares, and the command. */
async function ground(t: TestContext, manifest: Partial<Manifest> = MANIFEST, fields: object = {}) {
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  await using plugin = await fixturePlugin("echo", { manifest });
  await mkdir(join(dir, "evil/plugins"), { recursive: true });
  await cp(plugin.dir, join(dir, "evil/plugins/echo"), { recursive: true });
  const declare = (more: object = fields) => {
    const e = { package: "@test/echo", source: "./plugins/echo", ...more };
    return writeFile(join(dir, "evil/project.yaml"), JSON.stringify({ primary: { plugins: { e } } }));
  };
  await declare();
  const args = (...flags: string[]) => ["project", "load", "evil", "--home", home, ...flags];
  const load = (...flags: string[]) => runKaged(args(...flags), { cwd: dir });
  const audited = async () => {
    const text = await readFile(join(home, "audit/_operator.jsonl"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line).type as string);
  };
  const installed = () => readdir(join(home, "plugins")).catch(() => []);
  return { dir, home, args, load, declare, audited, installed };
}

test("N-012 K-053 project load without a terminal installs nothing that was not named, though it asks for no capability", async (t) => {
  const { load, installed, audited } = await ground(t);
  for (const flags of [[], ["--grant", "kaged:storage:write"], ["--install", "@test/other"]]) {
    const { code, stdout, stderr } = await load(...flags);
    assert.equal(code, 1, stdout);
    assert.ok(stdout.endsWith("Project evil is pending: @test/echo not installed\n"), stdout);
    assert.equal(
      stderr,
      "pending: Nobody could be asked: Install echo?\n  hint: Agree with --install '@test/echo'\n",
    );
  }
  assert.deepEqual([await installed(), (await audited()).includes("plugin.consent_granted")], [[], false]);
  assert.equal((await load("--install", "@test/echo")).code, 0);
  assert.deepEqual(await installed(), ["echo"]);
  assert.ok((await audited()).includes("plugin.consent_granted"));
});

test("K-053 consent shows roles, hooks and tools beside capabilities, and a relative source by its whole path", async (t) => {
  const { dir, load } = await ground(t);
  const source = join(dir, "evil/plugins/echo");
  const { stdout } = await load();
  for (
    const line of [
      `  source: ${source}`,
      "  capabilities: none",
      "  roles: observer",
      "  hooks: pre_compact",
      "  tools: echo.greet",
    ]
  ) assert.ok(stdout.split("\n").includes(line), stdout);
  const { pending: [{ offer, error }] } = JSON.parse((await load("--json")).stdout);
  assert.deepEqual([offer.source, offer.roles, offer.hooks, offer.tools, offer.protocol], [
    source,
    ["observer"],
    ["pre_compact"],
    [{ name: "echo.greet", description: "Says hello" }],
    "kaged_stdio",
  ]);
  assert.deepEqual([error.code, error.hint], ["install.consent_missing", "Agree with --install '@test/echo'"]);
});

test("K-053 a plugin that was declined is not asked for again until the project declares it otherwise", async (t) => {
  if (!await canUseTerminal(t)) return;
  const { dir, args, load, declare, installed } = await ground(t);
  const question = "Install echo? [y/N]";
  const terminal = (answers: [string, string][], ...flags: string[]) =>
    onTerminal(args(...flags), answers, { cwd: dir, env: {} });
  assert.equal((await terminal([[question, "n"]])).code, 1);
  const silent = await terminal([]);
  assert.equal(silent.code, 1);
  assert.ok(silent.shown.includes("@test/echo was declined before, and is not asked for again"), silent.shown);
  assert.ok(silent.shown.includes("hint: Ask again with --ask-again"), silent.shown);
  const { pending: [request] } = JSON.parse((await load("--json")).stdout);
  assert.deepEqual([request.state, request.error.code], ["declined", "install.declined"]);
  assert.equal((await terminal([[question, "n"]], "--ask-again")).code, 1);
  await declare({ version: "^1" });
  assert.equal((await terminal([[question, "n"]])).code, 1);
  assert.deepEqual(await installed(), []);
  assert.equal((await load("--install", "@test/echo")).code, 0);
});

test("project load fails where project resolve does: for a secret that is missing", async (t) => {
  const system_config_schema = {
    type: "object",
    properties: { api_key: { type: "string" } },
    required: ["api_key"],
    additionalProperties: false,
  } as const;
  const { dir, home, load } = await ground(t, { ...MANIFEST, system_config_schema });
  const resolve = () => runKaged(["project", "resolve", "evil", "--home", home], { cwd: dir });
  const first = await load("--install", "@test/echo");
  assert.deepEqual([first.code, (await resolve()).code], [1, 1], first.stdout);
  assert.ok(first.stdout.endsWith("Project evil is not ready: see the errors above\n"), first.stdout);
  assert.match(first.stderr, /^error\[project\.config_invalid\] \[primary\]: .*api_key/);
  const { state, errors } = JSON.parse((await load("--json")).stdout);
  assert.deepEqual([state, errors[0].code], ["refused", "project.config_invalid"]);
  const local = join(home, "local.toml");
  await writeFile(local, `${await readFile(local, "utf8")}\n[plugins."@test/echo"]\napi_key = "k"\n`);
  assert.deepEqual([(await load()).code, (await resolve()).code], [0, 0]);
});

test("project load fails when a running host cannot start what was installed", async (t) => {
  const { dir, home, load } = await ground(t);
  await writeFile(join(dir, "evil/plugins/echo/index.js"), "process.exit(3);");
  await using host = await createHost({ project: join(dir, "evil"), home, audit: [], onWarning: () => {} });
  await host.start();
  const { code, stdout, stderr } = await load("--install", "@test/echo");
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^error\[plugin\.unavailable\]: .*"echo" ended with exit code 3/);
  assert.ok(stdout.endsWith("✓ Installed echo 1.0.0\nProject evil is not ready: see the errors above\n"), stdout);
});
