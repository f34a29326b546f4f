import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHost } from "../../src/create_host.ts";
import type { Host } from "../../src/host/types.ts";
import { driftingServer, listedTool } from "../support/drifting_server.ts";
import { type Hosted, hosted, type HostedOptions } from "../support/hosted.ts";
import { turn, until } from "../support/until.ts";

/** Looks every 5 s, so that a process ends before its first ping is due. */
const IDLE_MS = 20_000;
const onDemand = { start: "on_demand", idle_stop_sec: IDLE_MS / 1000 };
/** No ping falls between two steps of the clock. */
const CALM = { health_interval_sec: 300 };
const states = (host: Host): string[] => host.plugins().map(({ state }) => state);
const pid = (h: Hosted): Promise<unknown> => h.host.callMethod("echo", "echo.pid");
const echo = (given: Partial<HostedOptions> = {}): Promise<Hosted> =>
  hosted({ primary: { echo: onDemand }, fixtures: { "@test/echo": { fixture: "echo", manifest: CALM } }, ...given });
/** Moves the clock past the longest time that a process may still live after its last activity. */
const restful = (h: Hosted): void => h.clock.advance(IDLE_MS * 1.25);

test("N-041 a plugin on demand rests at the start of its host, and fifty first calls start one process", async () => {
  await using h = await echo({ start: false });
  const { running, resting, failed } = await h.host.start();
  assert.deepEqual([running, resting, failed], [[], ["echo@music/primary"], []]);
  assert.deepEqual(states(h.host), ["resting"]);
  await Promise.all(Array.from({ length: 50 }, () => pid(h)));
  assert.equal(h.all("plugin.spawned").length, 1);
  assert.deepEqual(h.all("plugin.woken").map(({ data }) => data), [{ need: "echo.pid" }]);
  assert.deepEqual(states(h.host), ["running"]);
});

test("N-041 [plugins] of config.toml has all plugins start on demand, and eager in project.yaml leaves one out", async () => {
  const manifest = { name: "other" };
  await using h = await hosted({
    primary: { echo: {}, other: { start: "eager" } },
    fixtures: { "@test/echo": "echo", "@test/other": { fixture: "echo", manifest } },
    config: '[plugins]\nstart = "on_demand"\nidle_stop_sec = 20\n',
  });
  assert.deepEqual(states(h.host), ["resting", "running"]);
  await pid(h);
  restful(h);
  await h.next("plugin.stopped");
  assert.deepEqual(states(h.host), ["resting", "running"]);
});

test("N-041 tools of a plugin that rests are those of its manifest, and a hook that it declares starts it", async () => {
  await using h = await hosted({ primary: { a: onDemand }, fixtures: { "@test/a": "answers_hooks" } });
  assert.deepEqual(h.host.tools("primary").map(({ name }) => name), ["answers-hooks.look", "answers-hooks.ask"]);
  assert.deepEqual(h.all("plugin.spawned"), []);
  const session = h.host.openSession({ id: "ses_1" });
  await session.start("Hello");
  assert.deepEqual(h.all("plugin.woken").map(({ data }) => data), [{ need: "kaged.hook.on_session_start" }]);
  assert.deepEqual(h.all("plugin.hook.returned").map(({ data }) => data.hook), ["on_session_start"]);
  assert.deepEqual(states(h.host), ["running"]);
});

test("N-041 a process ends after its idle time, and a call that comes while it ends waits and gets the next one", async () => {
  await using h = await echo();
  await pid(h);
  h.clock.advance(IDLE_MS - 1);
  assert.deepEqual(states(h.host), ["running"]);
  h.clock.advance(IDLE_MS / 4 + 1);
  assert.deepEqual(states(h.host), ["resting"]);
  await pid(h); // Its process has only been asked to end.
  const life = ["plugin.spawned", "plugin.resting", "plugin.woken", "plugin.stopped"];
  assert.deepEqual(h.events.map(({ type }) => type).filter((type) => life.includes(type)), [
    "plugin.woken",
    "plugin.spawned",
    "plugin.resting",
    "plugin.stopped",
    "plugin.woken",
    "plugin.spawned",
  ]);
  assert.deepEqual(h.all("plugin.resting").map(({ data }) => data), [{ idle_ms: IDLE_MS }]);
  assert.deepEqual(states(h.host), ["running"]);
});

test("N-041 a process is not ended between two calls, while a call is open, or while it works behind its calls", async () => {
  await using h = await echo();
  await pid(h);
  for (let calls = 0; calls < 8; calls++) {
    h.clock.advance(IDLE_MS * 0.9);
    await pid(h);
  }
  await h.host.callMethod("echo", "echo.log", { text: "still at it\n" });
  await h.logged(1);
  h.clock.advance(IDLE_MS / 2);
  assert.equal(h.all("plugin.spawned").length, 1);
  await using never = await hosted({
    primary: { n: onDemand },
    fixtures: { "@test/n": { fixture: "never_answers", manifest: CALM } },
  });
  const open = never.host.callMethod("never-answers", "fixture.call", {}, { timeoutMs: Infinity });
  await never.next("plugin.initialized");
  for (let looks = 0; looks < 4; looks++) {
    restful(never);
    await turn();
    await turn();
  }
  assert.deepEqual(states(never.host), ["running"]);
  assert.deepEqual(never.all("plugin.resting"), []);
  void open.catch(() => {});
});

test("N-041 calls of a plugin whose start fails get its error; its restarts keep their pace, and a failed one stays down until it is enabled", async () => {
  await using h = await hosted({ primary: { e: onDemand }, fixtures: { "@test/e": "exits_on_initialize" } });
  const call = () =>
    h.host.callMethod("exits-on-initialize", "fixture.call").then(() => null, ({ code, message }) => [code, message]);
  const [one, two] = await Promise.all([call(), call()]);
  assert.deepEqual(one, two);
  assert.match(one![1], /ended with exit code/);
  assert.equal(h.all("plugin.spawned").length, 1);
  assert.deepEqual(states(h.host), ["crashed"]);
  assert.match((await call())![1], /is crashed/);
  for (const delayMs of [1_000, 2_000, 4_000, 8_000]) await h.pass(delayMs);
  await h.next("plugin.failed");
  assert.deepEqual(states(h.host), ["failed"]);
  assert.match((await call())![1], /is failed/);
  assert.equal(h.all("plugin.spawned").length, 5);
  await h.host.enable("exits-on-initialize");
  assert.deepEqual(states(h.host), ["resting"]);
  assert.equal(h.all("plugin.spawned").length, 5);
});

test("N-041 a call that is cancelled while its plugin starts rejects at once, and the start goes on", async () => {
  await using h = await echo();
  const caller = new AbortController();
  const call = h.host.callMethod("echo", "echo.pid", {}, { signal: caller.signal });
  await h.next("plugin.woken");
  caller.abort();
  await assert.rejects(call, { code: "protocol.cancelled" });
  await h.next("plugin.initialized");
  assert.equal(h.all("plugin.spawned").length, 1);
});

test("N-041 a host that stops while a plugin on demand starts ends the start, and the waiting call rejects", async () => {
  await using h = await echo();
  const call = pid(h).then(() => "answered", ({ code }) => code);
  await h.next("plugin.woken");
  await h.host.stop();
  assert.equal(await call, "plugin.unavailable");
  assert.deepEqual(states(h.host), ["stopped"]);
  assert.deepEqual((await h.host.start()).resting, ["echo@music/primary"]);
});

test("N-041 a knob that is turned while a plugin rests is checked, starts nothing, and is there at its start", async () => {
  const manifest = {
    config_schema: { type: "object", properties: { level: { type: "integer", default: 1 } } },
    knobs: {
      level: { type: "int_range", label: "Level", min: 1, max: 9, step: 1, default: 1, binds_to: "config.level" },
    },
  } as const;
  await using h = await echo({ fixtures: { "@test/echo": { fixture: "echo", manifest } } });
  await assert.rejects(h.host.setKnob("primary", "echo", "level", 99), { code: "knob.value_invalid" });
  await h.host.setKnob("primary", "echo", "level", 5);
  assert.deepEqual(h.all("plugin.spawned"), []);
  const [config] = await Promise.all([
    h.host.callMethod("echo", "echo.config"),
    h.host.setKnob("primary", "echo", "level", 7),
  ]);
  assert.ok([5, 7].includes((config as { level: number }).level));
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { level: 7 });
});

test("N-041 a reload of a plugin that rests takes up its files and starts nothing; one of a running plugin starts it again", async () => {
  await using h = await echo();
  const [{ dir }] = [h.host.view.plugin("echo")];
  const file = join(dir!, "kaged-plugin.yaml");
  const { manifest } = h.host.view.plugin("echo");
  const { withheld: _, added: __, ...written } = manifest! as unknown as Record<string, unknown>;
  await writeFile(file, JSON.stringify({ ...written, version: "1.1.0" }));
  await h.host.reload("echo");
  assert.deepEqual(h.all("plugin.spawned"), []);
  assert.deepEqual(h.host.plugins().map(({ version, state }) => [version, state]), [["1.1.0", "resting"]]);
  await pid(h);
  await h.host.restart("echo");
  assert.deepEqual(states(h.host), ["running"]);
  await h.host.reload("echo");
  await pid(h);
  assert.equal(h.all("plugin.spawned").length, 3);
  for (const _ of ["restarted", "reloaded"]) await h.next("plugin.stopped");
  restful(h);
  await h.next("plugin.resting");
  assert.deepEqual(states(h.host), ["resting"]);
});

test("N-041 a reload fails no call that is waking its plugin, and a plugin that rests can be called all the time it takes up its files", async () => {
  await using h = await echo();
  const call = pid(h);
  await h.next("plugin.woken");
  await Promise.all([call, h.host.reload("echo")]);
  await h.next("plugin.stopped");
  await pid(h); // The new process has answered by then to what it was told at its start, and the other is forgotten.
  restful(h);
  await h.next("plugin.stopped");
  const seen = new Set<string>();
  let isOver = false;
  const reload = h.host.reload("echo").finally(() => isOver = true);
  const look = (): boolean => seen.add(states(h.host).join()) && isOver;
  await until(look, "the end of the reload", "turn");
  await reload;
  assert.deepEqual([...seen], ["resting"]);
  assert.equal(h.all("plugin.spawned").length, 2);
  await pid(h);
});

test("N-041 a plugin on demand that is disabled stays down, and rests again once it is enabled", async () => {
  await using h = await echo();
  await h.host.disable("echo");
  assert.deepEqual(states(h.host), ["disabled"]);
  await assert.rejects(pid(h), { code: "plugin.unavailable" });
  await h.host.enable("echo");
  assert.deepEqual(states(h.host), ["resting"]);
  await pid(h);
  await h.host.disable("echo");
  await h.host.enable("echo");
  assert.deepEqual(states(h.host), ["resting"]);
  assert.equal(h.all("plugin.spawned").length, 1);
});

test("N-041 storage of a plugin that rests is shown without a start, and its next process has its tables", async () => {
  const manifest = { capabilities: ["kaged:storage:write"] };
  await using h = await echo({ fixtures: { "@test/echo": { fixture: "echo", manifest } } });
  const exec = (method: string, sql: string) => h.host.callMethod("echo", "echo.storage", { method, sql });
  await exec("exec", "CREATE TABLE notes (text)");
  await exec("exec", "INSERT INTO notes VALUES ('kept')");
  restful(h);
  await h.next("plugin.stopped");
  assert.deepEqual((await h.host.view.storage("echo")).tables.map(({ name }) => name), ["notes"]);
  assert.deepEqual(states(h.host), ["resting"]);
  const { result } = await exec("query", "SELECT text FROM notes") as { result: { rows: unknown } };
  assert.deepEqual(result.rows, [{ text: "kept" }]);
});

test("N-041 an MCP server without pins is started once, rests with the tools it listed, and is kept while somebody is subscribed", async () => {
  await using h = await hosted({ primary: { l: onDemand }, fixtures: { "@test/l": "mcp_library" } });
  const at = { agent: "primary", session: "ses_1" };
  h.host.openSession({ id: "ses_1" });
  assert.deepEqual(states(h.host), ["running"]);
  const unsubscribe = await h.host.mcp.subscribe("mcp-library://own", () => {}, at);
  restful(h);
  assert.deepEqual(states(h.host), ["running"]);
  await unsubscribe();
  restful(h);
  await h.next("plugin.stopped");
  assert.deepEqual(states(h.host), ["resting"]);
  assert.ok(h.host.tools("primary").some(({ name }) => name === "mcp-library.log"));
  assert.ok(h.host.plugins("primary")[0]!.tools.includes("mcp-library.log"));
  assert.deepEqual(h.host.mcp.instructions("primary").map(({ plugin }) => plugin), ["mcp-library"]);
  assert.equal((await h.host.resources("primary")).length, 2);
  assert.deepEqual(h.all("plugin.woken").map(({ data }) => data), [{ need: "resources/list" }]);
});

test("N-041 an installed MCP server that is pinned rests from the start, with its pinned tools", async (t) => {
  const server = await driftingServer(t, listedTool("add", "Adds numbers"));
  const { home, options: { project } } = server;
  const plugins = { d: { package: "@test/drifts", ...onDemand } };
  await writeFile(join(project, "project.yaml"), JSON.stringify({ id: "music", primary: { plugins } }));
  const first = await createHost({ audit: [], onWarning: () => {}, project, home });
  t.after(() => first.stop());
  assert.deepEqual((await first.start()).running, ["drifts@music/primary"]);
  await first.stop();
  await server.list(listedTool("add", "Adds other numbers"));
  const host = await createHost({ audit: [], onWarning: () => {}, project, home });
  t.after(() => host.stop());
  assert.deepEqual((await host.start()).resting, ["drifts@music/primary"]);
  assert.deepEqual(host.tools("primary").map(({ name }) => name), ["drifts.relist", "drifts.add"]);
  host.openSession({ id: "ses_1" });
  const at = { agent: "primary", session: "ses_1" };
  assert.deepEqual(await host.callTool("drifts.relist", {}, at), { content: [{ type: "text", text: "relist" }] });
  // Its first listing is held to the pins, as that of any server.
  await assert.rejects(host.callTool("drifts.add", {}, at), { code: "tool.quarantined" });
});

test("N-041 start and idle_stop_sec that make no sense are refused with their place", async () => {
  const load = (declaration: object, config?: string) =>
    hosted({
      primary: { echo: declaration },
      fixtures: { "@test/echo": "echo" },
      ...(config && { config }),
      start: false,
    });
  await assert.rejects(load({ start: "later" }), { code: "project.invalid" });
  await assert.rejects(
    load({ idle_stop_sec: 0 }),
    ({ data }: { data: { issues: { code: string; path: string }[] } }) => {
      assert.deepEqual(data.issues.map(({ code, path }) => [code, path]), [
        ["project.invalid_idle_stop", "primary.plugins.echo.idle_stop_sec"],
      ]);
      return true;
    },
  );
  await assert.rejects(load({}, '[plugins]\nstart = "never"\n'), { code: "config.invalid" });
});

test("N-041 a project of 1,000 plugins on demand starts none of them, and a call starts its own alone", async () => {
  const names = ["a", "b", "c", "d", "e"];
  const plugins = Object.fromEntries(names.map((name) => [name, { package: `@test/${name}`, start: "on_demand" }]));
  const subagents = Object.fromEntries(Array.from({ length: 199 }, (_, at) => [`agent${at}`, { plugins }]));
  await using h = await hosted({
    yaml: { primary: { plugins, subagents } },
    fixtures: Object.fromEntries(names.map((name) => [`@test/${name}`, { fixture: "echo", manifest: { name } }])),
    start: false,
  });
  const { running, resting, failed } = await h.host.start();
  assert.deepEqual([running.length, resting.length, failed.length], [0, 1000, 0]);
  assert.equal(new Set(states(h.host)).size, 1);
  await h.host.callMethod("c", "echo.pid", {}, { agent: "primary.subagents.agent77" });
  assert.deepEqual(h.all("plugin.spawned").map(({ instance }) => instance), ["c@music/primary.subagents.agent77"]);
});

test("N-041 start and idle_stop_sec of a shared plugin are set where it is first declared", async () => {
  const shared = { package: "@test/echo", isolation: "project", ...onDemand };
  await using h = await hosted({
    yaml: {
      primary: { plugins: { echo: shared }, subagents: { other: { plugins: { echo: { start: "eager" } } } } },
    },
    fixtures: { "@test/echo": "echo" },
    start: false,
  });
  const { resting, failed } = await h.host.start();
  assert.deepEqual(resting, ["echo@music"]);
  assert.deepEqual(failed.map(({ error }) => error.code), ["project.forbidden_override"]);
});
