import assert from "node:assert/strict";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createHost } from "../../src/create_host.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { putInstalled } from "../support/installed.ts";
import { type KagedOptions, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const SECRET = "Qx7_s3cr3t-of-the-operator";

/** A home with the plugin `echo`, which takes `api_token` and `region`. */
async function ground(t: TestContext, record = "local = true") {
  const home = await scratchDir(t);
  const manifest = {
    capabilities: ["net:api.example.org:443"],
    system_config_schema: {
      type: "object",
      properties: { api_token: { type: "string" }, region: { type: "string" } },
      required: ["api_token"],
    },
    secrets: { api_token: { hosts: ["api.example.org:443"] } },
  };
  const plugin = await fixturePlugin("echo", { manifest });
  t.after(() => plugin[Symbol.asyncDispose]());
  await putInstalled(home, "echo", plugin.dir, record);
  const secret = async (args: readonly string[], options: KagedOptions = {}) => {
    const { code, stdout, stderr } = await runKaged(["secret", ...args, "--home", home], options);
    assert.equal((stdout + stderr).includes(SECRET), false, "the value was printed");
    return code === 0 ? stdout + stderr : `${code} ${stdout}${stderr}`;
  };
  return { home, secret, file: join(home, "local.toml") };
}

test("N-023 secret set writes a value where the plugin finds it, beside its install record, for nobody else to read", async (t) => {
  const { home, secret, file } = await ground(t);
  const before = await readFile(file, "utf8");
  await chmod(file, 0o644);
  assert.equal(await secret(["set", "echo", "api_token"], { input: `${SECRET}\n` }), "✓ api_token of echo is set\n");
  assert.equal(await readFile(file, "utf8"), `${before}api_token = "${SECRET}"\n`);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(
    await secret(["set", "echo", "api_token"], { input: SECRET }),
    "✓ api_token of echo is set, as before\n",
  );
  assert.match(await secret(["list"]), /^echo {2}api_token {2}set, from local\.toml; used at api\.example\.org:443/);
  const { code } = await runKaged(["plugin", "info", "echo", "--home", home]);
  assert.equal(code, 0);
  assert.equal(await secret(["unset", "echo", "api_token"]), "✓ api_token of echo is removed\n");
  assert.equal(await readFile(file, "utf8"), before);
});

test("secret set takes the plugin's name for its package, and changes a value in its place", async (t) => {
  const { secret, file } = await ground(t, 'local = true\npackage = "@x/echo"');
  await writeFile(file, `${await readFile(file, "utf8")}\n[plugins."@x/echo"]\n# from the console\nregion = "eu"\n`);
  assert.equal(await secret(["set", "echo", "region"], { input: "us" }), "✓ region of @x/echo is set\n");
  assert.match(await readFile(file, "utf8"), /\[plugins\."@x\/echo"\]\n# from the console\nregion = "us"\n/);
});

test("secret list shows where each value comes from, and what is lacking", async (t) => {
  const { secret, file } = await ground(t);
  const values = `region = "\${REGION}"\n[plugins."@y/other"]\nkey = "cmd:pass show ${SECRET}"\n`;
  await writeFile(file, `${await readFile(file, "utf8")}${values}`);
  assert.equal(
    await secret(["list"]),
    [
      "echo  api_token  not set, and required; used at api.example.org:443, and echo never sees it",
      "echo  region  set, from ${REGION}; echo sees it",
      "@y/other  key  set, from cmd:pass …; its plugin is not installed",
      "",
    ].join("\n"),
  );
  const { secrets } = JSON.parse(await secret(["list", "@y/other", "--json"]));
  assert.deepEqual(secrets, [
    { package: "@y/other", key: "key", plugin: null, from: "cmd:pass …", hosts: null, required: false },
  ]);
});

test("secret refuses a key that no plugin takes, one of the host's own, an empty value and one that is not set", async (t) => {
  const { secret } = await ground(t);
  const input = SECRET;
  assert.match(await secret(["set", "echo", "api_tokn"], { input }), /^1 error\[secret\.unknown_key\][^]*api_token/);
  assert.match(await secret(["set", "@x/new", "hash"], { input }), /^1 [^]*error\[secret\.reserved_key\]/);
  assert.match(await secret(["set", "echo", "api_token"], { input: "\n" }), /^1 error\[secret\.empty\]/);
  assert.match(await secret(["unset", "echo", "api_token"]), /^1 error\[secret\.not_set\]/);
  assert.match(
    await secret(["set", "@x/new", "key"], { input }),
    /^✓ key of @x\/new is set\nwarning: @x\/new is not installed/,
  );
});

test("a plugin that lacks a secret is refused with the command that sets it, which a running host takes up", async (t) => {
  const { home, secret } = await ground(t, "local = true\nenabled = true");
  const project = await scratchDir(t);
  await writeFile(join(project, "project.yaml"), "primary: { plugins: { e: { package: echo } } }\n");
  await using host = await createHost({ project, home, audit: [] });
  const { failed: [failure] } = await host.start();
  assert.equal(failure?.error.hint, "Run: kaged secret set echo api_token");
  const done = "✓ api_token of echo is set; 1 running host took it up\n";
  assert.equal(await secret(["set", "echo", "api_token"], { input: SECRET }), done);
  assert.deepEqual(host.plugins().map(({ plugin, state }) => [plugin, state]), [["echo", "running"]]);
});
