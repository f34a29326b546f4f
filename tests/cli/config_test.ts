import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHost } from "../../src/create_host.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("config set, get, list and unset work on config.toml, and say what they did", async (t) => {
  const home = await scratchDir(t);
  const config = async (...args: string[]) => {
    const { code, stdout, stderr } = await runKaged(["config", ...args, "--home", home]);
    return code === 0 ? stdout + stderr : `${code} ${stdout}${stderr}`;
  };
  assert.equal(await config("list"), `${home}/config.toml sets nothing\n`);
  assert.equal(await config("set", "limits.memory_mb", "256"), "✓ limits.memory_mb = 256\n");
  assert.equal(await config("set", "limits.memory_mb", "256"), "✓ limits.memory_mb = 256, as before\n");
  assert.equal(await config("set", "hooks.network", "a:1", "b:2"), '✓ hooks.network = ["a:1","b:2"]\n');
  assert.equal(await config("set", "hooks.env", "LANG"), '✓ hooks.env = ["LANG"]\n');
  assert.equal(await config("set", "hooks.readable", '["/srv"]'), '✓ hooks.readable = ["/srv"]\n');
  assert.equal(await config("set", "hooks.agent_hooks", "true"), "✓ hooks.agent_hooks = true\n");
  assert.equal(await config("set", "runtimes.7", "/opt/7"), '✓ runtimes.7 = "/opt/7"\n');
  assert.equal(await config("get", "limits.memory_mb"), "256\n");
  assert.equal(await config("get", "runtimes.7"), "/opt/7\n");
  assert.deepEqual(JSON.parse(await config("get", "hooks.env", "--json")), { key: "hooks.env", value: ["LANG"] });
  assert.equal(await config("unset", "hooks.env"), "✓ hooks.env is not set\n");
  assert.deepEqual(JSON.parse(await config("list", "--json")), {
    file: `${home}/config.toml`,
    settings: {
      "limits.memory_mb": 256,
      "hooks.network": ["a:1", "b:2"],
      "hooks.readable": ["/srv"],
      "hooks.agent_hooks": true,
      "runtimes.7": "/opt/7",
    },
  });
  assert.match(await config("list"), /^limits\.memory_mb = 256\nhooks\.network = \["a:1","b:2"\]\n/);
  assert.match(
    await config("get", "http.port"),
    /^1 error\[config\.not_set\]: ".*config\.toml" does not set http\.port\n/,
  );
});

test("config names the setting that was meant, and every slip in a file that a person wrote", async (t) => {
  const home = await scratchDir(t);
  const config = (...args: string[]) => runKaged(["config", ...args, "--home", home]);
  for (
    const [key, hint] of [
      ["limit.memory_mb", 'Did you mean "limits.memory_mb"?'],
      ["plugin_limits.notes.pid", 'Did you mean "plugin_limits.notes.pids"?'],
      ["loglevel", 'Did you mean "log_level"?'],
      ["plugin_limits.<plugin>.pids", /^Did you mean|^Settings/],
      [
        "secret",
        /^Settings: log_level, limits\.memory_mb, .*http\.calls_per_second, http\.trust_user_header, audit\.retention_days, audit\.min_free_mb, plugins\.start, plugins\.idle_stop_sec, approvals\.destructive, .*$/,
      ],
    ] as const
  ) {
    const { code, stdout } = await config("set", key, "1", "--json");
    const { error } = JSON.parse(stdout);
    assert.deepEqual([code, error.code], [1, "config.unknown_key"], key);
    if (typeof hint === "string") assert.equal(error.hint, hint);
    else assert.match(error.hint, hint);
  }
  await writeFile(join(home, "config.toml"), "[htpp]\nport = 1\n[limits]\npids = 3\n");
  const { stdout, stderr } = await config("list");
  assert.equal(stdout, "limits.pids = 3\n");
  assert.match(stderr, /^warning: .*config\.toml:1:2: The key "htpp" is not read\. Did you mean "http"\?\n$/);
});

test("config set says that running hosts go on as they were", async (t) => {
  const [home, project] = [await scratchDir(t), await scratchDir(t)];
  await writeFile(join(project, "project.yaml"), "primary: {}\n");
  await using host = await createHost({ project, home, audit: [] });
  await host.start();
  const { code, stderr } = await runKaged(["config", "set", "log_level", "debug", "--home", home]);
  assert.equal(code, 0);
  assert.equal(stderr, "  1 running host goes on as it was; it takes this up with the next start\n");
  assert.equal(await readFile(join(home, "config.toml"), "utf8"), 'log_level = "debug"\n');
  // Rules on tools and their settings are taken up while a host runs.
  assert.equal((await runKaged(["config", "set", "approvals.wait_sec", "30", "--home", home])).stderr, "");
});
