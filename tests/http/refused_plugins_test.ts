import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answers } from "../../src/http/answers.ts";
import { failed, served } from "../support/served.ts";
import { FAULTS, FAULTY } from "../support/refused_plugins.ts";

type Rows = Answers["GET /api/v1/plugins"]["plugins"];
const bySecond = (a: readonly unknown[], b: readonly unknown[]): number => String(a[1]) < String(b[1]) ? -1 : 1;

test("GET /api/v1/plugins and /api/v1/agents list refused plugins with their reason", async () => {
  await using s = await served(FAULTY);
  const { plugins } = (await s.ask("/api/v1/plugins")).body as { plugins: Rows };
  const rows = plugins.map(({ key, plugin, state, error }) => [key, plugin, state, error?.code ?? null]);
  assert.deepEqual(rows.toSorted(bySecond), FAULTS.toSorted(bySecond));
  const { body } = await s.ask("/api/v1/agents");
  const [primary] = (body as Answers["GET /api/v1/agents"]).agents;
  assert.deepEqual(
    primary!.plugins.map(({ key, plugin, state, error }) => [key, plugin, state, error?.code ?? null]),
    FAULTS,
  );
});

test("GET /api/v1/agents shows no config of the plugin that runs for its refused twin", async () => {
  await using s = await served({
    primary: { first: { config: { answers: {} } }, second: {} },
    fixtures: { "@test/first": "answers_hooks", "@test/second": "answers_hooks" },
  });
  const { body } = await s.ask("/api/v1/agents/primary");
  const { plugins } = body as Answers["GET /api/v1/agents/{agent}"];
  assert.deepEqual(plugins.map(({ key, state, config }) => [key, state, config]), [
    ["first", "running", { answers: {} }],
    ["second", "refused", {}],
  ]);
});

test("GET /api/v1/plugins/{name} answers for a refused plugin, as far as its manifest can be read", async () => {
  await using s = await served(FAULTY);
  const config = (await s.ask("/api/v1/plugins/bad-config")).body;
  assert.deepEqual([config.version, config.tools[0].name, config.instances[0].state], ["1.0.0", "look", "refused"]);
  const unread = (await s.ask("/api/v1/plugins/unread")).body;
  assert.deepEqual([unread.version, unread.description, unread.dir, unread.tools], [null, null, null, []]);
  assert.match(unread.instances[0].error.message, /API version: 7/);
  for (const part of ["storage", "logs", "knobs", "schemas"]) {
    assert.equal((await s.ask(`/api/v1/plugins/unread/${part}`)).status, 200, part);
  }
});

test("a call of a refused plugin over HTTP answers with the reason and the next step", async () => {
  await using s = await served(FAULTY);
  const post = { method: "POST", json: {} };
  for (const path of ["plugins/no-secret/call/no-secret.look", "agents/primary/tools/no-secret.look"]) {
    const answer = await s.ask(`/api/v1/${path}`, post);
    assert.deepEqual(failed(answer), [502, "plugin.refused"], path);
    assert.match(answer.body.detail, /local\.toml: .*api_token: Field "api_token" is missing/);
    assert.match(answer.body.hint, /^Run: kaged secret set @test\/no-secret api_token$/);
  }
  const knob = { method: "PUT", json: { value: 1 } };
  assert.deepEqual(failed(await s.ask("/api/v1/plugins/no-secret/knobs/depth", knob)), [502, "plugin.refused"]);
  for (const order of ["enable", "reload", "restart"]) {
    const answer = await s.ask(`/api/v1/plugins/no-secret/${order}`, { method: "POST" });
    assert.deepEqual(failed(answer), [502, "plugin.refused"], order);
  }
});

test("GET /metrics counts refused plugins and has a series for each", async () => {
  await using s = await served({ ...FAULTY, start: false });
  await s.h.host.start();
  const { body } = await s.ask("/metrics");
  const refused = String(body).match(/^kaged_plugin_state\{.*state="refused"\} 1$/gm);
  assert.equal(refused?.length, FAULTS.filter(([, , state]) => state === "refused").length);
  assert.match(body, /^kaged_plugin_problems_total\{plugin="no-secret",type="plugin.refused"\} 1$/m);
});
