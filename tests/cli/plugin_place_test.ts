import assert from "node:assert/strict";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { putInstalled } from "../support/installed.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** A working folder with another plugin in `./echo` than the one that is installed as echo. */
async function ground(t: TestContext, manifest: Partial<Manifest> = {}) {
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  await using plugin = await fixturePlugin("echo", { manifest });
  await cp(plugin.dir, join(dir, "echo"), { recursive: true });
  const kaged = (...args: string[]) => runKaged([...args, "--home", home], { cwd: dir });
  const install = () => putInstalled(home, "echo", plugin.dir, 'local = true\npackage = "@test/echo"');
  const place = await install();
  await writeFile(join(dir, "echo/index.js"), "throw new Error('the folder ran');");
  return { dir, home, kaged, place };
}

const HINT = "hint: For the folder of that name write ./echo";

test("a name is an installed plugin, never a folder of the working directory, in call, check, conformance and replay", async (t) => {
  const { dir, kaged } = await ground(t);
  const call = await kaged("plugin", "call", "echo", "echo.params", '{"a":1}', "--record", "tape.jsonl");
  assert.equal(call.code, 0, call.stderr);
  assert.match(call.stdout, /"a": 1/);
  assert.equal((await kaged("plugin", "check", "echo")).code, 0);
  const rule = await kaged("plugin", "check", "echo", "--conformance", "--rule", "initialize.first");
  assert.equal(rule.code, 0, rule.stdout + rule.stderr);
  assert.equal((await kaged("replay", "tape.jsonl", "echo", "--ignore", "/result/context")).code, 0);
  const folder = await kaged("plugin", "call", "./echo", "echo.params");
  assert.equal(folder.code, 1);
  assert.match(folder.stderr, /the folder ran/);
  assert.equal((await kaged("plugin", "check", join(dir, "echo"))).code, 1);
});

test("a name that is not installed is refused with a hint at the folder of that name", async (t) => {
  const { dir, kaged } = await ground(t);
  await mkdir(join(dir, "empty"));
  const elsewhere = ["--home", join(dir, "other")];
  for (
    const command of [
      ["plugin", "call", "echo", "echo.params"],
      ["plugin", "check", "echo"],
      ["plugin", "check", "echo", "--conformance"],
      ["replay", "tape.jsonl", "echo"],
    ]
  ) {
    const { code, stderr } = await runKaged([...command, ...elsewhere], { cwd: dir });
    assert.deepEqual([code, stderr], [
      1,
      `error[plugin.not_installed]: No plugin "echo" is installed\n  ${HINT}\n`,
    ], command.join(" "));
  }
  const { code, stderr } = await kaged("plugin", "install", "echo");
  assert.equal(code, 1);
  assert.ok(stderr.startsWith('error[install.source_invalid]: "echo" is a name'), stderr);
  assert.ok(stderr.includes(HINT), stderr);
});

const config_schema = {
  type: "object",
  properties: { depth: { type: "integer", default: 3 } },
  additionalProperties: false,
} as const;
const system_config_schema = {
  type: "object",
  properties: { api_key: { type: "string" }, region: { type: "string", default: "north" } },
  required: ["api_key"],
  additionalProperties: false,
} as const;

test("plugin call, check and conformance fill in the defaults of both schemas", async (t) => {
  const { kaged } = await ground(t, { config_schema, system_config_schema });
  const given = ["--config", '{"api_key":"k"}'];
  const call = await kaged("plugin", "call", "echo", "echo.config", ...given, "--json");
  assert.deepEqual(JSON.parse(call.stdout), { result: { depth: 3, api_key: "k", region: "north" } });
  for (const flags of [[], ["--conformance", "--rule", "config.update"]]) {
    const check = await kaged("plugin", "check", "echo", ...given, ...flags);
    assert.equal(check.code, 0, check.stdout + check.stderr);
  }
});

test("plugin call, check and conformance refuse a plugin whose required secret is missing, and start nothing", async (t) => {
  const { home, kaged } = await ground(t, { config_schema, system_config_schema });
  const commands = [["call", "echo", "echo.config"], ["check", "echo"], ["check", "echo", "--conformance"]];
  for (const command of commands) {
    const { code, stderr } = await kaged("plugin", ...command);
    assert.equal(code, 1, command.join(" "));
    assert.match(stderr, /^error\[project\.config_invalid\]: "echo" cannot run with this config: .*api_key/);
    assert.match(stderr, /\n {2}hint: .*--config/);
  }
  const local = join(home, "local.toml");
  await writeFile(local, `${await readFile(local, "utf8")}\n[plugins."@test/echo"]\napi_key = "mine"\n`);
  const { stdout } = await kaged("plugin", "call", "echo", "echo.config", "--json");
  const { api_key } = JSON.parse(stdout).result;
  assert.equal(api_key, "[secret:api_key]", "the operator's own values reach an installed plugin, and no output");
  const folder = await kaged("plugin", "call", "./echo", "echo.config");
  assert.match(folder.stderr, /project\.config_invalid/, "and no folder that only says it is that plugin");
});
