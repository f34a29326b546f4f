import assert from "node:assert/strict";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import { createHost } from "../../src/create_host.ts";
import { changePlugin, fixturePlugin } from "../support/fixture_plugins.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { hasPython } from "../support/python_plugin.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** A folder with a file that the plugin echo asks to read, versions of the plugin, and the command. */
async function ground(t: TestContext) {
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  await mkdir(join(dir, "data"));
  await writeFile(join(dir, "data/a.txt"), "plans");
  const read = `read:fs:${join(dir, "data")}`;
  const made = async (folder: string, manifest: Partial<Manifest>): Promise<void> => {
    await using plugin = await fixturePlugin("echo", { manifest: { license: "MIT", ...manifest } });
    await cp(plugin.dir, join(dir, folder), { recursive: true });
  };
  await made("v1", { capabilities: [read, "kaged:storage:write"] });
  return {
    dir,
    home,
    read,
    made,
    path: JSON.stringify({ path: join(dir, "data/a.txt") }),
    kaged: (...args: string[]) => runKaged([...args, "--home", home], { cwd: dir }),
    json: async (...args: string[]) =>
      JSON.parse((await runKaged([...args, "--json", "--home", home], { cwd: dir })).stdout),
    terminal: (args: string[], answers: [string, string][]) =>
      onTerminal([...args, "--home", home], answers, { cwd: dir }),
    local: () => readFile(join(home, "local.toml"), "utf8").catch(() => ""),
  };
}

test("N-028 plugin install --withhold installs without the capability; info, list, call and the audit show it", async (t) => {
  const { kaged, json, read, path, home } = await ground(t);
  const unknown = await kaged("plugin", "install", "./v1", "--withhold", "net:*");
  assert.match(
    unknown.stderr,
    /^error\[install\.capability_unknown\]: Cannot withhold net:\*: "echo" does not ask for it\n/,
  );
  assert.ok(unknown.stderr.includes(`hint: It asks for ${read}, kaged:storage:write\n`), unknown.stderr);
  const half = await kaged("plugin", "install", "./v1", "--withhold", read);
  assert.match(half.stderr, /^error\[install\.consent_missing\]: "echo" asks for 1 capability that nobody granted\n/);
  const done = await kaged("plugin", "install", "./v1", "--withhold", read, "--grant", "kaged:storage:write");
  assert.equal(done.code, 0, done.stderr);
  assert.ok(done.stdout.includes(`  withheld:\n    - ${read}\n      Cannot read everything under`), done.stdout);
  assert.ok(done.stdout.includes(`✓ Installed echo 1.0.0 without ${read}\n`), done.stdout);

  const info = await kaged("plugin", "info", "echo");
  assert.ok(info.stdout.includes(`    - kaged:storage:write\n`), info.stdout);
  assert.ok(info.stdout.includes(`  withheld:\n    - ${read}\n`), info.stdout);
  const { plugins: [row] } = await json("plugin", "list");
  assert.deepEqual([row.capabilities, row.withheld], [["kaged:storage:write"], [read]]);
  assert.ok((await kaged("plugin", "list", "--verbose")).stdout.includes(`    withheld: ${read}\n`));
  const called = await kaged("plugin", "call", "echo", "echo.read", path);
  assert.match(called.stderr, /ENOENT/);
  assert.ok(called.stderr.includes(`hint: ${read}: withheld by the operator. Grant with kaged plugin grant echo`));
  const checked = await kaged("plugin", "check", "echo");
  assert.match(checked.stdout, /✓ capabilities +kaged:storage:write\n/);
  const [audit] = (await readFile(join(home, "audit/_operator.jsonl"), "utf8")).split("\n");
  const { type, data } = JSON.parse(audit!);
  assert.deepEqual([type, data.capabilities, data.withheld], ["plugin.installed", ["kaged:storage:write"], [read]]);
});

test("N-028 plugin upgrade keeps what was withheld unless --grant names it", async (t) => {
  const { kaged, json, made, read } = await ground(t);
  await kaged("plugin", "install", "./v1", "--withhold", read, "--grant", "kaged:storage:write");
  await made("v2", { version: "2.0.0", capabilities: [read, "kaged:storage:write"] });
  const kept = await kaged("plugin", "upgrade", "echo", "./v2");
  assert.ok(kept.stdout.includes(`Capability changes: none\n`), kept.stdout);
  assert.ok(kept.stdout.includes(`  withheld:\n    - ${read}\n`), kept.stdout);
  assert.ok(kept.stdout.includes(`✓ Upgraded echo to 2.0.0 without ${read}\n`), kept.stdout);

  await made("v3", { version: "3.0.0", capabilities: [`write:${read.slice(5)}`, "kaged:storage:write"] });
  const wider = await kaged("plugin", "upgrade", "echo", "./v3");
  assert.match(wider.stderr, /^error\[install\.consent_missing\]/);
  assert.ok(wider.stdout.includes(`danger: It covers ${read}, which you withheld\n`), wider.stdout);

  await made("v4", { version: "4.0.0", capabilities: [read, "kaged:storage:write"] });
  const back = await json("plugin", "upgrade", "echo", "./v4", "--grant", read);
  assert.deepEqual([back.done, back.capabilities, back.withheld], ["upgraded", [read, "kaged:storage:write"], []]);
});

test("N-028 a host that was added to the record is shown, kept by an upgrade, and taken back by withhold or by an upgrade that withholds it", async (t) => {
  const { home, kaged, json, made, local } = await ground(t);
  const [own, host, other] = ["net:a.example:443", "net:b.example:443", "net:c.example:443"];
  await made("n1", { version: "1.0.0", capabilities: [own] });
  await kaged("plugin", "install", "./n1", "--grant", own);
  const record = await local();
  await writeFile(join(home, "local.toml"), record.replace(/^version = .*$/m, `$&\nadded = ["${host}", "${other}"]`));
  const info = await kaged("plugin", "info", "echo");
  assert.ok(info.stdout.includes(`  added by you:\n    - ${host}\n`), info.stdout);
  const { plugins: [row] } = await json("plugin", "list");
  assert.deepEqual([row.capabilities, row.added], [[own, host, other], [host, other]]);

  const taken = await json("plugin", "withhold", "echo", other);
  assert.deepEqual([taken.changed, taken.capabilities, taken.withheld], [true, [own, host], []]);
  const unknown = await kaged("plugin", "withhold", "echo", other);
  assert.match(unknown.stderr, /^error\[install\.capability_unknown\]/);

  await made("n2", { version: "2.0.0", capabilities: [own] });
  const kept = await kaged("plugin", "upgrade", "echo", "./n2");
  assert.ok(kept.stdout.includes("Capability changes: none\n"), kept.stdout);
  assert.match(await local(), /^added = \["net:b\.example:443"\]$/m);
  await made("n3", { version: "3.0.0", capabilities: [own, host] });
  const upgraded = await json("plugin", "upgrade", "echo", "./n3", "--withhold", host);
  assert.deepEqual([upgraded.capabilities, upgraded.withheld], [[own], [host]]);
  assert.match(await local(), /^added = \[\]$/m);
});

test("N-028 plugin grant and plugin withhold change the grants of an installed plugin, and running hosts reload it", async (t) => {
  const { dir, home, kaged, json, read, path } = await ground(t);
  await kaged("plugin", "install", "./v1", "--withhold", read, "--grant", "kaged:storage:write");
  await kaged("plugin", "enable", "echo");
  await mkdir(join(dir, "music"));
  await writeFile(join(dir, "music/project.yaml"), "primary:\n  plugins:\n    e: { package: echo }\n");
  await using host = await createHost({ project: join(dir, "music"), home, audit: [], onWarning: () => {} });
  await host.start();
  const reading = () => host.callMethod("echo", "echo.read", JSON.parse(path));
  await assert.rejects(reading(), /ENOENT/);
  const granted = await kaged("plugin", "grant", "echo", read);
  assert.deepEqual([granted.stdout, granted.stderr], ["✓ echo runs with all it asks for, in 1 running host too\n", ""]);
  assert.deepEqual(await reading(), { text: "plans" });
  const again = await kaged("plugin", "grant", "echo", read);
  assert.equal(again.stdout, "✓ echo runs with all it asks for already: nothing to do\n");
  assert.deepEqual(await json("plugin", "withhold", "echo", "kaged:storage:write", read), {
    name: "echo",
    changed: true,
    capabilities: [],
    withheld: [read, "kaged:storage:write"],
    hosts: 1,
  });
  await assert.rejects(reading(), /ENOENT/);
  const unknown = await kaged("plugin", "grant", "echo", "net:*");
  assert.match(
    unknown.stderr,
    /^error\[install\.capability_unknown\]: "echo" does not ask for net:\*\n {2}hint: Withheld: /,
  );
  assert.match((await kaged("plugin", "withhold", "nobody", read)).stderr, /^error\[plugin\.not_installed\]/);
  assert.equal((await kaged("plugin", "withhold", "echo", "nonsense")).code, 2);
  const same = await kaged("plugin", "install", "./v1", "--grant", read);
  assert.match(
    same.stderr,
    /^error\[host\.misuse\]: .*with other grants\n {2}hint: Change them: kaged plugin grant echo/,
  );
});

test("N-028 plugin withhold takes a capability also from a plugin that cannot start without it", async (t) => {
  const { dir, home, kaged, read } = await ground(t);
  const source = `import { readFileSync } from "node:fs";
import { reply, serve } from "./wire.js";
const text = readFileSync(${JSON.stringify(join(dir, "data/a.txt"))}, "utf8");
serve({ "echo.read": ({ id }) => reply(id, { text }) });\n`;
  await changePlugin(join(dir, "v1"), { files: { "index.js": source } });
  await kaged("plugin", "install", "./v1", "--grant", read, "--grant", "kaged:storage:write");
  await kaged("plugin", "enable", "echo");
  await mkdir(join(dir, "music"));
  await writeFile(join(dir, "music/project.yaml"), "primary:\n  plugins:\n    e: { package: echo }\n");
  await using host = await createHost({ project: join(dir, "music"), home, audit: [], onWarning: () => {} });
  assert.deepEqual((await host.start()).failed, []);
  const { code, stderr } = await kaged("plugin", "withhold", "echo", read);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error\[plugin\.unavailable\]: The grants of echo are changed, but a running host could not start it so: /,
  );
  assert.ok(stderr.includes(`hint: ${read}: withheld by the operator. Grant with kaged plugin grant echo`), stderr);
  assert.notEqual(host.plugins()[0]?.state, "running");
});

test("N-028 install --each on a terminal asks for each capability by itself, and withholds what is declined", async (t) => {
  if (!await canUseTerminal(t)) return;
  const { terminal, read, local } = await ground(t);
  const { code, shown } = await terminal(["plugin", "install", "./v1", "--each"], [
    [`Grant echo ${read}?`.slice(0, 40), "n"],
    ["Grant echo kaged:storage:write? [y/N]", "y"],
    ["Install echo without", "y"],
  ]);
  assert.equal(code, 0, shown);
  assert.ok((await local()).includes(`withheld = ["${read}"]`), await local());
});

test("N-028 project load takes --withhold for the plugins that ask for it", async (t) => {
  const { dir, kaged, read, local } = await ground(t);
  await mkdir(join(dir, "music"));
  await cp(join(dir, "v1"), join(dir, "music/echo"), { recursive: true });
  await writeFile(join(dir, "music/project.yaml"), "primary: { plugins: { e: { package: echo, source: ./echo } } }\n");
  const flags = ["--install", "echo", "--grant", "kaged:storage:write", "--withhold", read, "--withhold", "net:*"];
  const { code, stdout, stderr } = await kaged("project", "load", "music", ...flags);
  assert.deepEqual([code, stderr], [0, "warning: --withhold net:*: no plugin that was asked about asks for it\n"]);
  assert.ok(stdout.includes(`✓ Installed echo 1.0.0 without ${read}\n`), stdout);
  assert.ok((await local()).includes(`withheld = ["${read}"]`));
});

test("N-028 a plugin of the Python SDK that claims its storage conforms without it", async (t) => {
  if (!await hasPython(t)) return;
  const { kaged } = await ground(t);
  const tasks = fileURLToPath(new URL("../../examples/plugins/tasks", import.meta.url));
  assert.equal((await kaged("plugin", "install", tasks, "--withhold", "kaged:storage:write")).code, 0);
  const rules = ["initialize.first", "initialize.result", "config.update", "ping"].flatMap((rule) => ["--rule", rule]);
  const { code, stdout } = await kaged("plugin", "check", "tasks", "--conformance", ...rules);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /tasks 0\.1\.0 conforms: 4 kept, 0 broken/);
});

test("N-028 a tape of a plugin that lacked a capability is replayed without it", async (t) => {
  const { dir, kaged, read, path } = await ground(t);
  await kaged("plugin", "install", "./v1", "--withhold", read, "--grant", "kaged:storage:write");
  const recorded = await kaged("plugin", "call", "echo", "echo.read", path, "--record", "tape.jsonl");
  assert.match(recorded.stderr, /ENOENT/);
  const [header] = (await readFile(join(dir, "tape.jsonl"), "utf8")).split("\n");
  assert.deepEqual(JSON.parse(header!).withheld, [read]);
  const replayed = await kaged("replay", "tape.jsonl");
  assert.equal(replayed.code, 0, replayed.stdout + replayed.stderr);
});
