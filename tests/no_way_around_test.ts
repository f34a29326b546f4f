import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../src/adapters/default.ts";
import { probeCage } from "../src/core/cage/probe_cage.ts";
import { createSupervisor } from "../src/core/supervisor/supervisor.ts";
import { fixturePlugin } from "./support/fixture_plugins.ts";
import { requireOrSkip } from "./support/require_or_skip.ts";
import { runKaged } from "./support/run_kaged.ts";
import { scratchDir } from "./support/scratch_dir.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const runtime = await detectRuntime();

/** Code of every source file, without its comments. */
async function sources(): Promise<{ path: string; code: string }[]> {
  const entries = await readdir(join(root, "src"), { recursive: true });
  const paths = entries.filter((entry) => /\.[jt]s$/.test(entry)).map((entry) => join("src", entry)).sort();
  return await Promise.all(paths.map(async (path) => {
    const text = await readFile(join(root, path), "utf8");
    // Comments that begin a line: `/*` within a line may be part of a text, and must not hide the code after it.
    return { path, code: text.replace(/^[ \t]*\/\*[^]*?\*\//gm, "").replace(/^\s*\/\/.*$/gm, "") };
  }));
}

const filesWith = async (pattern: RegExp): Promise<string[]> =>
  (await sources()).filter(({ code }) => pattern.test(code)).map(({ path }) => path);

async function canCage(t: TestContext): Promise<boolean> {
  const can = async (home: string): Promise<boolean> => (await probeCage(runtime, home)).error === null;
  return await requireOrSkip(t, "a working bubblewrap", await can(await scratchDir(t)), "run kaged doctor");
}

test("K-045 processes are started in these places and nowhere else in the source", async () => {
  assert.deepEqual(
    await filesWith(/child_process|Deno\.Command|Bun\.spawn|node:cluster|worker_threads|process\.dlopen/),
    [
      "src/adapters/generated/relay_program.ts", // The text of relay.js, which runs inside a cage.
      "src/adapters/generated/storage_program.ts", // The text of storage_child.ts.
      "src/adapters/shared/child_pipes.ts", // The type of a child.
      "src/adapters/shared/child_streams.ts", // The same.
      "src/adapters/shared/pipe_store.ts", // bash, by a fixed path, which makes pipes and runs nothing.
      "src/adapters/shared/processes.ts",
      "src/adapters/shared/storage_child.ts", // A thread that looks whether the host still lives.
      "src/operator/check/leaving_imports.ts", // A list of names.
      "src/relay/relay.js",
    ],
  );
  assert.deepEqual(await filesWith(/processes\s*\.spawn\(/), [
    "src/adapters/shared/kernel_files.ts", // The host's own program, on the host's own runtime.
    "src/adapters/shared/script_programs.ts", // A runtime that the embedder, the operator or the system names: --version.
    "src/cli/open_console.ts", // The operator's own browser, by a fixed path.
    "src/core/cage/caged_process.ts", // The command of a cage.
    "src/core/cage/output_of.ts",
    "src/core/cage/ready_launcher.ts", // A cage's launcher, made in open_cage.ts, before it has orders.
    "src/core/project/references.ts", // The operator's own commands, which local.toml names.
    "src/core/storage/storage_process.ts", // The host's own program, on the host's own runtime.
    "src/operator/mcp_add/run_npm.ts", // npm or bun, which fetch a package and run nothing of it.
    "src/operator/syscalls/watch_syscalls.ts", // Passes on what it is given, with strace before a cage's launcher.
    "src/packages/install/run_git.ts", // git, with nothing of a repository that it would run.
  ]);
  // Programs of the host itself: bubblewrap, bash, systemd and strace, by fixed paths and without a word of a plugin's.
  assert.deepEqual(await filesWith(/\boutputOf\(/), [
    "src/core/cage/find_bwrap.ts",
    "src/core/cage/limits/choose_tier.ts",
    "src/core/cage/net/own_network.ts",
    "src/core/cage/output_of.ts",
    "src/core/cage/probe_cage.ts",
    "src/operator/syscalls/watch_syscalls.ts",
  ]);
});

test("K-045 plugins, hooks, checks and the probe run by one caged process, which spawns the command of a cage", async () => {
  const { code } = (await sources()).find(({ path }) => path === "src/core/cage/caged_process.ts")!;
  assert.deepEqual([...code.matchAll(/processes\s*\.spawn\(([^,]*),/g)].map((match) => match[1]), ["cage.command"]);
  assert.deepEqual(await filesWith(/\bopenCage\(/), [
    "src/core/cage/caged_process.ts",
    "src/core/cage/open_cage.ts",
    "src/operator/check/check_plugin.ts", // Opens one and closes it: nothing runs in it.
  ]);
  assert.deepEqual(await filesWith(/\bCagedProcess\.start\(/), [
    "src/core/cage/probe_cage.ts",
    "src/core/supervisor/program.ts",
    "src/hooks/sources/command/caged_runner.ts",
    "src/operator/plugin_wire.ts",
  ]);
  // A cage's command is made in one place, and always leads to bubblewrap.
  assert.deepEqual(await filesWith(/\blaunchCommand\(/), ["src/core/cage/launcher.ts", "src/core/cage/open_cage.ts"]);
  assert.deepEqual(await filesWith(/\bspawnPlugin\(/), [
    "src/core/supervisor/instance.ts",
    "src/core/supervisor/instance_mcp.ts", // The probe of a server's revision, in a cage like any other.
    "src/core/supervisor/plugin_process.ts",
  ]);
});

test("K-045 no variable of the environment that the source reads is about the cage", async () => {
  const read = new Set<string>();
  for (const { path, code } of await sources()) {
    if (path.startsWith("src/sdk/") || path.includes("/generated/")) continue; // These run inside a cage.
    for (const [, name] of code.matchAll(/\benv\(["'`]([A-Z_]+)["'`]\)/g)) read.add(name!);
    for (const [, name] of code.matchAll(/\benv(?:\.|\[["'`])([A-Z_]{2,})/g)) read.add(name!);
  }
  const known = ["DISPLAY", "HOME", "KAGED_HOME", "NO_COLOR", "PATH", "TERM", "TMPDIR", "WAYLAND_DISPLAY"];
  const roots = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]; // The certificates by which the gatekeeper knows a bound host.
  assert.deepEqual([...read].sort(), [...known, ...roots].sort());
});

test("K-045 no word in the source stands for a plugin without its cage", async () => {
  const words =
    /no[-_]?sandbox|no[-_]?cage|uncaged|(skip|disable|without|bypass)[-_]?(the)?[-_]?(cage|sandbox|seccomp)/i;
  assert.deepEqual(await filesWith(words), []);
});

const SWITCHES = [
  ...["--no-sandbox", "--no-cage", "--unsafe", "--privileged", "--trusted", "--allow-all", "--disable-sandbox"],
  ...["--sandbox=false", "--cage=off", "--seccomp=unconfined"],
];
const VARIABLES = Object.fromEntries(
  ["KAGED_NO_SANDBOX", "NO_SANDBOX", "KAGED_NO_CAGE", "KAGED_UNSAFE", "KAGED_TRUSTED", "KAGED_ALLOW_ALL", "KAGED_DEV"]
    .map((name) => [name, "1"]).concat([["KAGED_SANDBOX", "0"], ["KAGED_CAGE", "off"], ["KAGED_SECCOMP", "off"]]),
);
const READ = ["echo.read", '{"path":"/etc/passwd"}'];

test("K-045 the command knows no switch that takes a plugin out of its cage", async () => {
  await using plugin = await fixturePlugin("echo");
  for (const command of [["plugin", "call", plugin.dir, ...READ], ["plugin", "check", plugin.dir]]) {
    for (const flag of SWITCHES) {
      const { code, stdout } = await runKaged([...command, flag]);
      assert.deepEqual([code, stdout.includes("root:")], [2, false], `${command[1]} ${flag}`);
    }
  }
});

test("K-045 neither variables nor a config file of the operator take a plugin out of its cage", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await fixturePlugin("echo");
  const home = await scratchDir(t);
  const keys = ["sandbox = false", "no_sandbox = true", 'cage = "disabled"', "trusted = true", 'seccomp = "off"'];
  const tables = ["cage", "sandbox", "plugins.echo", "plugin_limits.echo"].map((table) =>
    [`[${table}]`, "enabled = false", ...keys].join("\n")
  );
  await writeFile(join(home, "local.toml"), ["[plugins.echo]", "enabled = true", ...keys, ""].join("\n"));
  const call = async (config: string) => {
    await writeFile(join(home, "config.toml"), config);
    const run = await runKaged(["plugin", "call", plugin.dir, ...READ, "--json", "--home", home], { env: VARIABLES });
    const { error } = JSON.parse(run.stdout);
    return [run.code, error.code, error.data?.code];
  };
  const caged = [1, "plugin.error", "ENOENT"];
  // A key that config.toml does not have is passed over, or stops the command before anything is started.
  const stopped = [1, "config.invalid", undefined];
  for (const config of ["", ...keys, ...tables]) {
    const outcome = await call(`${config}\n`);
    assert.deepEqual(outcome, outcome[1] === "config.invalid" ? stopped : caged, config);
  }
  assert.deepEqual(await call(tables.at(-1)!), stopped, "a limit that is none does not pass for one");
});

test("K-045 no option of the supervisor and of a plugin's entry takes it out of its cage", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await fixturePlugin("echo");
  const off = {
    sandbox: false,
    noSandbox: true,
    cage: false,
    caged: false,
    uncaged: true,
    trusted: true,
    unsafe: true,
  };
  const open = { ...off, openCage: () => assert.fail("A cage of the caller's"), seccomp: null, isolation: "none" };
  await using supervisor = createSupervisor({ ...open, runtime, home: await scratchDir(t) } as never);
  const { instance } = await supervisor.register({ ...open, dir: plugin.dir } as never);
  await supervisor.start(instance);
  const reading = supervisor.call(instance, "echo.read", { path: "/etc/passwd" }, open as never);
  await assert.rejects(reading, (error: { data: { code: string } }) => error.data.code === "ENOENT");
  const { cage } = supervisor.plugin(instance);
  assert.deepEqual([typeof cage?.id, cage?.limits.memory_mb], ["string", 512]);
});

test("K-045 a manifest can ask neither for a weaker cage nor for other limits", async (t) => {
  const home = await scratchDir(t);
  const keys = { cage: "disabled", sandbox: false, trusted: true, seccomp: "relaxed", limits: { memory_mb: 9999 } };
  for (const [key, value] of Object.entries(keys)) {
    await using plugin = await fixturePlugin("echo", { manifest: { [key]: value } });
    await using supervisor = createSupervisor({ runtime, home });
    await assert.rejects(supervisor.register({ dir: plugin.dir }), { code: /^manifest\./ }, key);
  }
});

test("a program that is no bubblewrap does not stand in for it, whoever names it", async (t) => {
  await using plugin = await fixturePlugin("echo");
  const home = await scratchDir(t);
  await writeFile(join(home, "bwrap"), "#!/bin/sh\nexec true\n", { mode: 0o777 });
  for (
    const [bwrap, code] of [["/usr/bin/env", "bwrap_old"], [join(home, "bwrap"), /bwrap_(old|untrusted)/]] as const
  ) {
    await using supervisor = createSupervisor({ runtime, home, runtimes: { bwrap } });
    const { instance } = await supervisor.register({ dir: plugin.dir });
    await assert.rejects(supervisor.start(instance), {
      code: new RegExp(`^cage\\.${code instanceof RegExp ? code.source : code}$`),
    });
  }
});
