import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { HostError } from "../../src/core/errors/host_error.ts";
import { changePlugin, fixturePlugin } from "../support/fixture_plugins.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { allGone } from "../support/processes.ts";
import { processesIn } from "../support/processes_in.ts";
import { putInstalled } from "../support/installed.ts";

const at = { agent: "primary", session: "ses_1" };
const dirOf = (h: Hosted, plugin: string): string => h.host.view.plugin(plugin).dir!;
const states = (h: Hosted): string[] => h.host.plugins().map(({ version, state }) => `${version} ${state}`);
const tool = (name: string) => ({ name, description: `Can ${name}`, parameters_schema: { type: "object" } });

test("K-070 reload() lets calls under way end on the old process and sends the rest to the new one", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "waits_for_file" } });
  const path = join(h.dir, "go");
  const held = h.host.callMethod("waits-for-file", "fixture.wait", { path });
  await changePlugin(dirOf(h, "waits-for-file"), { manifest: { version: "2.0.0" } });
  await h.host.reload("waits-for-file");
  assert.deepEqual(await h.host.callMethod("waits-for-file", "fixture.call"), { version: "2.0.0" });
  await writeFile(path, "");
  assert.deepEqual(await held, { version: "1.0.0" });
  assert.equal((await h.next("plugin.reloaded")).data.new_version, "2.0.0");
  await h.next("plugin.stopped");
  assert.deepEqual(states(h), ["2.0.0 running"]);
});

test("K-070 tools and hooks are those of the new manifest, in the place the old ones had", async () => {
  const config = { answers: { on_session_start: "Good morning" } };
  await using h = await hosted({
    primary: { a: { config } },
    fixtures: { "@test/a": { fixture: "answers_hooks", manifest: { hooks: [], tools: [tool("look")] } } },
  });
  h.host.hooks.register("SessionStart", function ours() {
    return { action: "injectContext", additionalContext: ["ours"] };
  });
  const first = await h.host.openSession({ id: "ses_0" }).start("");
  assert.deepEqual(first.injected, []);
  await changePlugin(dirOf(h, "answers-hooks"), { manifest: { hooks: ["on_session_start"], tools: [tool("see")] } });
  await h.host.reload("answers-hooks");
  assert.deepEqual(h.host.tools("primary").map(({ name }) => name), ["answers-hooks.see"]);
  assert.deepEqual(
    h.host.hooks.list("SessionStart").map(({ source }) => source.id),
    ["answers-hooks@music/primary", "ours"],
  );
  const { systemPrompt, injected } = await h.host.openSession({ id: "ses_1" }).start("");
  assert.match(systemPrompt, /Good morning[^]*ours/);
  assert.equal(injected.length, 1);
  assert.deepEqual(
    await h.host.callTool("answers-hooks.see", {}, at).then((it) => (it as { tool: string }).tool),
    "see",
  );
  await assert.rejects(h.host.callTool("answers-hooks.look", {}, at), { code: "tool.unknown" });
});

test("K-070 rows stay, and the new process reads what the old one wrote", async () => {
  const capabilities = ["kaged:storage:write"];
  await using h = await hosted({
    primary: { a: {} },
    fixtures: { "@test/a": { fixture: "echo", manifest: { capabilities } } },
  });
  const sql = async (method: string, sql: string) =>
    await h.host.callMethod("echo", "echo.storage", { method, sql }) as { result: { rows?: unknown } };
  await sql("exec", "CREATE TABLE notes (text)");
  await sql("exec", "INSERT INTO notes VALUES ('kept')");
  await h.host.reload("echo");
  assert.deepEqual((await sql("query", "SELECT text FROM notes")).result.rows, [{ text: "kept" }]);
});

test("K-070 what cannot be started leaves the old process, its tools and its place in the project alone", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "answers_hooks" } });
  h.host.openSession({ id: "ses_1" });
  const dir = dirOf(h, "answers-hooks");
  const processes = (await processesIn(dir)).length;
  const works = async () => {
    assert.deepEqual(states(h), ["1.0.0 running"]);
    assert.equal((await processesIn(dir)).length, processes);
    assert.ok(await h.host.callTool("answers-hooks.ask", {}, at));
  };
  const failures: [Parameters<typeof changePlugin>[1], string][] = [
    [{ files: { "index.js": "throw new Error('unfinished')" }, manifest: { tools: [] } }, "plugin.unavailable"],
    [{ files: { "kaged-plugin.yaml": "name: [" } }, "manifest.invalid"],
  ];
  for (const [change, reason] of failures) {
    await changePlugin(dir, change);
    await assert.rejects(h.host.reload("answers-hooks"), (error: HostError) => {
      assert.deepEqual([error.code, (error.data as { reason: string }).reason], ["plugin.reload_failed", reason]);
      return /goes on as it was: /.test(error.message);
    });
    assert.equal((await h.next("plugin.reload_failed")).data.error_code, reason);
    await works();
  }
  await writeFile(join(h.dir, "project.yaml"), "primary: [");
  await assert.rejects(h.host.reload("answers-hooks"), { code: "plugin.reload_failed", message: /project\.yaml/ });
  await works();
});

test("K-070 after a failed reload the plugin says so, until it is started from the files that are there", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "crashes_on_call" } });
  const state = (): unknown =>
    h.host.view.plugin("crashes-on-call").instances.map((one) => [one.state, one.error?.code]);
  const dir = dirOf(h, "crashes-on-call");
  assert.deepEqual(state(), [["running", undefined]]);
  const program = await readFile(join(dir, "index.js"), "utf8");
  await changePlugin(dir, { files: { "index.js": "throw new Error('unfinished')" }, manifest: { version: "2.0.0" } });
  await assert.rejects(h.host.reload("crashes-on-call"), { code: "plugin.reload_failed" });
  assert.deepEqual(state(), [["running", "plugin.reload_failed"]]);
  await writeFile(join(dir, "index.js"), program); // Mended, and not reloaded.
  assert.deepEqual(states(h), ["1.0.0 running"]);
  await assert.rejects(h.host.callMethod("crashes-on-call", "fixture.call"), { code: "plugin.unavailable" });
  await h.pass(1_000);
  while (states(h)[0] !== "2.0.0 running") await h.next("plugin.initialized");
  assert.deepEqual(state(), [["running", undefined]]);
  assert.deepEqual(h.all("plugin.spawned").map(({ data }) => data.version), ["1.0.0", "2.0.0", "2.0.0"]);
});

test("K-070 a neighbour whose manifest cannot be read just now goes on too", async () => {
  await using h = await hosted({
    primary: { a: {}, b: {} },
    fixtures: { "@test/a": "answers_hooks", "@test/b": "echo" },
  });
  await changePlugin(dirOf(h, "answers-hooks"), { files: { "kaged-plugin.yaml": "name: [" } });
  await assert.rejects(h.host.reload("answers-hooks"), { code: "plugin.reload_failed" });
  await changePlugin(dirOf(h, "echo"), { manifest: { version: "2.0.0" } });
  await h.host.reload("echo");
  assert.deepEqual(states(h).toSorted(), ["1.0.0 running", "2.0.0 running"]);
  assert.deepEqual(h.host.agents()[0]?.plugins, ["a", "b"]);
  assert.ok(await h.host.callMethod("answers-hooks", "fixture.call"));
});

test("K-070 instances of one plugin are swapped together or not at all", async () => {
  const declared = (level: number) => ({ a: { package: "@test/a", isolation: "agent", config: { level } } });
  const yaml = (level: number) => ({
    primary: { plugins: declared(1), subagents: { other: { plugins: declared(level) } } },
  });
  await using h = await hosted({
    yaml: yaml(2),
    fixtures: { "@test/a": { fixture: "picky_config", manifest: { config_schema: { type: "object" } } } },
  });
  await changePlugin(dirOf(h, "picky-config"), { manifest: { version: "2.0.0" } });
  await writeFile(join(h.dir, "project.yaml"), JSON.stringify(yaml(7)));
  await assert.rejects(h.host.reload("picky-config"), { code: "plugin.reload_failed", message: /above 5/ });
  assert.deepEqual(states(h), ["1.0.0 running", "1.0.0 running"]);
  assert.equal(h.all("plugin.reload_failed").length, 2);
  await writeFile(join(h.dir, "project.yaml"), JSON.stringify(yaml(3)));
  await h.host.reload("picky-config");
  assert.deepEqual(states(h), ["2.0.0 running", "2.0.0 running"]);
  const other = { agent: "primary.subagents.other" };
  assert.deepEqual(await h.host.callMethod("picky-config", "fixture.call", {}, other), { level: 3 });
});

/** A host of a plugin that has just crashed; `during` runs whenever a file of that name is about to be read. */
async function crashed(file: string): Promise<{ h: Hosted; during: (work: () => Promise<unknown>) => void }> {
  const { files } = await detectRuntime();
  let before: () => Promise<unknown> = () => Promise.resolve();
  const readHead: typeof files.readHead = async (path, bytes) => {
    if (path.endsWith(`/${file}`)) await before();
    return await files.readHead(path, bytes);
  };
  const h = await hosted({
    primary: { a: {} },
    fixtures: { "@test/a": "crashes_on_call" },
    ports: { files: { ...files, readHead } },
  });
  await h.next("plugin.initialized");
  await assert.rejects(h.host.callMethod("crashes-on-call", "fixture.call"));
  await h.next("plugin.crashed");
  return { h, during: (work) => void (before = work) };
}

test("K-070 a plugin that comes up while its files are read is swapped, not stopped", async () => {
  const { h, during } = await crashed("project.yaml");
  await using _ = h;
  during(async () => {
    during(() => Promise.resolve());
    await h.pass(1_000); // Its wait is over.
    await h.next("plugin.initialized");
  });
  await h.host.reload("crashes-on-call");
  assert.deepEqual(h.all("plugin.reloaded").map(({ name }) => name), ["crashes-on-call"]);
});

test("K-014 K-070 a plugin that is down and started anew is unavailable meanwhile, and never unknown", async () => {
  const { h, during } = await crashed("kaged-plugin.yaml");
  await using _ = h;
  const errors: HostError[] = [];
  during(() => h.host.callMethod("crashes-on-call", "ping").catch((error) => errors.push(error)));
  await h.host.reload("crashes-on-call");
  assert.deepEqual([...new Set(errors.map(({ code }) => code))], ["plugin.unavailable"]);
  assert.ok(errors.some(({ message }) => message.endsWith("does not run")), "it was asked between two starts");
  assert.deepEqual(states(h), ["1.0.0 running"]);
});

test("K-070 of reloads asked for at once one runs, and the others join the next", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "echo" } });
  const dir = dirOf(h, "echo");
  const processes = (await processesIn(dir)).length;
  await Promise.all(Array.from({ length: 5 }, () => h.host.reload("echo"))); // None has read the files yet: one run.
  assert.equal(h.all("plugin.reloaded").length, 1);
  const begun = h.host.reload("echo");
  while (h.all("plugin.spawned").length < 3) await h.next("plugin.spawned");
  await Promise.all([begun, h.host.reload("echo"), h.host.reload("echo")]); // It has: the others are one run more.
  assert.equal(h.all("plugin.reloaded").length, 3);
  while (h.all("plugin.stopped").length < h.all("plugin.reloaded").length) await h.next("plugin.stopped");
  assert.equal((await processesIn(dir)).length, processes);
});

test("K-070 a plugin that is unknown, disabled or stopped is not reloaded, and says so; one that failed starts", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "wrong_name" }, start: false });
  await assert.rejects(h.host.reload("nobody"), { code: "plugin.unknown" });
  await assert.rejects(h.host.reload("wrong-name"), { code: "plugin.unavailable", hint: "Start the host first" });
  await h.host.start();
  assert.deepEqual(states(h), ["1.0.0 failed"]);
  await assert.rejects(h.host.reload("wrong-name"), { code: "initialize.name_mismatch" });
  await changePlugin(dirOf(h, "wrong-name"), { program: "echo" });
  await h.host.reload("wrong-name");
  assert.deepEqual(states(h), ["1.0.0 running"]);
  await h.host.disable("wrong-name");
  await assert.rejects(h.host.reload("wrong-name"), { code: "plugin.disabled" });
  await h.host.stop();
  await assert.rejects(h.host.reload("wrong-name"), { code: "plugin.disabled" });
});

test("K-070 restart() stops the plugin first: a call under way fails", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "waits_for_file" } });
  const held = h.host.callMethod("waits-for-file", "fixture.wait", { path: join(h.dir, "never") });
  const cut = assert.rejects(held, { code: "plugin.unavailable" });
  await h.host.restart("waits-for-file");
  await cut;
  assert.deepEqual(await h.host.callMethod("waits-for-file", "fixture.call"), { version: "1.0.0" });
});

test("K-070 reload() without a name takes up what is new and leaves the rest alone", async () => {
  await using h = await hosted({
    primary: { a: {} },
    fixtures: { "@test/a": "echo", "@test/b": "answers_hooks" },
  });
  const [before] = h.host.plugins();
  const plugins = { a: { package: "@test/a" }, b: { package: "@test/b" } };
  await writeFile(join(h.dir, "project.yaml"), JSON.stringify({ primary: { plugins } }));
  await h.host.reload();
  assert.deepEqual(states(h), ["1.0.0 running", "1.0.0 running"]);
  assert.equal(h.host.plugins()[0]?.cage?.id, before?.cage?.id);
  const { reports } = await h.host.fireHook("on_session_start", {}, { ...at, session: h.host.openSession().id });
  assert.deepEqual(reports.map(({ outcome }) => outcome), ["ok"]);
  assert.equal(h.host.hooks.list("SessionStart").length, 1);
});

test("K-070 a host that is stopped during a reload leaves no process", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "echo" } });
  const dir = dirOf(h, "echo");
  await changePlugin(dir, { program: "never_initializes" });
  const reload = assert.rejects(h.host.reload("echo"), { code: "plugin.reload_failed" });
  while (h.all("plugin.spawned").length < 2) await h.next("plugin.spawned");
  const pids = await processesIn(dir);
  await h.host.stop();
  await reload;
  await allGone(pids);
  assert.deepEqual(await processesIn(dir), []);
});

test("K-052 files of the store that changed are not reloaded, however harmless or greedy; K-055 another version is", async () => {
  await using v1 = await fixturePlugin("echo");
  await using v2 = await fixturePlugin("echo", { manifest: { version: "2.0.0" } });
  await using h = await hosted({ yaml: { primary: { plugins: { e: { package: "@test/echo" } } } }, start: false });
  const place = await putInstalled(h.home, "echo", v1.dir, "local = true\nenabled = true");
  await h.host.start();
  await h.host.reload(); // Takes up what was installed.
  assert.deepEqual(states(h), ["1.0.0 running"]);
  await changePlugin(place, { manifest: { capabilities: ["net:*"] } });
  await assert.rejects(h.host.reload("echo"), (error: HostError) => {
    return (error.data as { reason: string }).reason === "plugin.tampered" && error.code === "plugin.reload_failed";
  });
  assert.deepEqual(states(h), ["1.0.0 running"]);
  assert.deepEqual(h.host.view.plugin("echo").manifest?.capabilities, []);
  await rm(place, { recursive: true });
  await rm(join(h.home, "local.toml"));
  await putInstalled(h.home, "echo", v2.dir, "local = true\nenabled = true");
  await h.host.reload("echo");
  assert.deepEqual(states(h), ["2.0.0 running"]);
  assert.equal((await h.next("plugin.reloaded")).data.old_version, "1.0.0");
});
