import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { appendFile, chmod, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { Host } from "../../src/host/types.ts";
import type { Runtime } from "../../src/core/ports/ports.ts";
import { createHost } from "../../src/create_host.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { gitServer } from "../support/git_server.ts";
import { putInstalled } from "../support/installed.ts";
import { runKaged, signalKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const config_schema = {
  type: "object",
  properties: { depth: { type: "integer", default: 3 } },
  additionalProperties: false,
};
const knobs = {
  depth: { type: "int_range", label: "Depth", min: 1, max: 9, step: 1, default: 3, binds_to: "config.depth" },
} as const;

/** A home with the plugin echo installed, a project that declares it, and the command. */
async function ground(t: TestContext, version = "1.0.0") {
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  const kaged = (...args: string[]) => runKaged([...args, "--home", home], { cwd: dir });
  const made = async (version: string, folder: string): Promise<string> => {
    await using plugin = await fixturePlugin("echo", {
      manifest: { version, config_schema, knobs, capabilities: ["kaged:storage:write"] },
    });
    await cp(plugin.dir, join(dir, folder), { recursive: true });
    return join(dir, folder);
  };
  await made(version, "echo");
  await mkdir(join(dir, "music"));
  const yaml = "primary:\n  plugins:\n    e:\n      package: '@test/echo'\n      config: { depth: 4 } # deep enough\n";
  await writeFile(join(dir, "music/project.yaml"), yaml);
  const host = () => createHost({ project: join(dir, "music"), home, audit: [], onWarning: () => {} });
  return { dir, home, kaged, made, host };
}

const INSTALL = ["plugin", "install", "./echo", "--grant", "kaged:storage:write"];

test("K-051 enable and disable reach a running host through its socket, and stay after it", async (t) => {
  const { kaged, host: open } = await ground(t);
  assert.equal((await kaged(...INSTALL)).code, 0);
  await using host = await open();
  assert.deepEqual((await host.start()).failed.map(({ error }) => error.code), ["plugin.disabled"]);
  const enabled = await kaged("plugin", "enable", "echo");
  assert.deepEqual(enabled, { code: 0, stdout: "✓ Enabled echo, in 1 running host too\n", stderr: "" });
  assert.equal(host.plugins()[0]?.state, "running");
  const { plugins: [row] } = JSON.parse((await kaged("plugin", "list", "--json")).stdout);
  assert.equal(row.status, "running");
  const info = await kaged("plugin", "info", "echo");
  assert.ok(info.stdout.includes("  runs: echo@music/primary, running, project music, 0 open sessions\n"), info.stdout);
  const disabled = await kaged("plugin", "disable", "echo", "--json");
  assert.deepEqual(JSON.parse(disabled.stdout), { name: "echo", enabled: false, changed: true, hosts: 1 });
  assert.equal(host.plugins()[0]?.state, "disabled");
  await using later = await open();
  assert.deepEqual((await later.start()).running, []);
});

test("kaged plugin list and info show a plugin that rests; enable and disable start none", async (t) => {
  const { dir, kaged, host: open } = await ground(t);
  assert.equal((await kaged(...INSTALL)).code, 0);
  await writeFile(
    join(dir, "music/project.yaml"),
    "primary:\n  plugins:\n    e: { package: '@test/echo', start: on_demand }\n",
  );
  await using host = await open();
  await host.start();
  const spawned: string[] = [];
  host.onAudit(({ type, instance }) => type === "plugin.spawned" && spawned.push(instance));
  await kaged("plugin", "enable", "echo");
  const { plugins: [row] } = JSON.parse((await kaged("plugin", "list", "--json")).stdout);
  assert.equal(row.status, "resting");
  const { stdout } = await kaged("plugin", "info", "echo");
  assert.ok(stdout.includes("  runs when called: echo@music/primary, resting, project music"), stdout);
  assert.deepEqual(spawned, []);
  await host.callMethod("echo", "echo.pid");
  assert.deepEqual(spawned, ["echo@music/primary"]);
  await kaged("plugin", "disable", "echo");
  assert.equal(host.plugins()[0]?.state, "disabled");
});

test("kaged plugin list and info show a plugin that a running host refuses, installed or not, with the reason", async (t) => {
  const { dir, home, kaged } = await ground(t);
  await kaged(...INSTALL);
  await kaged("plugin", "enable", "echo");
  await using broken = await fixturePlugin("echo", { manifest: { kaged_api: 7 as never } });
  const file = join(dir, "music/project.yaml");
  const yaml = (depth: string) =>
    `primary:\n  plugins:\n    e: { package: "@test/echo", config: { depth: ${depth} } }\n    b: { package: "@test/broken" }\n`;
  await writeFile(file, yaml("deep"));
  const plugins = { "@test/broken": broken.dir };
  await using host = await createHost({ project: join(dir, "music"), home, plugins, audit: [], onWarning: () => {} });
  await host.start();
  const { stdout } = await kaged("plugin", "list");
  const [, ...lines] = stdout.trimEnd().split("\n").map((line) => line.trim().split(/ {2,}/));
  const [row, problem, step, other, cause] = lines as [string[], string[], string[], string[], string[]];
  assert.deepEqual(row.slice(0, 4), ["echo", "1.0.0", "refused", "local"]);
  assert.match(problem[0]!, /^problem: .*music\/project\.yaml:3:50: .*depth: Expected integer, got string$/);
  assert.match(step[0]!, /^hint: See the config schema/);
  assert.deepEqual(other.slice(0, 4), ["broken", "unknown", "refused", "music"]);
  assert.match(cause[0]!, /^problem: .*kaged-plugin\.yaml:4:16: .*API version: 7$/);
  const json = JSON.parse((await kaged("plugin", "list", "--json")).stdout);
  assert.deepEqual(
    json.plugins.map(({ name, status, problem }: never) => [name, status, (problem as { code: string }).code]),
    [["echo", "refused", "project.config_invalid"], ["broken", "refused", "manifest.invalid"]],
  );
  const info = await kaged("plugin", "info", "echo");
  assert.match(info.stdout, /does not run: echo@music\/primary, refused, project music/);
  await writeFile(file, yaml("4"));
  await host.reload("echo");
  assert.match((await kaged("plugin", "list")).stdout, /^echo +1\.0\.0 +running/m);
});

test("kaged plugin list shows a plugin that a project lacks; one that runs for another project keeps its state", async (t) => {
  const { dir, home, kaged, host: open } = await ground(t);
  await putInstalled(home, "echo", join(dir, "echo"), 'enabled = true\nprojects = ["music"]');
  await using host = await open();
  await host.start();
  await mkdir(join(dir, "choir"));
  const yaml = 'primary: { plugins: { e: { package: "@test/echo" }, x: { package: "@test/absent" } } }';
  await writeFile(join(dir, "choir/project.yaml"), yaml);
  await using other = await createHost({ project: join(dir, "choir"), home, audit: [], onWarning: () => {} });
  await other.start();
  const { plugins } = JSON.parse((await kaged("plugin", "list", "--json")).stdout);
  const rows = plugins.map((
    { name, status, problem }: Record<string, string>,
  ) => [name, status, (problem as unknown as { code: string } | null)?.code ?? null]);
  assert.deepEqual(rows, [["echo", "running", null], ["absent", "refused", "plugin.not_installed"]]);
  const info = await kaged("plugin", "info", "absent");
  assert.match(info.stdout, /does not run: x@choir\/primary, refused, project choir/);
  assert.deepEqual(await kaged("plugin", "enable", "echo"), {
    code: 0,
    stdout: "✓ Enabled echo, in 1 running host too\n",
    stderr: "",
  });
});

test("K-055 an upgrade restarts a plugin that runs, and says so", async (t) => {
  const { kaged, host: open, made } = await ground(t);
  await kaged(...INSTALL);
  await kaged("plugin", "enable", "echo");
  await using host = await open();
  await host.start();
  await made("2.0.0", "v2");
  const { code, stdout, stderr } = await kaged("plugin", "install", "./v2");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.ok(
    stdout.endsWith("✓ Upgraded echo to 2.0.0\n  Plugin was running; restarting...\n✓ echo restarted\n"),
    stdout,
  );
  assert.deepEqual(host.plugins().map(({ version, state }) => [version, state]), [["2.0.0", "running"]]);
});

test("K-055 an upgrade to a version that cannot start fails, and the version before goes on, on disk and in every host", async (t) => {
  const { dir, home, kaged, host: open, made } = await ground(t);
  await kaged(...INSTALL);
  await kaged("plugin", "enable", "echo");
  await using host = await open();
  await host.start();
  const before = host.plugins()[0]?.cage?.id;
  // A second host, whose instance of the new version can start, must not stay behind with it.
  await mkdir(join(dir, "choir"));
  const config = "{ depth: 9 }";
  const yaml = `primary: { plugins: { e: { package: "@test/echo", config: ${config} } } }`;
  await writeFile(join(dir, "choir/project.yaml"), yaml);
  await using other = await createHost({ project: join(dir, "choir"), home, audit: [], onWarning: () => {} });
  await other.start();
  const v2 = join(await made("2.0.0", "v2"), "index.js");
  const picky = "const end = (line) => { if (/config.update/.test(line) && !/9/.test(line)) process.exit(3); };";
  const listen = 'process.stdin.on("data", (bytes) => String(bytes).split("\\n").forEach(end));';
  await writeFile(v2, `${picky}\n${listen}\n${await readFile(v2, "utf8")}`);
  const { code, stdout, stderr } = await kaged("plugin", "upgrade", "echo", "./v2");
  assert.equal(code, 1, stdout);
  assert.match(
    stderr,
    /^error\[install\.upgrade_failed\]: "echo" is at 1\.0\.0 again: version 2\.0\.0 could not start\. /,
  );
  assert.doesNotMatch(stdout, /echo restarted/);
  for (const each of [host, other]) {
    assert.deepEqual(each.plugins().map(({ version, state }) => [version, state]), [["1.0.0", "running"]]);
    assert.ok(await each.callMethod("echo", "echo.params", { a: 1 }));
  }
  assert.equal(host.plugins()[0]?.cage?.id, before, "the process that ran was not touched");
  const { plugins: [row] } = JSON.parse((await kaged("plugin", "list", "--json")).stdout);
  assert.deepEqual([row.version, row.status, row.problem], ["1.0.0", "running", null]);
  assert.deepEqual(await readdir(join(home, "plugins")), ["echo"]);
  const audit = (await readFile(join(home, "audit/_operator.jsonl"), "utf8")).trim().split("\n");
  const { type, data } = JSON.parse(audit.at(-1)!);
  assert.deepEqual([type, data.version, data.failed_version], ["plugin.upgrade_undone", "1.0.0", "2.0.0"]);
  const json = await kaged("plugin", "upgrade", "echo", "./v2", "--json");
  assert.deepEqual([json.code, JSON.parse(json.stdout).error.code], [1, "install.upgrade_failed"]);
});

test("K-070 plugin reload has running hosts start a plugin anew; it fails without a running host, and with the reason of one that refuses", async (t) => {
  const { kaged, home, host: open } = await ground(t);
  await kaged(...INSTALL);
  const nobody = await kaged("plugin", "reload", "echo");
  assert.deepEqual([nobody.code, nobody.stdout], [1, ""]);
  assert.match(
    nobody.stderr,
    /^error\[plugin\.unavailable\]: No running host has a plugin "echo"\n {2}hint: Start one/,
  );
  await using host = await open();
  await host.start();
  const disabled = await kaged("plugin", "reload", "echo");
  assert.deepEqual([disabled.code, disabled.stderr.split(":")[0]], [1, "error[plugin.disabled]"]);
  await kaged("plugin", "enable", "echo");
  const before = host.plugins()[0]?.cage?.id;
  const done = await kaged("plugin", "reload", "echo");
  assert.deepEqual(done, { code: 0, stdout: "✓ Reloaded echo in 1 running host\n", stderr: "" });
  assert.notEqual(host.plugins()[0]?.cage?.id, before);
  const { stdout } = await kaged("plugin", "reload", "echo", "--json");
  assert.deepEqual(JSON.parse(stdout), { name: "echo", hosts: 1 });
  await chmod(join(home, "plugins/echo/index.js"), 0o644);
  await appendFile(join(home, "plugins/echo/index.js"), "// Not what was agreed to.\n");
  assert.equal((await kaged("plugin", "reload", "echo")).code, 1);
  const { stdout: info } = await kaged("plugin", "info", "echo");
  assert.match(info, / runs: .*, running, .*\n {4}problem: Plugin "echo" goes on as it was: .*\n {4}hint: /);
});

test("K-056 uninstall with active sessions is refused without --force", async (t) => {
  const { kaged, host: open } = await ground(t);
  await kaged(...INSTALL);
  await kaged("plugin", "enable", "echo");
  await using host = await open();
  await host.start();
  await host.callMethod("echo", "echo.storage", { method: "exec", sql: "CREATE TABLE notes (x)" });
  const session = host.openSession();
  const refused = await kaged("plugin", "uninstall", "echo");
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.equal(
    refused.stderr,
    "error[install.sessions_active]: Plugin echo is active in 1 session(s). Stop sessions first, or use --force.\n",
  );
  assert.equal(host.plugins()[0]?.state, "running");
  const forced = await kaged("plugin", "uninstall", "echo", "--force");
  assert.deepEqual(forced, {
    code: 0,
    stdout: "✓ Stopped echo\n✓ Removed plugin files\n✓ Removed local config entry\n✓ Dropped 1 table: notes\n",
    stderr: "",
  });
  assert.deepEqual(host.plugins().map(({ state, error }) => [state, error?.code]), [
    ["refused", "plugin.not_installed"],
  ]);
  await session.close();
  assert.equal((await kaged(...INSTALL)).code, 0);
  await kaged("plugin", "enable", "echo");
  assert.equal(host.plugins()[0]?.state, "running");
  const asked = await host.callMethod("echo", "echo.storage", { method: "exec", sql: "CREATE TABLE notes (x)" });
  assert.ok((asked as { result?: unknown }).result, JSON.stringify(asked));
});

test("plugin call takes the name of an installed plugin, and refuses one whose files changed", async (t) => {
  const { kaged, home } = await ground(t);
  await kaged(...INSTALL);
  const call = ["plugin", "call", "echo", "echo.params", '{"a":1}', "--json"];
  const elsewhere = (...args: string[]) => runKaged([...args], { cwd: "/", env: { KAGED_HOME: home } });
  const { stdout, stderr } = await elsewhere(...call);
  assert.equal(JSON.parse(stdout).result?.a ?? JSON.parse(stdout).result?.params?.a, 1, stdout + stderr);
  await chmod(join(home, "plugins/echo/index.js"), 0o644);
  await writeFile(join(home, "plugins/echo/index.js"), "");
  assert.equal(JSON.parse((await elsewhere(...call)).stdout).error.code, "plugin.tampered");
});

test("K-056 a socket that a dead host left is removed, and commands go on without it", async (t) => {
  const { kaged, home } = await ground(t);
  await kaged(...INSTALL);
  await mkdir(join(home, "run"), { recursive: true });
  const { createServer } = await import("node:net");
  const server = createServer().listen(join(home, "run/stale"));
  await new Promise((resolve) => server.once("listening", resolve));
  const { link, stat } = await import("node:fs/promises");
  await link(join(home, "run/stale"), join(home, "run/4194000.sock"));
  await new Promise((resolve) => server.close(resolve));
  assert.equal((await kaged("plugin", "disable", "echo")).code, 0);
  await assert.rejects(stat(join(home, "run/4194000.sock")), { code: "ENOENT" });
});

test("info and logs of a plugin that nothing here knows fail with plugin.unknown, also once others keep data", async (t) => {
  const { kaged } = await ground(t);
  const ask = async (what: string, hint: string): Promise<void> => {
    const { code, stdout, stderr } = await kaged("plugin", what, "ecko");
    assert.deepEqual([code, stdout, stderr], [
      1,
      "",
      `error[plugin.unknown]: No plugin "ecko" is known here\n  hint: ${hint}\n`,
    ]);
  };
  for (const what of ["info", "logs"]) await ask(what, "Run kaged plugin install");
  await kaged(...INSTALL); // Claims its tables, which makes kaged.db.
  for (const what of ["info", "logs"]) await ask(what, 'Did you mean "echo"?');
  assert.equal(JSON.parse((await kaged("plugin", "info", "ecko", "--json")).stdout).error.code, "plugin.unknown");
});

test("logs shows what a plugin wrote, also when no host runs, and -f goes on", async (t) => {
  const { kaged, host: open, home } = await ground(t);
  await kaged(...INSTALL);
  const quiet = await kaged("plugin", "logs", "echo");
  assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [0, "", "echo has logged nothing\n"]);
  await kaged("plugin", "enable", "echo");
  const host = await open();
  await host.start();
  await host.callMethod("echo", "echo.log", { text: "first\n" });
  let child: ChildProcess | null = null;
  const following = runKaged(["plugin", "logs", "echo", "-f", "--json", "--home", home], {
    onStart(started) {
      child = started;
      let seen = "";
      let asked = false;
      started.stdout!.on("data", (chunk) => {
        seen += chunk;
        if (seen.includes("first") && !asked) {
          asked = true;
          void host.callMethod("echo", "echo.log", { text: "second\n" });
        }
        if (seen.includes("second")) signalKaged(child!, "SIGINT");
      });
    },
  });
  const { code, stdout } = await following;
  assert.equal(code, 0);
  const lines = stdout.trim().split("\n").map((line) => JSON.parse(line).line);
  assert.ok(lines.indexOf("first") < lines.indexOf("second"), stdout);
  await host.stop();
  const later = await kaged("plugin", "logs", "echo", "-n", "1");
  assert.match(later.stdout, /^\S+Z echo@music\/primary second\n$/);
  assert.equal((await kaged("plugin", "logs", "../../etc")).code, 2);
});

test("logs shows one page with --limit, names the cursor of older lines, and says when those are gone", async (t) => {
  const { kaged, home } = await ground(t);
  await mkdir(join(home, "logs"), { recursive: true });
  const timestamp = "2026-01-01T00:00:00.000Z";
  const entry = (line: string) => ({ timestamp, instance: "echo", line });
  const text = ["one", "two", "three"].map((line) => `${JSON.stringify(entry(line))}\n`).join("");
  await writeFile(join(home, "logs/echo.jsonl"), text);
  const shown = await kaged("plugin", "logs", "echo", "--limit", "2");
  assert.equal(shown.stdout, `${timestamp} echo two\n${timestamp} echo three\n`);
  const [, cursor] = /^older lines: --cursor (\S+)\n$/.exec(shown.stderr)!;
  const newest = await kaged("plugin", "logs", "echo", "--limit", "2", "--json");
  assert.deepEqual(JSON.parse(newest.stdout), { lines: [entry("two"), entry("three")], next: cursor });
  const older = await kaged("plugin", "logs", "echo", "--cursor", cursor!, "--json");
  assert.deepEqual(JSON.parse(older.stdout), { lines: [entry("one")], next: null });
  assert.equal((await kaged("plugin", "logs", "echo", "--cursor", cursor!)).stderr, "");

  await writeFile(join(home, "logs/echo.jsonl"), `${JSON.stringify(entry("later"))}\n`);
  const gone = await kaged("plugin", "logs", "echo", "--cursor", cursor!);
  assert.deepEqual([gone.code, gone.stdout], [1, ""]);
  assert.match(gone.stderr, /^error\[http\.cursor_gone\]: .*\n {2}hint: Start again without a cursor\n$/);
  for (
    const wrong of [["--cursor", "1", "-f"], ["--limit", "2", "-f"], ["--limit", "0"], ["--limit", "2", "-n", "3"]]
  ) {
    assert.equal((await kaged("plugin", "logs", "echo", ...wrong)).code, 2, wrong.join(" "));
  }
});

test("K-003 logs -f hears running hosts through their sockets, goes on when one ends or starts, and prints no line twice", async (t) => {
  const { kaged, home, dir } = await ground(t);
  await kaged(...INSTALL);
  await kaged("plugin", "enable", "echo");
  const runtime = await detectRuntime();
  const { files } = runtime;
  const isLog = (path: string): boolean => path.includes("/logs/");
  const full = (path: string, text: string): Promise<void> =>
    isLog(path) ? Promise.reject(new Error("no space left")) : files.append(path, text);
  const open = async (ports: Runtime) => {
    const host = await createHost({
      project: join(dir, "music"),
      home,
      audit: [],
      onWarning: () => {},
      runtime: ports,
    });
    await host.start();
    return host;
  };
  const log = (host: Host, text: string): Promise<unknown> =>
    host.callMethod("echo", "echo.log", { text: `${text}\n` });
  const file = join(home, "logs/echo.jsonl");
  const first = await open({ ...runtime, files: { ...files, append: full } });
  let child: ChildProcess | null = null;
  let second: Host | null = null;
  const steps: [seen: string, then: () => Promise<unknown>][] = [
    [`following music (pid ${process.pid})`, () => log(first, "by socket alone")],
    ["by socket alone", async () => second = await open(runtime)],
    [`following music (pid ${process.pid})`, () => log(first, "of two hosts")],
    ["of two hosts", () => log(second!, "by both")],
    ["by both", () => first.stop()],
    [`no longer following music (pid ${process.pid})`, async () => {
      const text = (): Promise<string> => readFile(file, "utf8").catch(() => "");
      await until(async () => (await text()).includes('by both"}\n'), "the line in the file");
      await appendFile(file, `{"timestamp":"2026-01-01T00:00:00.000Z","instance":"echo","line":"by file alone"}\n`);
    }],
    ["by file alone", () => Promise.resolve(signalKaged(child!, "SIGINT"))],
  ];
  const { code, stdout } = await runKaged(["plugin", "logs", "echo", "-f", "--home", home], {
    onStart(started) {
      child = started;
      let text = "";
      const onData = (chunk: unknown): void => {
        text += chunk;
        const [seen, then] = steps[0] ?? [];
        const at = seen === undefined ? -1 : text.indexOf(seen);
        if (at === -1) return;
        text = text.slice(at + seen!.length);
        steps.shift();
        void then!();
      };
      started.stdout!.on("data", onData);
      started.stderr!.on("data", onData);
    },
  });
  await second!.stop();
  assert.deepEqual([code, steps], [0, []]);
  assert.deepEqual(stdout.trim().split("\n").map((line) => line.split(" ").slice(2).join(" ")), [
    "by socket alone",
    "of two hosts",
    "by both",
    "by file alone",
  ]);
});

test("K-039 knobs get and set work with a running host and without, and keep comments", async (t) => {
  const { kaged, host: open, dir } = await ground(t);
  await kaged(...INSTALL);
  await kaged("plugin", "enable", "echo");
  const file = join(dir, "music/project.yaml");
  const knob = (...args: string[]) => kaged("plugin", "knobs", ...args, "--project", "music");
  assert.equal((await knob("get", "echo")).stdout, "depth = 4  Depth (int_range)\n");
  assert.deepEqual(await knob("set", "echo", "depth", "5"), { code: 0, stdout: "✓ echo.depth = 5\n", stderr: "" });
  assert.match(await readFile(file, "utf8"), /config: \{ depth: 5 \} # deep enough\n/);
  await using host = await open();
  await host.start();
  assert.equal((await knob("set", "echo", "depth", "6")).code, 0);
  assert.deepEqual(await host.callMethod("echo", "echo.config"), { depth: 6 });
  const value = JSON.parse((await knob("get", "echo", "depth", "--json")).stdout).knobs.depth.value;
  assert.equal(value, 6);
  for (const bad of [["depth", "99"], ["depth", "deep"], ["width", "1"]]) {
    const { code, stderr } = await knob("set", "echo", ...bad);
    assert.ok(code === 1 && /^error\[knob\./.test(stderr), stderr);
  }
  assert.match(await readFile(file, "utf8"), /depth: 6 \} # deep enough\n/);
});

test("K-053 project load asks for what is missing, by flags off a terminal, and notifies a running host", async (t) => {
  const { dir, home, kaged } = await ground(t);
  await using server = await gitServer(join(dir, "srv"));
  const url = await server.publish("echo", join(dir, "echo"), "v1.0.0");
  const declared = `{ package: "@test/echo", source: "${url}", version: ^1 }`;
  await writeFile(join(dir, "music/project.yaml"), `primary: { plugins: { e: ${declared} } }\n`);
  await using host = await createHost({ project: join(dir, "music"), home, audit: [] });
  assert.equal((await host.start()).pending.length, 1);
  const load = (...flags: string[]) => kaged("project", "load", "music", "--allow-http", ...flags);
  const unasked = await load();
  assert.equal(unasked.code, 1);
  assert.equal(
    unasked.stdout,
    "@test/echo ^1: declared by primary, not installed\nProject music is pending: @test/echo not installed\n",
  );
  assert.ok(unasked.stderr.includes(`hint: Agree with --fetch '${url}'`), unasked.stderr);
  assert.deepEqual(server.requests, []);
  const ungranted = await load("--fetch", url);
  assert.ok(
    ungranted.stderr.includes("hint: Agree with --install '@test/echo' --grant 'kaged:storage:write'"),
    ungranted.stderr,
  );
  const granted = ["--fetch", url, "--grant", "kaged:storage:write"];
  assert.equal((await load(...granted)).code, 1, "a capability by name is no plugin by name");
  const done = await load(...granted, "--install", "@test/echo", "--json");
  assert.deepEqual(JSON.parse(done.stdout), {
    project: "music",
    state: "ready",
    installed: ["echo"],
    pending: [],
    errors: [],
  });
  assert.deepEqual([host.plugins()[0]?.state, host.consents()], ["running", []]);
  assert.match(
    await readFile(join(home, "local.toml"), "utf8"),
    /local = false\nenabled = true\n.*\n.*\nprojects = \["music"\]/,
  );
  assert.equal((await load()).stdout, "✓ Project music is ready\n");
  const again = await kaged("plugin", "install", "./echo");
  assert.equal(again.stdout, "Plugin echo 1.0.0 is installed already, for music: nothing to do\n");
});

test("K-055 project load upgrades what is no longer in the version declared, and notifies a running host", async (t) => {
  const { dir, home, kaged } = await ground(t);
  await kaged(...INSTALL, "--json");
  await kaged("plugin", "enable", "echo");
  await using v2 = await fixturePlugin("echo", {
    manifest: { version: "2.0.0", capabilities: ["read:fs:/usr/share"] },
  });
  await cp(v2.dir, join(dir, "music/p"), { recursive: true });
  const yaml = (version: string) =>
    `primary: { plugins: { e: { package: "@test/echo", source: ./p, version: ${version} } } }`;
  await writeFile(join(dir, "music/project.yaml"), yaml("^1"));
  await using host = await createHost({ project: join(dir, "music"), home, audit: [] });
  assert.equal((await host.start()).running.length, 1);
  await writeFile(join(dir, "music/project.yaml"), yaml("^2"));
  const { code, stdout } = await kaged(
    "project",
    "load",
    "music",
    "--install",
    "@test/echo",
    "--grant",
    "read:fs:/usr/share",
  );
  assert.equal(code, 0, stdout);
  for (
    const line of [
      "@test/echo ^2: declared by primary, installed in version 1.0.0, which does not fit",
      "  version: 1.0.0 → 2.0.0, for the projects it serves already too",
      "    - read:fs:/usr/share  (NEW)",
      "    - kaged:storage:write  (REMOVED)",
      "✓ Upgraded echo to 2.0.0",
    ]
  ) assert.ok(stdout.split("\n").includes(line), stdout);
  assert.deepEqual(host.plugins().map(({ version, state }) => [version, state]), [["2.0.0", "running"]]);
});

test("K-054 project load without a source says so, and takes one", async (t) => {
  const { kaged } = await ground(t);
  const none = await kaged("project", "load", "music");
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^pending: @test\/echo: source not specified\n {2}hint: .*--source '@test\/echo=<folder>'/);
  const given = await kaged(
    "project",
    "load",
    "music",
    "--source",
    "@test/echo=./echo",
    "--install",
    "@test/echo",
    "--grant",
    "kaged:storage:write",
  );
  assert.ok(given.stdout.endsWith("✓ Installed echo 1.0.0\n✓ Project music is ready\n"), given.stdout + given.stderr);
});

test("kaged plugin list pages by cursor", async (t) => {
  const home = join(await scratchDir(t), "home");
  await using plugin = await fixturePlugin("echo");
  for (const name of ["a", "b", "c"]) await putInstalled(home, name, plugin.dir);
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const more: string[] = cursor === "" ? [] : ["--cursor", cursor];
    const { code, stdout } = await runKaged(["plugin", "list", "--json", "--limit", "2", "--home", home, ...more]);
    assert.equal(code, 0, stdout);
    const page: { plugins: { name: string }[]; next: string | null } = JSON.parse(stdout);
    seen.push(...page.plugins.map(({ name }) => name));
    cursor = page.next;
    assert.ok(seen.length <= 3, "The cursors lead in a circle");
  }
  assert.deepEqual(seen, ["a", "b", "c"]);
  const plain = await runKaged(["plugin", "list", "-n", "2", "--home", home]);
  assert.match(plain.stderr, /^more plugins: --cursor [0-9a-f]+\n$/);
});
