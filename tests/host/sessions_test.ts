import assert from "node:assert/strict";
import { test } from "node:test";
import { hosted } from "../support/hosted.ts";

const PROMPT = "You are an agent.";
/** Short, so that no ping falls due while the clock is moved. */
const idleWindowMs = 1_000;
const hooksOnly = (hook: string) => ({ fixture: "answers_hooks", manifest: { hooks: [hook] } });
const told = async (h: Awaited<ReturnType<typeof hosted>>, plugin = "answers-hooks") =>
  (await h.host.callMethod(plugin, "fixture.call") as {
    calls: { method: string; params: unknown; context: unknown }[];
  })
    .calls;

test("K-019 on_session_start puts what plugins return before the prompt, in the order they are declared", async () => {
  await using h = await hosted({
    operatorId: "operator",
    primary: {
      second: { config: { answers: { on_session_start: { inject: "Uses bun" } } } },
      first: { config: { answers: { on_session_start: "Prefers tabs" } } },
      quiet: { config: { answers: { on_session_start: { inject: "" } } } },
    },
    fixtures: {
      "@test/first": { fixture: "answers_hooks", manifest: { name: "first" } },
      "@test/second": { fixture: "answers_hooks", manifest: { name: "second" } },
      "@test/quiet": { fixture: "answers_hooks", manifest: { name: "quiet" } },
    },
  });
  const session = h.host.openSession({ id: "ses_1" });
  const { systemPrompt, injected } = await session.start(PROMPT);
  assert.equal(
    systemPrompt,
    "<plugin:second>\nUses bun\n</plugin:second>\n\n<plugin:first>\nPrefers tabs\n</plugin:first>\n\nYou are an agent.",
  );
  assert.deepEqual(injected.map(({ plugin, hook, bytes, cut }) => [plugin, hook, bytes, cut]), [
    ["second", "on_session_start", 8, false],
    ["first", "on_session_start", 12, false],
  ]);
  assert.deepEqual(await told(h, "first"), [{
    method: "kaged.hook.on_session_start",
    params: {},
    context: { operator_id: "operator", project_id: "music", agent_path: "primary", session_id: "ses_1" },
  }]);
  const [second] = h.all("plugin.hook.injected");
  assert.deepEqual([second?.name, second?.data.bytes, second?.data.cut], ["second", 8, false]);
});

test("K-019 on_session_start fires once for each session; a later start gets the same text", async () => {
  await using h = await hosted({
    primary: { memory: { config: { answers: { on_session_start: "Known" } } } },
    fixtures: { "@test/memory": "answers_hooks" },
  });
  const session = h.host.openSession();
  const [one, two] = await Promise.all([session.start("A"), session.start("B")]);
  assert.equal(one.systemPrompt, "<plugin:answers-hooks>\nKnown\n</plugin:answers-hooks>\n\nA");
  assert.equal(two.systemPrompt, "<plugin:answers-hooks>\nKnown\n</plugin:answers-hooks>\n\nB");
  assert.equal((await told(h)).length, 1);
  await h.host.openSession().start("C");
  assert.equal((await told(h)).length, 2);
});

test("a session without plugins leaves the prompt as it is", async () => {
  await using h = await hosted();
  assert.deepEqual(await h.host.openSession().start(PROMPT), { systemPrompt: PROMPT, injected: [] });
});

test("K-020 a session that rests for its window fires on_session_idle with what was said since", async () => {
  await using h = await hosted({
    idleWindowMs,
    primary: { memory: {} },
    fixtures: { "@test/memory": hooksOnly("on_session_idle") },
  });
  const session = h.host.openSession({ id: "ses_1" });
  await session.start(PROMPT);
  session.record({ id: "m1", role: "user", content: "Hello", always_keep: true });
  h.clock.advance(999);
  session.record({ role: "assistant", content: [{ type: "text", text: "Hi" }] });
  h.clock.advance(999);
  assert.equal(h.all("plugin.hook.fired").length, 0);
  h.clock.advance(1);
  await h.next("plugin.hook.returned");
  session.record({ role: "user", content: "More" });
  h.clock.advance(1_000);
  await h.next("plugin.hook.returned");
  h.clock.advance(1_000);
  assert.deepEqual((await told(h)).map(({ method, params }) => ({ method, params })), [
    {
      method: "kaged.hook.on_session_idle",
      params: {
        transcript: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: [{ type: "text", text: "Hi" }] },
        ],
      },
    },
    { method: "kaged.hook.on_session_idle", params: { transcript: [{ role: "user", content: "More" }] } },
  ]);
});

test("K-020 the idle window is five minutes unless the embedder chooses another", async () => {
  await using h = await hosted();
  h.host.openSession().record({ role: "user", content: "Hello" });
  assert.ok(h.clock.isDueIn(300_000));
  assert.equal(h.clock.waiting, 1);
});

test("K-020 work on a session's behalf winds its idle clock", async () => {
  await using h = await hosted({
    idleWindowMs,
    primary: { memory: {} },
    fixtures: { "@test/memory": "answers_hooks" },
  });
  const session = h.host.openSession({ id: "ses_1" });
  session.record({ role: "user", content: "Hello" });
  h.clock.advance(900);
  await h.host.callTool("answers-hooks.look", { query: "x" }, { agent: "primary", session: "ses_1" });
  h.clock.advance(900);
  assert.equal(h.all("plugin.hook.fired").length, 0);
  h.clock.advance(100);
  await h.next("plugin.hook.returned");
});

test("K-020 idle() fires at once and closing drops the timer", async () => {
  await using h = await hosted({
    idleWindowMs,
    primary: { memory: {} },
    fixtures: { "@test/memory": hooksOnly("on_session_idle") },
  });
  const session = h.host.openSession({ id: "ses_1" });
  session.record({ role: "user", content: "Hello" });
  await session.idle();
  assert.equal((await told(h)).length, 1);
  session.record({ role: "user", content: "More" });
  await session.close();
  h.clock.advance(1_000);
  assert.equal(h.all("plugin.hook.fired").length, 1);
});

test("K-020 timers are dropped when the host stops; the next activity after a start winds them again", async () => {
  await using h = await hosted({
    idleWindowMs,
    primary: { memory: {} },
    fixtures: { "@test/memory": hooksOnly("on_session_idle") },
  });
  const session = h.host.openSession({ id: "ses_1" });
  session.record({ role: "user", content: "Hello" });
  await h.host.stop();
  h.clock.advance(1_000);
  session.record({ role: "user", content: "While it is down" });
  h.clock.advance(1_000);
  assert.equal(h.all("plugin.hook.fired").length, 0);
  assert.deepEqual((await h.host.start()).failed, []);
  h.clock.advance(1_000);
  assert.equal(h.all("plugin.hook.fired").length, 0);
  session.record({ role: "user", content: "Back" });
  h.clock.advance(1_000);
  await h.next("plugin.hook.returned");
  const { params } = (await told(h))[0] as { params: { transcript: unknown[] } };
  assert.equal(params.transcript.length, 3);
});

test("X-10 a session does not wait for its idle hook, closing does", async () => {
  await using h = await hosted({ idleWindowMs, primary: { slow: {} }, fixtures: { "@test/slow": "slow_hook" } });
  const session = h.host.openSession({ id: "ses_1" });
  session.record({ role: "user", content: "Hello" });
  h.clock.advance(1_000);
  await h.logged(1);
  session.record({ role: "user", content: "Still here" });
  let isClosed = false;
  const closed = session.close().then(() => isClosed = true);
  assert.deepEqual(await h.host.callMethod("slow-hook", "fixture.call"), { held: 1 });
  assert.equal(isClosed, false);
  await h.host.callMethod("slow-hook", "fixture.release");
  await closed;
  assert.equal(h.all("plugin.hook.returned").length, 1);
});

test("an idle transcript keeps the newest messages that fit on a line and says so", async () => {
  const index = `
    import { reply, serve } from "./wire.js";
    let heard = [];
    serve({
      "kaged.hook.on_session_idle": ({ id, params: { transcript, truncated } }) => {
        heard.push({ numbers: transcript.map(({ content }) => content[0]), truncated });
        reply(id, null);
      },
      "fixture.call": ({ id }) => reply(id, heard),
    });`;
  await using h = await hosted({
    primary: { memory: {} },
    fixtures: { "@test/memory": { ...hooksOnly("on_session_idle"), files: { "index.js": index } } },
  });
  const session = h.host.openSession({ id: "ses_1" });
  const page = "ä".repeat(512 * 1024);
  for (let number = 0; number < 9; number++) session.record({ role: "user", content: `${number}${page}` });
  await session.idle();
  session.record({ role: "user", content: "9" });
  await session.idle();
  assert.deepEqual(await h.host.callMethod("answers-hooks", "fixture.call"), [
    { numbers: ["6", "7", "8"], truncated: true },
    { numbers: ["9"] },
  ]);
});

test("a session id is open once, and unknown once it is closed", async () => {
  await using h = await hosted({ start: false });
  const session = h.host.openSession({ id: "ses_1" });
  assert.throws(() => h.host.openSession({ id: "ses_1" }), { code: "session.duplicate", http: 409 });
  await session.close();
  await session.close();
  assert.throws(() => session.record({ role: "user", content: "x" }), { code: "session.unknown", http: 404 });
  await assert.rejects(session.start(""), { code: "session.unknown" });
  await assert.rejects(session.idle(), { code: "session.unknown" });
  assert.equal(h.host.openSession({ id: "ses_1" }).id, "ses_1");
  assert.match(h.host.openSession().id, /^ses_/);
});

test("a message that is none, or is no JSON, is the caller's mistake", async () => {
  await using h = await hosted({ start: false });
  const session = h.host.openSession();
  assert.throws(() => session.record({ content: "x" } as never), { code: "host.misuse" });
  assert.throws(() => session.record({ role: "user", content: [{ big: 1n }] }), { code: "host.misuse" });
});
