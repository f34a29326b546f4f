import assert from "node:assert/strict";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { hosted } from "../support/hosted.ts";
import { putInstalled } from "../support/installed.ts";

const RESEARCHER = "primary.subagents.researcher";
const WRITER = "primary.subagents.writer";
const own = (tags: string[]) => ({ package: "@test/memory", config: { tags } });
const shared = {
  primary: {
    plugins: { memory: { package: "@test/memory", isolation: "project", config: { tags: ["base"], depth: 1 } } },
    subagents: { researcher: { plugins: { memory: { config: { tags: ["research"] } } } }, writer: {} },
  },
};
const echo = { "@test/memory": "echo" };
type Params = { params: Record<string, unknown>; context: Record<string, unknown> };

test("K-035 isolation: agent gives each agent a process and a config of its own", async () => {
  await using h = await hosted({
    yaml: {
      primary: { plugins: { memory: own(["a"]) }, subagents: { researcher: { plugins: { memory: own(["b"]) } } } },
    },
    fixtures: echo,
    start: false,
  });
  const { running } = await h.host.start();
  assert.deepEqual(running, ["echo@music/primary", `echo@music/${RESEARCHER}`]);
  assert.deepEqual(await h.host.callMethod("echo", "echo.config", {}, { agent: "primary" }), { tags: ["a"] });
  assert.deepEqual(await h.host.callMethod("echo", "echo.config", {}, { agent: RESEARCHER }), { tags: ["b"] });
});

test("K-034 each agent has what it declares and nothing of its parent", async () => {
  await using h = await hosted({ yaml: { ...shared }, fixtures: echo });
  assert.deepEqual(h.host.agents(), [
    { path: "primary", parent: null, plugins: ["memory"] },
    { path: RESEARCHER, parent: "primary", plugins: ["memory"] },
    { path: WRITER, parent: "primary", plugins: [] },
  ]);
  assert.deepEqual(h.host.plugins(WRITER), []);
  await assert.rejects(h.host.callMethod("echo", "echo.pid", {}, { agent: WRITER }), { code: "plugin.unknown" });
});

test("K-035 K-036 isolation: project gives one process; an agent's overrides ride as _config beside _context", async () => {
  await using h = await hosted({ yaml: shared, fixtures: echo });
  assert.deepEqual(h.host.plugins().map(({ instance, state, isolation }) => [instance, state, isolation]), [
    ["echo@music", "running", "project"],
  ]);
  h.host.openSession({ id: "ses_1" });
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { tags: ["base"], depth: 1 });
  const call = (agent: string, params = {}) =>
    h.host.callMethod("echo", "echo.params", params, { agent, session: "ses_1" }) as Promise<Params>;
  assert.deepEqual((await call(RESEARCHER)).params, { _config: { tags: ["research"] } });
  assert.equal((await call(RESEARCHER)).context.agent_path, RESEARCHER);
  assert.deepEqual((await call("primary")).params, {});
  assert.deepEqual((await call("primary", { _config: { tags: ["forged"] }, a: 1 })).params, { a: 1 });
});

test("K-036 hooks and tools of a shared plugin carry the agent's overrides too", async () => {
  await using h = await hosted({ yaml: shared, fixtures: { "@test/memory": "answers_hooks" } });
  h.host.openSession({ id: "ses_1" });
  const at = { agent: RESEARCHER, session: "ses_1" };
  const { params } = await h.host.callTool("answers-hooks.look", { query: "x" }, at) as Params;
  assert.deepEqual(params._config, { tags: ["research"] });
  await h.host.fireHook("pre_compact", { trigger: "manual" }, at);
  const { calls } = await h.host.callMethod("answers-hooks", "fixture.call") as { calls: Params[] };
  assert.deepEqual(calls[0]?.params, {
    role: "observer",
    messages_being_compacted: [],
    messages_remaining: [],
    strategy: "drop",
    trigger: "manual",
    _config: { tags: ["research"] },
  });
});

test("K-015 a call without session is the host's own; with one it is the agent's", async () => {
  await using h = await hosted({ primary: { memory: {} }, fixtures: echo });
  h.host.openSession({ id: "ses_1" });
  const fields = async (at?: object) => {
    const { context: { request_id: _, ...rest } } = await h.host.callMethod("echo", "echo.params", {}, at) as Params;
    return rest;
  };
  const nobody = { operator_id: null, project_id: null, agent_path: null, session_id: null };
  const primary = { operator_id: null, project_id: "music", agent_path: "primary", session_id: "ses_1" };
  assert.deepEqual(await fields(), nobody);
  assert.deepEqual(await fields({ agent: "primary" }), nobody);
  assert.deepEqual(await fields({ session: "ses_1" }), primary);
  assert.deepEqual(await fields({ agent: "primary", session: "ses_1" }), primary);
  await assert.rejects(h.host.callMethod("echo", "echo.params", {}, { session: "ses_2" }), { code: "session.unknown" });
});

test("of several instances the primary's is called, and without one the agent must be named", async () => {
  const memory = { package: "@test/memory" };
  await using h = await hosted({
    yaml: { primary: { subagents: { researcher: { plugins: { memory } }, writer: { plugins: { memory } } } } },
    fixtures: echo,
  });
  await assert.rejects(h.host.callMethod("echo", "echo.pid"), { code: "instance.ambiguous", http: 409 });
  await h.host.callMethod("echo", "echo.pid", {}, { agent: WRITER });
  await assert.rejects(h.host.callMethod("ecko", "echo.pid"), { code: "plugin.unknown", hint: 'Did you mean "echo"?' });
  h.host.openSession({ id: "ses_1" });
  await using one = await hosted({
    yaml: { primary: { subagents: { writer: { plugins: { memory } } } } },
    fixtures: echo,
  });
  one.host.openSession({ id: "ses_1" });
  await one.host.callMethod("echo", "echo.pid");
  await assert.rejects(one.host.callMethod("echo", "echo.pid", {}, { session: "ses_1" }), { code: "host.misuse" });
});

test("K-015 a method call ends at its signal", async () => {
  await using h = await hosted({ primary: { memory: {} }, fixtures: { "@test/memory": "never_answers" } });
  const call = h.host.callMethod("never-answers", "fixture.call", {}, { signal: AbortSignal.abort() });
  await assert.rejects(call, { code: "protocol.cancelled" });
});

test("K-011 a plugin is told of the project when it is up", async () => {
  await using h = await hosted({
    primary: { one: { config: { a: 1 } }, two: {} },
    fixtures: { "@test/one": "hears_projects", "@test/two": "echo" },
  });
  assert.deepEqual(await h.host.callMethod("hears-projects", "fixture.call"), {
    heard: [{ method: "projects.activated", params: { project: "music", config: { a: 1 } } }],
  });
  assert.deepEqual((await h.host.callMethod("echo", "echo.initialize") as { projects: unknown }).projects, ["music"]);
});

test("enabling and disabling go by the plugin's name and reach every instance", async () => {
  const memory = { package: "@test/memory" };
  await using h = await hosted({
    yaml: { primary: { plugins: { memory }, subagents: { writer: { plugins: { memory } } } } },
    fixtures: echo,
  });
  await h.host.disable("echo");
  assert.deepEqual(h.host.plugins().map(({ state }) => state), ["disabled", "disabled"]);
  assert.deepEqual(h.all("plugin.disabled").map(({ data }) => data.reason), ["operator", "operator"]);
  await h.host.enable("echo");
  assert.deepEqual(h.host.plugins().map(({ state }) => state), ["running", "running"]);
  await assert.rejects(h.host.disable("nobody"), { code: "plugin.unknown" });
});

test("K-063 a plugin of the store runs when the operator has enabled it, and its record names its package", async () => {
  const project = { primary: { plugins: { memory: { package: "@kaged/echo" } } } };
  await using plugin = await fixturePlugin("echo");
  // A host reads the store when it is made: make it anew over the store.
  const started = async (record: string | null) => {
    await using h = await hosted({ yaml: project, start: false });
    if (record !== null) await putInstalled(h.home, "echo", plugin.dir, record);
    const { createHost } = await import("../../src/create_host.ts");
    await using host = await createHost({ project: h.dir, home: h.home, audit: [] });
    const { running, failed, pending } = await host.start();
    return { running, failed: failed.map(({ error }) => error.code), pending: pending.length };
  };
  const enabled = 'installed = "1.0.0"\nlocal = true\nenabled = true\npackage = "@kaged/echo"';
  const ran = { running: ["echo@music/primary"], failed: [], pending: 0 };
  assert.deepEqual(await started(enabled), ran);
  assert.deepEqual(await started(enabled.replace("enabled = true", "enabled = false")), {
    running: [],
    failed: ["plugin.disabled"],
    pending: 0,
  });
  assert.deepEqual(await started(null), { running: [], failed: ["plugin.not_installed"], pending: 1 });
  const scoped = enabled.replace("local = true", "local = false");
  assert.deepEqual(await started(`${scoped}\nprojects = ["music"]`), ran);
  assert.deepEqual(await started(`${scoped}\nprojects = ["other"]`), {
    running: [],
    failed: ["plugin.not_installed"],
    pending: 1,
  });
  assert.deepEqual(await started(enabled.replace("@kaged", "@other")), {
    running: [],
    failed: ["project.package_mismatch"],
    pending: 0,
  });
});

test("K-063 a local plugin nobody declares runs once for the host, and serves no agent's tools", async () => {
  await using plugin = await fixturePlugin("answers_hooks");
  await using h = await hosted({ yaml: { primary: {} }, start: false });
  await putInstalled(h.home, "answers-hooks", plugin.dir, "local = true\nenabled = true");
  const { createHost } = await import("../../src/create_host.ts");
  await using host = await createHost({ project: h.dir, home: h.home, audit: [] });
  assert.deepEqual((await host.start()).running, ["answers-hooks"]);
  assert.deepEqual(host.plugins().map(({ key, instance }) => [key, instance]), [[null, "answers-hooks"]]);
  assert.deepEqual(host.tools("primary"), []);
  await host.callMethod("answers-hooks", "fixture.call");
  host.openSession({ id: "ses_1" });
  await host.callMethod("answers-hooks", "fixture.call", {}, { agent: "primary", session: "ses_1" });
});

test("K-057 instances of one plugin share its storage, which outlives a stop", async () => {
  const memory = { package: "@test/memory" };
  await using h = await hosted({
    yaml: { primary: { plugins: { memory }, subagents: { researcher: { plugins: { memory } } } } },
    fixtures: { "@test/memory": { fixture: "echo", manifest: { capabilities: ["kaged:storage:write"] } } },
  });
  const ask = (agent: string, method: string, sql: string) =>
    h.host.callMethod("echo", "echo.storage", { method, sql }, { agent });
  await ask("primary", "exec", "CREATE TABLE notes (text TEXT)");
  await ask("primary", "exec", "INSERT INTO notes VALUES ('kept')");
  await h.host.stop();
  await h.host.start();
  const { result } = await ask(RESEARCHER, "query", "SELECT text FROM notes") as { result: { rows: unknown } };
  assert.deepEqual(result.rows, [{ text: "kept" }]);
});
