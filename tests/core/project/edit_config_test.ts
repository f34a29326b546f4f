import assert from "node:assert/strict";
import { lstat, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { withHomeLock } from "../../../src/core/files/file_lock.ts";
import { CONFIG_SETTINGS, settingOf } from "../../../src/core/project/config_settings.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import { readConfigFile, writeSetting } from "../../../src/core/project/edit_config.ts";
import type { TomlValue } from "../../../src/core/documents/edit_toml.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const FILE = `# how things run here

# small machine
[limits]
pids = 20 # builds need more
# memory_mb = 1

# whom hooks may ask
[hooks]
network = [
  "a.example:443", # theirs
]

[plugin_limits.notes] # it reads much
memory_mb = 900
`;

async function home(t: TestContext, text?: string) {
  const dir = await scratchDir(t);
  const file = join(dir, "config.toml");
  if (text !== undefined) await writeFile(file, text);
  const runtime = await detectRuntime();
  const set = (key: string, value: TomlValue | null) => writeSetting(dir, settingOf(key), value, runtime);
  return { dir, file, runtime, set, text: () => readFile(file, "utf8") };
}

test("a setting is changed in its own place, and comments, order and every other character stay", async (t) => {
  const { set, text } = await home(t, FILE);
  const changes: [key: string, value: TomlValue | null, from: string, to: string][] = [
    ["limits.pids", 30, "pids = 20 #", "pids = 30 #"],
    ["limits.memory_mb", 256, "builds need more\n", "builds need more\nmemory_mb = 256\n"],
    ["log_level", "debug", "here\n\n", 'here\n\nlog_level = "debug"\n\n'],
    ["log_level", "warn", '"debug"', '"warn"'],
    ["plugin_limits.notes.pids", 9, "900\n", "900\npids = 9\n"],
    ["hooks.git_writable", true, "]\n\n[plugin", "]\ngit_writable = true\n\n[plugin"],
    ["runtimes.python3.11", "/opt/p", "pids = 9\n", 'pids = 9\n\n[runtimes]\n"python3.11" = "/opt/p"\n'],
    ["http.allowed_hosts", ["a", "b"], '"/opt/p"\n', '"/opt/p"\n\n[http]\nallowed_hosts = ["a", "b"]\n'],
    ["hooks.git_writable", null, "git_writable = true\n", ""],
    ["plugin_limits.notes.memory_mb", null, "memory_mb = 900\n", ""],
    ["http.allowed_hosts", null, '\n[http]\nallowed_hosts = ["a", "b"]\n', "\n"],
    ["limits.memory_mb", null, "memory_mb = 256\n", ""],
    ["limits.pids", null, "pids = 30 # builds need more\n", ""], // The table stays for the comment in it.
  ];
  for (const [key, value, from, to] of changes) {
    const before = await text();
    assert.equal(await set(key, value), true, key);
    assert.equal(await text(), before.replace(from, to), key);
  }
});

test("a home without a file gets one only this user may read; the last setting that goes leaves nothing behind", async (t) => {
  const { set, text, file, dir } = await home(t);
  assert.equal(await set("http.port", null), false);
  assert.equal(await set("log_level", "debug"), true);
  assert.equal(await set("http.port", 0), true);
  assert.equal(await text(), 'log_level = "debug"\n\n[http]\nport = 0\n');
  assert.equal((await lstat(file)).mode & 0o777, 0o600);
  assert.equal(await set("http.port", 0), false);
  assert.equal(await set("log_level", null), true);
  assert.equal(await set("http.port", null), true);
  assert.equal((await text()).trim(), "");
  assert.deepEqual((await readdir(dir)).sort(), ["config.toml", "lock"]);
});

test("a value that is no good is refused with what is allowed, and the file stays as it was", async (t) => {
  const { set, text } = await home(t, FILE);
  for (
    const [key, value, code, message] of [
      ["limits.pids", 0, "config.invalid_value", "Cannot set limits.pids: A limit is not a whole number above 0"],
      ["limits.pids", "many", "config.invalid_value", /whole number above 0/],
      ["http.port", 65_536, "config.invalid_value", /whole number from 0 to 65535/],
      ["http.calls_per_second", 0.5, "config.invalid_value", /from 1 to 1000000/],
      ["log_level", "debg", "config.invalid_value", /"debg" is none of debug, info/],
      ["runtimes.deno", "deno", "config.invalid_value", /not absolute/],
      ["hooks.network", ["*"], "config.invalid_value", /hooks\.network/],
      ["hooks.git_writable", "yes", "config.wrong_type", /Expected true or false, got a text/],
    ] as const
  ) await assert.rejects(set(key, value), { code, message }, key);
  assert.equal(await text(), FILE);
});

test("a file that breaks a rule elsewhere is refused, and can be mended by the setting that breaks it", async (t) => {
  const { set, text, dir, runtime } = await home(t, "[limits]\npids = -1\n");
  await assert.rejects(set("http.port", 1), { code: "config.invalid", message: /config\.toml:2:8: A limit is not/ });
  assert.equal(await set("limits.pids", 7), true);
  assert.equal(await text(), "[limits]\npids = 7\n");
  assert.deepEqual([...(await readConfigFile(dir, runtime.files)).settings], [["limits.pids", 7]]);
});

test("a half-written file is reported with its place, and left alone", async (t) => {
  const half = "[limits]\npids = 2\nmemory_mb =";
  const { set, text, dir, runtime } = await home(t, half);
  const refusal = { code: "config.invalid", message: /config\.toml:3:/ };
  await assert.rejects(set("limits.pids", 3), refusal);
  await assert.rejects(readConfigFile(dir, runtime.files), refusal);
  assert.equal(await text(), half);
});

test("a file that is a link keeps being one", async (t) => {
  const { set, file, dir } = await home(t, FILE);
  await rename(file, join(dir, "real.toml"));
  await symlink("real.toml", file);
  await set("limits.pids", 5);
  assert.equal((await lstat(file)).isSymbolicLink(), true);
  assert.match(await readFile(join(dir, "real.toml"), "utf8"), /pids = 5 # builds/);
});

test("changes wait for the lock of the home, so that none is lost", async (t) => {
  const { set, text, dir, runtime } = await home(t);
  const ports = ["limits.pids", "limits.memory_mb", "http.port", "plugin_limits.a.pids", "plugin_limits.b.pids"];
  const held = Promise.withResolvers<void>();
  const holding = withHomeLock(dir, runtime, () => held.promise);
  const writing = ports.map((key, index) => set(key, index + 1));
  assert.equal(await runtime.files.info(join(dir, "config.toml")), null);
  held.resolve();
  await Promise.all([holding, ...writing]);
  const { settings } = await readConfigFile(dir, runtime.files);
  assert.deepEqual([...settings.keys()].sort(), [...ports].sort(), await text());
});

test("every setting that commands know is one that hosts read, and holds what they take", async (t) => {
  const { set, text, file } = await home(t);
  const values: Record<string, TomlValue> = {
    log_level: "info",
    "runtimes.<name>": "/opt/deno",
    "hooks.network": ["a.example:1"],
    "hooks.readable": ["/srv"],
    "hooks.writable": ["/srv"],
    "hooks.env": ["LANG"],
    "hooks.plugins": ["/srv/plugin"],
    "hooks.disable": ["a"],
    "hooks.turn_markers": ["<turn>"],
    "hooks.surface": "cloud",
    "plugins.start": "on_demand",
    "http.host": "::1",
    "http.allowed_hosts": ["a"],
    "approvals.destructive": "watch",
    "approvals.network": "ask",
    "approvals.sampling": "deny",
  };
  for (const [key, kind] of Object.entries(CONFIG_SETTINGS)) {
    const value = values[key] ?? (kind === "flag" ? true : 7);
    assert.equal(await set(key.replace(/<.*>/, "notes"), value), true, key);
  }
  const { warnings, limits, http, hooks, approvals } = await parseOperatorConfig(await text(), { file });
  assert.deepEqual(warnings, []);
  assert.deepEqual(limits, { memory_mb: 7, cpu_shares: 7, pids: 7, storage_mb: 7, timeouts: 7, weight: 7 });
  assert.deepEqual(http, { port: 7, host: "::1", allowed_hosts: ["a"], calls_per_second: 7, trust_user_header: true });
  assert.deepEqual(approvals, { destructive: "watch", waitSec: 7, network: "ask", sampling: "deny" });
  assert.deepEqual([hooks.surface, hooks.git_writable], ["cloud", true]);
});

test("a byte order mark in front of config.toml stays through a change", async (t) => {
  const { set, text } = await home(t, "\ufeff[limits]\npids = 3\n");
  await set("limits.pids", 4);
  assert.equal(await text(), "\ufeff[limits]\npids = 4\n");
});
