import assert from "node:assert/strict";
import { test } from "node:test";
import { notes } from "../support/gate_doors.ts";
import { hosted } from "../support/hosted.ts";

const RESEARCHER = "primary.subagents.researcher";
const says = (text: string) => () => ({ action: "injectContext", additionalContext: [text] }) as const;

test("K-031 a session lists the tools of its agent with names that chat APIs take, and calls them by either name", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession();
  assert.deepEqual(session.tools().map(({ name, alias, plugin }) => [name, alias, plugin]), [
    ["notes.look", "notes__look", "notes"],
    ["notes.ask", "notes__ask", "notes"],
  ]);
  assert.deepEqual(session.tools(), h.host.tools("primary"));
  for (const name of ["notes.look", "notes__look"]) {
    const { output, context, warnings } = await session.callTool(name, { query: "x" });
    assert.equal((output as { tool: string }).tool, "look");
    assert.deepEqual([context, warnings], [[], []]);
  }
  await assert.rejects(session.callTool("notes__lok", {}), { message: 'Agent "primary" has no tool "notes.lok"' });
});

test("K-015 a session calls tools for a subagent too, and for nobody once it is closed", async () => {
  const { fixtures } = notes();
  const plugins = { notes: { package: "@test/notes" } };
  await using h = await hosted({ yaml: { primary: { subagents: { researcher: { plugins } } } }, fixtures: fixtures! });
  const session = h.host.openSession({ id: "ses_1" });
  const { output } = await session.callTool("notes.ask", {}, { agent: RESEARCHER });
  const { agent_path, session_id } = (output as { params: { _context: Record<string, string> } }).params._context;
  assert.deepEqual([agent_path, session_id], [RESEARCHER, "ses_1"]);
  assert.deepEqual([session.tools().length, session.tools(RESEARCHER).length], [0, 2]);
  await assert.rejects(session.callTool("notes.ask", {}), { code: "tool.unknown" });
  assert.equal(h.host.session("ses_1"), session);
  await session.close();
  await assert.rejects(session.callTool("notes.ask", {}, { agent: RESEARCHER }), { code: "session.unknown" });
  await assert.rejects(session.compact({ messages: [], trigger: "manual" }), { code: "session.unknown" });
  assert.throws(() => h.host.session("ses_1"), { code: "session.unknown" });
});

test("N-001 text of handlers reaches the caller once: in the outcome, at onContext, or when the session is asked for it", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession({ id: "ses_1" });
  const at = { agent: "primary", session: "ses_1" };
  h.host.hooks.register("PreToolUse", says("hint"));
  const heard: string[] = [];
  const onContext = (texts: readonly string[]) => void heard.push(...texts);
  assert.deepEqual((await session.callTool("notes.ask", {})).context, ["hint"]);
  await h.host.callTool("notes.ask", {}, { ...at, onContext });
  assert.deepEqual([session.takeContext(), heard], [[], ["hint"]]);
  await h.host.callTool("notes.ask", {}, at);
  await h.host.callMethod("notes", "notes.ask", {}, at);
  assert.deepEqual(session.takeContext(), ["hint", "hint"]);
  h.host.hooks.register("PreToolUse", () => ({ action: "block", reason: "no" }));
  await assert.rejects(session.callTool("notes.ask", {}));
  await assert.rejects(session.callTool("notes.ask", {}, { onContext }));
  assert.deepEqual([session.takeContext(), heard], [["hint"], ["hint", "hint"]]);
  assert.deepEqual(session.takeContext(), []);
});

test("a session keeps no more than 128 KiB of text that nobody takes, the newest", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession({ id: "ses_1" });
  let count = 0;
  h.host.hooks.register("PreToolUse", () => says(`${++count} ${"x".repeat(60 * 1024)}`)());
  for (let call = 0; call < 5; call++) {
    await h.host.callTool("notes.ask", {}, { agent: "primary", session: "ses_1" });
  }
  assert.deepEqual(session.takeContext().map((text) => text[0]), ["4", "5"]);
});

test("a call hears the progress that its plugin reports, in a session and in a run", async () => {
  const index = `
    import { identity, reply, send, serve } from "./wire.js";
    serve({
      "initialize": ({ id }) => reply(id, { ...identity, features: ["progress"] }),
      "notes.ask": ({ id }) => {
        send({ method: "system.progress", params: { id, progress: 1, total: 2 } });
        reply(id, "done");
      },
    });`;
  const { primary, fixtures } = notes();
  const plugin = { ...fixtures!["@test/notes"] as { fixture: string }, files: { "index.js": index } };
  await using h = await hosted({ primary: primary!, fixtures: { "@test/notes": plugin } });
  const heard: unknown[] = [];
  const onProgress = (progress: unknown) => void heard.push(progress);
  assert.equal((await h.host.openSession().callTool("notes.ask", {}, { onProgress })).output, "done");
  h.host.agent("primary", async ({ tools }) => String(await tools.call("notes__ask", {}, { onProgress })));
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "" });
  const { result, toolsUsed } = await h.host.jobs.finished(id);
  assert.deepEqual([result, toolsUsed], ["done", ["notes.ask"]]);
  assert.deepEqual(heard.map((report) => (report as { progress: number }).progress), [1, 1]);
});

test("session.compact() makes the window of its agent smaller, as host.compact() does", async () => {
  await using h = await hosted();
  const session = h.host.openSession({ id: "ses_1" });
  const messages = Array.from({ length: 8 }, (_, at) => ({ id: `m${at}`, role: "user", content: "x ".repeat(40) }));
  const request = { messages, trigger: "manual", targetTokens: 0 };
  const { messages: left, by } = await session.compact(request);
  assert.deepEqual([by, left.length], ["drop", 4]);
  const same = await h.host.compact({ ...request, agent: "primary", session: "ses_1" });
  assert.deepEqual(same.superseded, ["m0", "m1", "m2", "m3"]);
  await assert.rejects(session.compact({ ...request, agent: "nobody" }), { code: "agent.unknown" });
});

test("N-004 B-004 handlers of PreCompact and PostCompact may modify the window; a plugin of that hook may not", async () => {
  await using h = await hosted(notes({ pre_compact: { action: "modify", modifiedInput: [] } }));
  const session = h.host.openSession({ id: "ses_1" });
  const messages = [{ id: "m0", role: "user", content: `my password is hunter2${"2".repeat(100)}` }];
  h.host.hooks.register("PreCompact", ({ input }) => {
    const window = input as typeof messages;
    return { action: "modify", modifiedInput: window.map((one) => ({ ...one, content: "my password is ***" })) };
  });
  h.host.hooks.register("PostCompact", ({ output }) => {
    const anchor = { role: "user", content: "On branch main" };
    return { action: "modify", modifiedOutput: [...output as unknown[], anchor] };
  });
  const { messages: left, superseded } = await session.compact({ messages, trigger: "manual" });
  assert.deepEqual(left.map(({ content }) => content), ["my password is ***", "On branch main"]);
  assert.deepEqual(superseded, []);
});

test("N-004 B-004 a handler of SessionStart may modify the prompt it is given", async () => {
  await using h = await hosted();
  h.host.hooks.register("SessionStart", ({ input }) => ({ action: "modify", modifiedInput: `${input} Be kind.` }));
  h.host.hooks.register("SessionStart", says("Known"), { priority: 60 });
  const session = h.host.openSession();
  assert.equal((await session.start("You help.")).systemPrompt, "Known\n\nYou help. Be kind.");
  assert.equal((await session.start("You help.")).systemPrompt, "Known\n\nYou help. Be kind.");
  assert.equal((await session.start("You watch.")).systemPrompt, "Known\n\nYou watch.");
});

test("B-003 session.close() returns the block of a Stop handler, and the others have run all the same", async () => {
  await using h = await hosted();
  const cleaned: string[] = [];
  h.host.hooks.register("Stop", function keepWorking() {
    return { action: "block", reason: "Two tests fail" };
  }, { priority: 10 });
  h.host.hooks.register("SessionEnd", ({ sessionId }) => void cleaned.push(sessionId));
  const session = h.host.openSession({ id: "ses_1" });
  await session.start("");
  const ended = await session.close();
  assert.deepEqual(ended, { blocked: { by: "keepWorking", reason: "Two tests fail" } });
  assert.deepEqual(cleaned, ["ses_1"]);
  assert.equal(await session.close(), ended);
  assert.deepEqual(await h.host.openSession().close(), {});
});
