import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Message } from "../../src/core/compaction/messages.ts";
import { failed, SECRET, served, USUAL, YAML } from "../support/served.ts";

const PLUGIN = "/api/v1/plugins/echo";

test("GET /healthz and /openapi.json need no token", async () => {
  await using s = await served({});
  const anonymous = { headers: { Authorization: "" } };
  assert.deepEqual((await s.ask("/healthz", anonymous)).body, { ok: true });
  assert.equal((await s.ask("/openapi.json", anonymous)).body.openapi, "3.1.0");
});

test("GET /api/v1/host names the project and counts the open sessions", async () => {
  await using s = await served({});
  s.h.host.openSession({ id: "ses_1" });
  const session = s.h.host.openSession({ id: "ses_2" });
  await session.close();
  const { body } = await s.ask("/api/v1/host");
  assert.deepEqual([body.project, body.sessions], [{ id: "music", dir: s.h.dir }, { count: 1, ids: ["ses_1"] }]);
});

test("GET /api/v1/plugins lists every instance with its state, its cage and the agents it serves", async () => {
  await using s = await served();
  const { body } = await s.ask("/api/v1/plugins");
  assert.deepEqual(body.plugins.map(({ instance, state, agents }: never) => [instance, state, agents]), [
    ["echo@music/primary", "running", ["primary"]],
    ["echo@music/primary.subagents.researcher", "running", ["primary.subagents.researcher"]],
  ]);
  assert.equal(body.plugins[0].cage.limits.memory_mb, 512);
});

test("GET /api/v1/plugins/{name} describes capabilities in plain words, and shows the config without secrets", async () => {
  await using s = await served();
  const { body } = await s.ask(PLUGIN);
  assert.equal(body.description, "Fixture: echo");
  assert.equal(body.capabilities[0].capability, "kaged:storage:write");
  assert.match(body.capabilities[0].text, /^Can /);
  assert.deepEqual(body.agents[0], {
    agent: "primary",
    key: "memory",
    instance: "echo@music/primary",
    config: { level: 2, token: "‹set by operator›" },
  });
  assert.equal(JSON.stringify(body).includes(SECRET), false);
});

test("a plugin that is not there is a 404 with our code and a hint", async () => {
  await using s = await served();
  for (
    const [method, path] of [["GET", ""], ["POST", "/enable"], ["POST", "/disable"], ["POST", "/reload"], [
      "POST",
      "/restart",
    ]]
  ) {
    const answer = await s.ask(`/api/v1/plugins/eco${path}`, { method: method! });
    assert.deepEqual(failed(answer), [404, "plugin.unknown"]);
    assert.equal(answer.headers.get("content-type"), "application/problem+json");
    assert.equal(answer.body.hint, 'Did you mean "echo"?');
  }
});

test("disable stops a plugin, enable starts it, restart does both, reload swaps; each answers with the plugin", async () => {
  await using s = await served();
  const states = (body: { instances: { state: string; restarts: number }[] }) => body.instances.map((one) => one.state);
  assert.deepEqual(states((await s.ask(`${PLUGIN}/disable`, { method: "POST" })).body), ["disabled", "disabled"]);
  const down = await s.ask(`${PLUGIN}/restart`, { method: "POST" });
  assert.deepEqual(failed(down), [502, "plugin.disabled"]);
  assert.deepEqual(states((await s.ask(`${PLUGIN}/enable`, { method: "POST" })).body), ["running", "running"]);
  const spawned = s.h.all("plugin.spawned").length;
  assert.deepEqual(states((await s.ask(`${PLUGIN}/restart`, { method: "POST" })).body), ["running", "running"]);
  assert.equal(s.h.all("plugin.spawned").length, spawned + 2);
  assert.deepEqual(states((await s.ask(`${PLUGIN}/reload`, { method: "POST" })).body), ["running", "running"]);
  assert.equal(s.h.all("plugin.reloaded").length, 2);
});

test("K-013 GET …/call/{method} takes params from the query, POST takes them as the body", async () => {
  await using s = await served();
  const path = `${PLUGIN}/call/echo.params`;
  const got = await s.ask(`${path}?params=${encodeURIComponent('{"filter":"web"}')}`);
  assert.deepEqual(got.body.result.params, { filter: "web" });
  const posted = await s.ask(path, { method: "POST", json: { filter: "é", constructor: 1, "__proto__x": 2 } });
  assert.deepEqual(posted.body.result.params, { filter: "é", constructor: 1, "__proto__x": 2 });
  assert.equal(posted.body.result.context.agent_path, null);
});

test("K-015 a call names the agent and the session it is made for", async () => {
  await using s = await served();
  s.h.host.openSession({ id: "ses_1" });
  const at = "agent=primary.subagents.researcher&session=ses_1";
  const { body } = await s.ask(`${PLUGIN}/call/echo.params?${at}`);
  assert.deepEqual([body.result.context.agent_path, body.result.context.session_id], [
    "primary.subagents.researcher",
    "ses_1",
  ]);
  assert.deepEqual(failed(await s.ask(`${PLUGIN}/call/echo.params?session=ses_9`)), [404, "session.unknown"]);
  assert.deepEqual(failed(await s.ask(`${PLUGIN}/call/echo.params?agent=primary.nobody`)), [404, "agent.unknown"]);
});

test("K-014 a call of a plugin that is down is a 502 whose detail starts [BLOCKED]", async () => {
  await using s = await served();
  await s.h.host.disable("echo");
  const answer = await s.ask(`${PLUGIN}/call/echo.params`);
  assert.deepEqual(failed(answer), [502, "plugin.unavailable"]);
  assert.match(answer.body.detail, /^\[BLOCKED\]/);
});

test("K-017 a plugin's own errors keep their message, and their numbers become statuses", async () => {
  await using s = await served();
  const call = (method: string, params: unknown = {}) =>
    s.ask(`${PLUGIN}/call/${method}`, { method: "POST", json: params });
  const missing = await call("echo.read", { path: "/nowhere" });
  assert.deepEqual(failed(missing), [422, "plugin.error"]);
  assert.match(missing.body.detail, /ENOENT/);
  assert.deepEqual(failed(await call("echo.nothing")), [404, "protocol.method_unknown"]);
});

test("K-012 what only the host calls, such as hooks, cannot be called over HTTP", async () => {
  await using s = await served({ primary: { hooks: {} }, fixtures: { "@test/hooks": "answers_hooks" } });
  for (const method of ["kaged.hook.on_session_start", "system.cancel"]) {
    const answer = await s.ask(`/api/v1/plugins/answers-hooks/call/${method}`);
    assert.deepEqual(failed(answer), [404, "protocol.method_unknown"], method);
  }
  const look = "/api/v1/plugins/answers-hooks/call/answers-hooks.look";
  assert.equal((await s.ask(`${look}?params=${encodeURIComponent('{"query":"x"}')}`)).status, 200);
});

test("…/call/{method} checks the arguments of a tool, and calls no plugin with wrong ones", async () => {
  await using s = await served({ primary: { hooks: {} }, fixtures: { "@test/hooks": "answers_hooks" } });
  const look = "/api/v1/plugins/answers-hooks/call/answers-hooks.look";
  const wrong: readonly object[] = [{}, { query: 7 }, { query: ["x"] }, { query: null }];
  for (const json of wrong) {
    const answer = await s.ask(look, { method: "POST", json });
    assert.deepEqual(failed(answer), [400, "tool.arguments_invalid"], JSON.stringify(json));
    assert.match(answer.body.detail, /query/);
    const inQuery = await s.ask(`${look}?params=${encodeURIComponent(JSON.stringify(json))}`);
    assert.deepEqual(failed(inQuery), [400, "tool.arguments_invalid"], JSON.stringify(json));
  }
  assert.equal(s.h.all("plugin.method_called").length, 0);
  assert.equal((await s.ask(look, { method: "POST", json: { query: "x" } })).status, 200);
  assert.deepEqual(s.h.all("plugin.method_called").map(({ data }) => data.method), ["answers-hooks.look"]);
});

test("K-017 a plugin's number becomes the status of the table; one that is busy says when to try again", async () => {
  await using s = await served();
  const statuses: [number, number][] = [
    [-32601, 404],
    [-32602, 400],
    [-32603, 502],
    [-32000, 422],
    [-32001, 403],
    [-32002, 409],
    [-32003, 403],
    [-32004, 422],
    [-32005, 409],
    [-32006, 409],
    [-32050, 422],
  ];
  for (const [code, status] of statuses) {
    const answer = await s.ask(`${PLUGIN}/call/echo.refuse`, { method: "POST", json: { code, message: "No" } });
    assert.deepEqual([answer.status, answer.body.detail], [status, "No"], `${code}`);
    assert.equal(answer.headers.get("retry-after"), code === -32005 ? "1" : null, `${code}`);
  }
});

test("a plugin that is down for a moment is a 502 that says when to try again; one that stays down is not", async () => {
  await using s = await served({ primary: { crash: {} }, fixtures: { "@test/crash": "crashes_on_call" } });
  const call = () => s.ask("/api/v1/plugins/crashes-on-call/call/fixture.call", { method: "POST", json: {} });
  for (const answer of [await call(), await call()]) {
    assert.deepEqual([answer.status, answer.body.code], [502, "plugin.unavailable"]);
    assert.equal(answer.headers.get("retry-after"), "1");
  }
  await s.h.host.disable("crashes-on-call");
  const { status, headers } = await call();
  assert.deepEqual([status, headers.get("retry-after")], [502, null]);
});

test("K-013 a call that comes to no end is a 502 when its time is up", async () => {
  await using s = await served({
    primary: { slow: {} },
    fixtures: { "@test/slow": "never_answers" },
  });
  const asked = s.ask("/api/v1/plugins/never-answers/call/fixture.call?timeout_ms=5000");
  await s.h.pass(5000);
  assert.deepEqual(failed(await asked), [502, "protocol.timeout"]);
});

test("a client that goes away cancels its call", async () => {
  await using s = await served({ primary: { kind: {} }, fixtures: { "@test/kind": "honours_cancel" } });
  const controller = new AbortController();
  const path = "/api/v1/plugins/honours-cancel/call/fixture";
  const asked = s.raw(`${path}.call`, {}, controller.signal);
  await s.h.next("plugin.method_called");
  controller.abort();
  assert.equal((await asked).status, 499);
  const { body } = await s.ask(`${path}.cancelled`);
  assert.equal(body.result.cancelled.length, 1);
});

test("K-039 GET …/knobs shows each knob with its value, for every agent or one", async () => {
  await using s = await served();
  const { body } = await s.ask(`${PLUGIN}/knobs`);
  const values = body.agents.map((
    { agent, knobs }: never,
  ) => [agent, (knobs as { level: { value: number } }).level.value]);
  assert.deepEqual(values, [["primary", 2], ["primary.subagents.researcher", 1]]);
  assert.deepEqual(body.agents[0].knobs.level, {
    type: "int_range",
    label: "Level",
    min: 1,
    max: 9,
    step: 1,
    default: 1,
    binds_to: "config.level",
    value: 2,
  });
  assert.equal((await s.ask(`${PLUGIN}/knobs?agent=primary`)).body.agents.length, 1);
  assert.deepEqual(failed(await s.ask(`${PLUGIN}/knobs?agent=nobody`)), [404, "agent.unknown"]);
});

test("K-039 K-069 PUT …/knobs/{knob} reaches the plugin and project.yaml, which keeps its comments", async () => {
  await using s = await served();
  const turned = await s.ask(`${PLUGIN}/knobs/level`, { method: "PUT", json: { agent: "primary", value: 5 } });
  assert.equal(turned.body.agents[0].knobs.level.value, 5);
  assert.equal(await readFile(join(s.h.dir, "project.yaml"), "utf8"), YAML.replace("level: 2", "level: 5"));
  assert.equal((await s.ask(`${PLUGIN}/call/echo.config?agent=primary`)).body.result.level, 5);
  assert.equal(s.h.all("plugin.knob_write").length, 1);
});

test("K-039 a knob that is not there or out of its range changes nothing", async () => {
  await using s = await served();
  const turn = (knob: string, json: unknown) => s.ask(`${PLUGIN}/knobs/${knob}`, { method: "PUT", json });
  assert.deepEqual(failed(await turn("level", { value: 10 })), [422, "knob.value_invalid"]);
  assert.deepEqual(failed(await turn("level", { value: "5" })), [422, "knob.value_invalid"]);
  assert.deepEqual(failed(await turn("depth", { value: 5 })), [404, "knob.unknown"]);
  assert.deepEqual(failed(await turn("level", { agent: "nobody", value: 5 })), [404, "agent.unknown"]);
  assert.deepEqual(failed(await turn("level", { agent: "primary" })), [400, "http.input_invalid"]);
  assert.deepEqual(failed(await turn("level", { value: 5, key: "memory" })), [400, "http.input_invalid"]);
  assert.equal(await readFile(join(s.h.dir, "project.yaml"), "utf8"), YAML);
});

test("K-039 GET …/schemas shows both sides' shapes and no value", async () => {
  await using s = await served();
  const { body } = await s.ask(`${PLUGIN}/schemas`);
  assert.deepEqual([Object.keys(body.project.properties), Object.keys(body.system.properties)], [["level"], ["token"]]);
  assert.equal(JSON.stringify(body).includes(SECRET), false);
});

test("GET /api/v1/agents shows the plugins active for each agent", async () => {
  await using s = await served();
  const { body } = await s.ask("/api/v1/agents");
  assert.deepEqual(body.agents.map(({ path, parent, plugins }: never) => [path, parent, (plugins as []).length]), [
    ["primary", null, 1],
    ["primary.subagents.researcher", "primary", 1],
  ]);
  const one = await s.ask("/api/v1/agents/primary.subagents.researcher");
  assert.deepEqual(one.body.plugins[0].config, { level: 1, token: "‹set by operator›" });
  assert.deepEqual(failed(await s.ask("/api/v1/agents/secondary")), [404, "agent.unknown"]);
});

test("K-069 GET …/compaction names the compactor and the observers, and the newest compactions with the kept texts", async () => {
  await using s = await served({
    yaml: {
      primary: {
        plugins: { smart: { package: "@test/smart", config: { mode: "well" } } },
        compaction: { delegate: { plugin: "smart" }, keep_last: 4, target_tokens: 300 },
      },
    },
    fixtures: { "@test/smart": "compacts" },
  });
  s.h.host.openSession({ id: "ses_1" });
  const messages: Message[] = Array.from({ length: 12 }, (_, at) => ({
    id: `m${at}`,
    role: at === 0 ? "system" : "user",
    content: "word ".repeat(40),
  }));
  await s.h.host.compact({ agent: "primary", session: "ses_1", messages, trigger: "threshold_crossed" });
  const { body } = await s.ask("/api/v1/agents/primary/compaction");
  assert.deepEqual([body.compactor, body.delegate, body.keep_last, body.target_tokens], ["compacts", "smart", 4, 300]);
  const [{ by, before, after, superseded, summary, trigger, retained }] = body.recent;
  assert.deepEqual([by, superseded, trigger, retained], ["compactor", 7, "threshold_crossed", []]);
  assert.deepEqual([before.messages, after.messages, summary], [12, 6, "Took 7 messages"]);
  assert.deepEqual(failed(await s.ask("/api/v1/agents/nobody/compaction")), [404, "agent.unknown"]);
});

test("GET …/storage lists a plugin's tables, and is empty before there are any", async () => {
  await using s = await served();
  assert.deepEqual((await s.ask(`${PLUGIN}/storage`)).body, { tables: [], bytes: 0 });
  const sql = "CREATE TABLE notes (text)";
  await s.ask(`${PLUGIN}/call/echo.storage`, { method: "POST", json: { method: "exec", sql } });
  const { body } = await s.ask(`${PLUGIN}/storage`);
  assert.deepEqual(body.tables.map(({ name, rows }: never) => [name, rows]), [["notes", 0]]);
  assert.ok(body.bytes > 0);
});

test("GET …/logs gives the newest lines, as many as asked for, and goes on after an id", async () => {
  await using s = await served();
  await s.ask(`${PLUGIN}/call/echo.log`, { method: "POST", json: { text: "one\ntwo\nthree\n" } });
  await s.h.logged(3);
  const { body } = await s.ask(`${PLUGIN}/logs?tail=2`);
  const lines = (entries: { data: { line: string } }[]) => entries.map(({ data }) => data.line);
  assert.deepEqual(lines(body.entries), ["two", "three"]);
  const rest = await s.ask(`${PLUGIN}/logs?last_event_id=${body.entries[0].id}`);
  assert.deepEqual([lines(rest.body.entries), rest.body.missed], [["three"], false]);
  assert.deepEqual((await s.ask(`${PLUGIN}/logs?tail=0`)).body.entries, []);
});

test("GET /metrics is Prometheus text: states, restarts, calls, hooks, storage, answers", async () => {
  await using s = await served();
  await s.ask(`${PLUGIN}/call/echo.params`);
  await s.ask(`${PLUGIN}/call/echo.read`, { method: "POST", json: { path: "/nowhere" } });
  const { body, headers } = await s.ask("/metrics");
  assert.match(headers.get("content-type")!, /^text\/plain; version=0\.0\.4/);
  for (
    const line of [
      'kaged_plugin_state{plugin="echo",instance="echo@music/primary",state="running"} 1',
      'kaged_plugin_state{plugin="echo",instance="echo@music/primary",state="failed"} 0',
      'kaged_plugin_restarts_total{plugin="echo",instance="echo@music/primary"} 0',
      'kaged_calls_total{plugin="echo",outcome="ok"} 1',
      'kaged_calls_total{plugin="echo",outcome="error"} 1',
      'kaged_call_duration_seconds_bucket{plugin="echo",le="+Inf"} 2',
      'kaged_call_duration_seconds_count{plugin="echo"} 2',
      'kaged_storage_bytes{plugin="echo"} 0',
      "kaged_sessions 0",
      'kaged_http_responses_total{status="422"} 1',
    ]
  ) assert.ok(body.split("\n").includes(line), `${line}\n---\n${body}`);
  // Text format: every line is a comment or a name, labels and a number.
  for (const line of body.trimEnd().split("\n")) {
    assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z]+="([^"\\\n]|\\.)*",?)*\})? [0-9.e+-]+)$/);
  }
});

test("GET /metrics leaves out a plugin whose storage cannot be read", async () => {
  await using s = await served();
  Object.assign(s.h.host.view, { storage: () => Promise.reject(new Error("No storage")) });
  const { status, body } = await s.ask("/metrics");
  assert.deepEqual([status, body.includes("kaged_sessions 0"), body.includes("kaged_storage_bytes{")], [
    200,
    true,
    false,
  ]);
});

test("an app that is mounted answers where the API has no route, behind the same token", async () => {
  const asked: string[] = [];
  const app = {
    fetch(request: Request) {
      asked.push(`${request.method} ${new URL(request.url).pathname}${new URL(request.url).search}`);
      return new URL(request.url).pathname === "/notes"
        ? Response.json({ notes: [] })
        : new Response("404 Not Found", { status: 404, headers: { "Content-Type": "text/plain" } });
    },
  };
  await using s = await served({}, { mount: [{ path: "/api/v1", app }] });
  assert.deepEqual((await s.ask("/api/v1/notes?limit=1")).body, { notes: [] });
  assert.deepEqual(failed(await s.ask("/api/v1/nothing")), [404, "http.not_found"]);
  assert.equal((await s.ask("/api/v1/plugins")).status, 200);
  assert.deepEqual(asked, ["GET /notes?limit=1", "GET /nothing"]);
  assert.deepEqual(failed(await s.ask("/api/v1/notes", { headers: { Authorization: "" } })), [
    401,
    "http.unauthorized",
  ]);
});

test("paths and methods the API does not have", async () => {
  await using s = await served({});
  assert.deepEqual(failed(await s.ask("/api/v1/nothing")), [404, "http.not_found"]);
  const wrong = await s.ask("/api/v1/plugins", { method: "DELETE" });
  assert.deepEqual([...failed(wrong), wrong.headers.get("allow")], [405, "http.method_not_allowed", "GET"]);
  assert.equal((await s.raw("/api/v1/plugins", { method: "HEAD" })).status, 200);
});

test("a failure that is the host's own mistake reveals nothing of its inside", async () => {
  await using s = await served({});
  Object.assign(s.h.host.view, {
    sessions: () => {
      throw new TypeError(`cannot read ${SECRET} of undefined`);
    },
  });
  const answer = await s.ask("/api/v1/host");
  assert.deepEqual(failed(answer), [500, "host.internal"]);
  assert.equal(JSON.stringify(answer.body).includes(SECRET), false);
  assert.match(s.warnings[0]!, /TypeError: cannot read/);
});

test("USUAL is what the other tests stand on: its plugin knows the operator's secret", async () => {
  await using s = await served(USUAL);
  assert.equal(
    (await s.h.host.callMethod("echo", "echo.config", {}, { agent: "primary" }) as { token: string }).token,
    SECRET,
  );
});

test("K-017 K-070 a problem carries the JSON-RPC number of its failure, the plugin's own where a plugin failed", async () => {
  await using s = await served();
  const unknown = await s.ask("/api/v1/plugins/nobody");
  assert.deepEqual([unknown.body.code, unknown.body.rpc], ["plugin.unknown", -32602]);
  const missing = await s.ask(`${PLUGIN}/call/echo.no_such_method`);
  assert.equal(missing.body.rpc, -32601);
});

test("K-070 every event that a request causes has its id, and what happens later has not", async () => {
  await using s = await served();
  const heard: { type: string; request_id: string | null }[] = [];
  s.h.host.onAudit(({ type, request_id }) => void heard.push({ type, request_id }));
  for (const order of ["disable", "enable", "restart"]) {
    const before = heard.length;
    const { headers } = await s.ask(`${PLUGIN}/${order}`, { method: "POST" });
    const id = headers.get("x-request-id");
    assert.match(id!, /^req_/);
    const caused = heard.slice(before);
    assert.ok(caused.length > 0, order);
    assert.deepEqual(new Set(caused.map(({ request_id }) => request_id)), new Set([id]), JSON.stringify(caused));
  }
  const before = heard.length;
  await s.h.host.disable("echo");
  assert.deepEqual(new Set(heard.slice(before).map(({ request_id }) => request_id)), new Set([null]));
});

test("K-015 X-Kaged-User-Id names the operator where the proxy is trusted, and nowhere else", async () => {
  const asked = async (trustUserHeader: boolean, user: string) => {
    await using s = await served(USUAL, { trustUserHeader });
    const { status, headers, body } = await s.ask(`${PLUGIN}/call/echo.params`, {
      headers: { "X-Kaged-User-Id": user },
    });
    if (status !== 200) return [status, body.code];
    const { operator_id, request_id } = body.result.context;
    assert.equal(request_id, headers.get("x-request-id"));
    return [status, operator_id];
  };
  assert.deepEqual(await asked(false, "ada@example.com"), [200, null]);
  assert.deepEqual(await asked(true, "ada@example.com"), [200, "ada@example.com"]);
  assert.deepEqual(await asked(true, "ada lovelace"), [400, "http.input_invalid"]);
});
