import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval } from "../../src/core/approvals/types.ts";
import type { HostOptions } from "../../src/host/types.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { until } from "../support/until.ts";

const at = { agent: "primary", session: "ses_1" };
const ALL = ["elicitation", "sampling", "roots"] as const;

/** A host with a server that asks its client for things, and an open session. */
async function asking(
  mcp: NonNullable<HostOptions["mcp"]> = { offers: ALL },
  more: Pick<HostOptions, "onAsk"> = {},
  config = "",
) {
  const fixtures = { "@test/library": "mcp_library" };
  const h = await hosted({ primary: { library: {} }, fixtures, mcp, config, ...more });
  h.host.openSession({ id: "ses_1" });
  return h;
}

/** Calls a tool, and returns what the server was answered. */
async function call({ host }: Hosted, tool: string, session = "ses_1"): Promise<Record<string, unknown>> {
  const { content: [block] } = await host.callTool(`mcp-library.${tool}`, {}, { agent: "primary", session }) as {
    content: { text: string }[];
  };
  return JSON.parse(block!.text);
}

const waiting = ({ host }: Hosted): Promise<Approval> =>
  until(async () => (await host.approvals.list()).items[0], "a request at the desk") as Promise<Approval>;

const outcomes = (h: Hosted) =>
  h.all("plugin.mcp_request").map(({ data: { method, outcome, reason } }) => `${method} ${outcome} ${reason}`);

test("N-030 nothing is offered to a server unless the embedder says so, and it can ask for nothing then", async () => {
  await using h = await asking({});
  assert.deepEqual(await call(h, "client"), {});
  for (const tool of ["elicit", "sample", "roots"]) {
    const { error } = await call(h, tool) as { error: { code: number } };
    assert.equal(error.code, -32601);
  }
  assert.deepEqual((await h.host.approvals.list()).items, []);
});

test("N-030 a form of a server waits at the desk, readable, and the server gets what the person filled in", async () => {
  await using h = await asking();
  const answer = call(h, "elicit");
  const { id, tool, plugin, source, agentPath, sessionId, reason, arguments: form } = await waiting(h);
  assert.deepEqual({ tool, plugin, source, agentPath, sessionId, reason }, {
    tool: "elicit",
    plugin: "mcp-library",
    source: { kind: "elicitation", id: "mcp-library" },
    agentPath: "primary",
    sessionId: "ses_1",
    reason: "mcp-library asks for what the form says",
  });
  assert.deepEqual(Object.keys(form), ["message", "requestedSchema"]);
  const content = { email: "ann@example.org", copies: 2, color: "red", loud: false };
  const done = await h.host.approvals.answer(id, { decision: "allow", content }, { by: "test" });
  assert.deepEqual(await answer, { action: "accept", content });
  assert.deepEqual(done.end?.answer, { decision: "allow", scope: "once", content });
  assert.deepEqual((await h.host.approvals.get(id)).end?.answer?.content, content);
  const { data } = h.all("plugin.mcp_request")[0]!;
  assert.deepEqual({ ...data, bytes: 0 }, {
    method: "elicitation/create",
    outcome: "answered",
    reason: null,
    agent_path: "primary",
    session_id: "ses_1",
    bytes: 0,
    duration_ms: 0,
  });
  assert.doesNotMatch(JSON.stringify(h.events), /ann@example\.org/);
});

test("N-030 content that does not fit the form is refused with the field, and the form goes on waiting", async () => {
  await using h = await asking();
  const answer = call(h, "elicit");
  const { id } = await waiting(h);
  const email = "ann@example.org";
  const wrong: [object, RegExp][] = [
    [{ content: {} }, /email: It is required/],
    [{}, /email: It is required/],
    [{ content: { email: "ann" } }, /email: It is no e-mail address/],
    [{ content: { email, copies: 0 } }, /copies: It is less than 1/],
    [{ content: { email, copies: 1.5 } }, /copies: It is no whole number/],
    [{ content: { email, color: "green" } }, /color: It is none of: red, blue/],
    [{ content: { email, loud: "yes" } }, /loud: It is neither true nor false/],
    [{ content: { email, more: 1 } }, /The form has no field "more"/],
    [{ content: { email }, scope: "always" }, /A form is filled in once/],
    [{ arguments: { message: "Other" } }, /A form is filled in, not edited/],
    [{ content: [] }, /content is no object/],
  ];
  for (const [given, message] of wrong) {
    const refused = h.host.approvals.answer(id, { decision: "allow", ...given });
    await assert.rejects(refused, { code: "approval.answer_invalid", message });
  }
  await assert.rejects(h.host.approvals.answer(id, { decision: "deny", content: { email } }), {
    code: "approval.answer_invalid",
  });
  await h.host.approvals.answer(id, { decision: "deny", reason: "No" });
  assert.deepEqual(await answer, { action: "decline" });
  assert.deepEqual(outcomes(h), ["elicitation/create declined null"]);
});

test("N-030 a form that nobody answers, and one whose session is closed, is cancelled", async () => {
  await using h = await asking({ offers: ALL }, {}, "[approvals]\nwait_sec = 5\n");
  const answer = call(h, "elicit");
  await waiting(h);
  await h.pass(5_000);
  assert.deepEqual(await answer, { action: "cancel" });
  const left = call(h, "elicit").catch(({ code }) => ({ code }));
  await waiting(h);
  await h.host.session("ses_1").close();
  assert.deepEqual(await left, { action: "cancel" });
  assert.deepEqual(outcomes(h), ["elicitation/create cancelled null", "elicitation/create cancelled null"]);
  assert.deepEqual((await h.host.approvals.list({ state: "all" })).items.map(({ state }) => state), [
    "withdrawn",
    "expired",
  ]);
});

test("N-030 a call of a tool does not run out of time while the server waits for a person", async () => {
  await using h = await asking();
  const answer = call(h, "elicit");
  const { id } = await waiting(h);
  await h.pass(30_000);
  await h.host.approvals.answer(id, { decision: "allow", content: { email: "ann@example.org" } });
  assert.equal((await answer)["action"], "accept");
  const held = h.host.callTool("mcp-library.hold", {}, at).catch(({ code }) => code);
  await until(() => h.all("plugin.method_called").length === 2, "the second call");
  await h.pass(30_000);
  assert.equal(await held, "protocol.timeout");
});

test("N-030 an address to open is shown as it is, opened by nobody here, and takes no content", async () => {
  await using h = await asking();
  const answer = call(h, "elicit_url");
  const { id, arguments: form } = await waiting(h);
  assert.deepEqual(form, {
    mode: "url",
    message: "Sign in",
    url: "https://login.example/start?a=1",
    elicitationId: "e1",
  });
  await assert.rejects(h.host.approvals.answer(id, { decision: "allow", content: {} }), {
    code: "approval.answer_invalid",
  });
  await h.host.approvals.answer(id, { decision: "allow" });
  assert.deepEqual(await answer, { action: "accept" });
});

test("N-030 a form of nested fields, and a request of no call, are refused, and the audit says why", async () => {
  await using h = await asking();
  const { error } = await call(h, "elicit_nested") as { error: { message: string } };
  assert.match(error.message, /none of flat fields/);
  await h.host.mcp.setLogLevel("alert", at);
  await until(() => outcomes(h).length === 2, "the second request");
  assert.deepEqual(outcomes(h), [
    "elicitation/create failed Its form is none of flat fields",
    "elicitation/create refused The request was refused: It belongs to no call, or to calls of several sessions",
  ]);
  assert.deepEqual((await h.host.approvals.list({ state: "all" })).items, []);
});

test("N-030 the client's side of a session answers before the host's own, and neither before a check of the form", async () => {
  const seen: unknown[] = [];
  const client = {
    elicit: () => Promise.resolve({ action: "decline" }),
    roots: () => Promise.resolve({ roots: [{ uri: "file:///host" }] }),
  };
  await using h = await asking({ offers: ALL, client });
  assert.deepEqual(await call(h, "elicit"), { action: "decline" });
  assert.deepEqual(await call(h, "roots"), { roots: [{ uri: "file:///host" }] });
  const content: Record<string, unknown> = { email: "bo@example.org" };
  const stop = h.host.mcp.offer("ses_1", {
    elicit(params, { plugin }) {
      seen.push([params["message"], plugin]);
      return Promise.resolve({ action: "accept", content });
    },
  });
  assert.deepEqual(await call(h, "elicit"), { action: "accept", content });
  assert.deepEqual(seen, [["Where to?", "mcp-library"]]);
  content["email"] = 7;
  const { error } = await call(h, "elicit") as { error: { message: string } };
  assert.match(error.message, /email: It is no text/);
  stop();
  assert.deepEqual(await call(h, "elicit"), { action: "decline" });
  assert.throws(() => h.host.mcp.offer("none", {}), { code: "session.unknown" });
});

test("N-030 roots are those of the client's side, and none without it", async () => {
  await using h = await asking();
  assert.deepEqual(await call(h, "roots"), { roots: [] });
});

test("N-030 a request for the model waits for a person by default, and the model is then asked what the person allowed", async () => {
  const sampled: Readonly<Record<string, unknown>>[] = [];
  await using h = await asking();
  const refused = await call(h, "sample") as { error: { message: string } };
  assert.match(refused.error.message, /Nobody here asks a model/);
  h.host.mcp.offer("ses_1", {
    sample(params) {
      sampled.push(params);
      return Promise.resolve({ role: "assistant", model: "m", content: { type: "text", text: "Short" } });
    },
  });
  const first = call(h, "sample");
  const { id, tool, source, arguments: asked } = await waiting(h);
  assert.deepEqual([tool, source.kind, asked["maxTokens"]], ["sample", "sampling", 20]);
  assert.deepEqual(sampled, []);
  await h.host.approvals.answer(id, { decision: "allow", arguments: { ...asked, maxTokens: 5 } });
  assert.equal((await first as { model: string }).model, "m");
  assert.equal(sampled[0]?.["maxTokens"], 5);
  const second = call(h, "sample");
  await h.host.approvals.answer((await waiting(h)).id, { decision: "deny", scope: "session", reason: "Not now" });
  assert.match((await second as { error: { message: string } }).error.message, /Not now/);
  assert.match((await call(h, "sample") as { error: { message: string } }).error.message, /Not now/);
  assert.equal(sampled.length, 1);
});

test("N-030 [approvals] sampling allows or denies without asking", async () => {
  const client = { sample: () => Promise.resolve({ role: "assistant", model: "m", content: [] }) };
  for (const decision of ["allow", "deny"] as const) {
    await using h = await asking({ offers: ALL, client }, {}, `[approvals]\nsampling = "${decision}"\n`);
    const answer = await call(h, "sample") as { model?: string; error?: { message: string } };
    assert.equal(answer.model, decision === "allow" ? "m" : undefined);
    if (decision === "deny") assert.match(answer.error!.message, /sampling of the operator says "deny"/);
    assert.deepEqual((await h.host.approvals.list({ state: "all" })).items, []);
  }
});

test("N-030 onAsk of the embedder hears forms and requests for the model, and answers them", async () => {
  const heard: string[] = [];
  const client = { sample: () => Promise.resolve({ role: "assistant", model: "m", content: [] }) };
  await using h = await asking({ offers: ALL, client }, {
    onAsk({ tool }) {
      heard.push(tool);
      return { decision: "allow", ...(tool === "elicit" && { content: { email: "a@b" } }) };
    },
  });
  assert.deepEqual(await call(h, "elicit"), { action: "accept", content: { email: "a@b" } });
  assert.equal((await call(h, "sample") as { model: string }).model, "m");
  assert.deepEqual(heard, ["elicit", "sample"]);
});

test("N-030 a server has a few requests open at a time, and no more", async () => {
  await using h = await asking();
  const calls = Array.from({ length: 14 }, () => call(h, "elicit"));
  await until(() => outcomes(h).length === 2, "two refusals");
  assert.match(outcomes(h)[0]!, /refused .*has 12 requests open already/);
  await until(async () => (await h.host.approvals.list()).items.length === 12, "twelve forms");
  const { items } = await h.host.approvals.list();
  for (const { id } of items) await h.host.approvals.answer(id, { decision: "deny" });
  const answers = await Promise.all(calls);
  assert.equal(answers.filter(({ action }) => action === "decline").length, 12);
});
