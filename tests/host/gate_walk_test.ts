import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyEvent } from "../../src/events/types.ts";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import type { HookEvent } from "../../src/hooks/engine/types.ts";
import { notes } from "../support/gate_doors.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";
import { recordSpans } from "../support/recorded_spans.ts";

const turn = () => new Promise(setImmediate);
const failing: HostedOptions = {
  primary: { bad: {} },
  fixtures: {
    "@test/bad": {
      fixture: "answers_hooks",
      manifest: { name: "bad", hooks: [] },
      files: {
        "index.js": `import { manifest, refuse, serve } from "./wire.js";
          serve({ [manifest.name + ".ask"]: ({ id }) => refuse(id, -32000, "out of ink") });`,
      },
    },
  },
};

test("N-001 arguments that a handler modified are checked again, and wrong ones never reach the plugin", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession({ id: "ses_1" });
  h.host.hooks.register("PreToolUse", function meddler() {
    return { action: "modify", modifiedInput: { query: 7 }, additionalContext: ["Mind the gap"] };
  });
  await assert.rejects(session.callTool("notes.look", { query: "x" }), {
    code: "tool.arguments_invalid",
    message: 'Cannot call "notes.look": query: Expected string, got number, as meddler changed the arguments',
  });
  assert.equal(h.all("plugin.method_called").length, 0);
  assert.deepEqual(session.takeContext(), ["Mind the gap"]);
});

test("B-002 N-001 handlers of OnError, then of PostToolUse hear of a failure, and the caller gets the tool's own error", async () => {
  await using h = await hosted(failing);
  const session = h.host.openSession({ id: "ses_1" });
  const heard: Partial<HookEvent>[] = [];
  for (const name of ["OnError", "PostToolUse"]) {
    h.host.hooks.register(name, ({ hook, tool, input, output, error }) => {
      heard.push({ hook, tool: tool!, input, output, error: error! });
      return { action: "injectContext", additionalContext: [`after ${hook}`] };
    });
  }
  await assert.rejects(session.callTool("bad.ask", { a: 1 }), { code: "plugin.error", message: /out of ink/ });
  const tool = { name: "bad.ask", success: false, durationMs: 0 };
  const error = { message: "out of ink", code: "plugin.error" };
  assert.deepEqual(heard, [
    { hook: "OnError", tool, input: { a: 1 }, output: undefined, error },
    { hook: "PostToolUse", tool, input: { a: 1 }, output: undefined, error },
  ]);
  assert.deepEqual(session.takeContext(), ["after OnError", "after PostToolUse"]);
});

test("N-004 B-004 an output that a handler gives for a failed call takes the error's place", async () => {
  await using h = await hosted(failing);
  const session = h.host.openSession({ id: "ses_1" });
  const last: unknown[] = [];
  h.host.hooks.register("OnError", () => ({ action: "modify", modifiedOutput: { text: "from the cache" } }));
  h.host.hooks.register("PostToolUse", ({ output }) => void last.push(output));
  assert.deepEqual((await session.callTool("bad.ask", {})).output, { text: "from the cache" });
  assert.deepEqual(last, [{ text: "from the cache" }]);
});

test("B-013 a block at OnError or PostToolUse withholds the output; the other hook is fired all the same", async () => {
  await using h = await hosted(failing);
  const session = h.host.openSession({ id: "ses_1" });
  const heard: string[] = [];
  for (const name of ["OnError", "PostToolUse"]) {
    h.host.hooks.register(name, function loop({ hook }) {
      heard.push(hook);
      return { action: "block", reason: `Enough at ${hook}` };
    });
  }
  await assert.rejects(session.callTool("bad.ask", {}), (error: Error & { data: object }) => {
    assert.deepEqual(error.data, { tool: "bad.ask", hook: "OnError", by: "loop", reason: "Enough at OnError" });
    assert.match((error.cause as Error).message, /out of ink/);
    return true;
  });
  assert.deepEqual(heard, ["OnError", "PostToolUse"]);
});

test("N-001 B-019 a handler that hangs costs its own time: the call goes on without it", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession({ id: "ses_1" });
  h.host.hooks.register("PreToolUse", () => new Promise(() => {}), { timeoutMs: 700 });
  const called = session.callTool("notes.ask", { text: "hi" });
  await h.pass(0); // Its time begins when the program rests.
  await h.pass(700);
  const { warnings } = await called;
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /^Hook failed: /);
});

test("N-001 a caller who aborts waits for no handler, before and after the call; handlers still hear of it", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession({ id: "ses_1" });
  const heard: string[] = [];
  const remove = h.host.hooks.register("PreToolUse", () => new Promise(() => {}), { timeoutMs: 600_000 });
  const before = new AbortController();
  const waiting = session.callTool("notes.ask", {}, { signal: before.signal });
  await turn();
  before.abort();
  await assert.rejects(waiting, { code: "protocol.cancelled" });
  assert.equal(h.all("plugin.method_called").length, 0);
  remove();
  const after = new AbortController();
  h.host.hooks.register("PostToolUse", () => {
    after.abort();
    return new Promise(() => {});
  }, { timeoutMs: 600_000 });
  await assert.rejects(session.callTool("notes.ask", {}, { signal: after.signal }), { code: "protocol.cancelled" });
  h.host.hooks.register("OnError", ({ error }) => void heard.push(error!.code!));
  const gone = AbortSignal.abort();
  await assert.rejects(session.callTool("notes.ask", {}, { signal: gone }), { code: "protocol.cancelled" });
  await turn();
  assert.deepEqual(heard, ["protocol.cancelled"]);
});

test("N-002 a loop that also wires agentHooks around the host's own tools fires nothing twice", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession({ id: "ses_1" });
  const heard: string[] = [];
  for (const name of ["PreToolUse", "PostToolUse", "OnError"]) {
    h.host.hooks.register(name, ({ hook, tool }) => void heard.push(`${hook} ${tool?.name}`));
  }
  const hooks = agentHooks(h.host.hooks, { session: "ses_1" });
  for (const name of ["notes.ask", "notes__ask"]) {
    const { input, blocked } = await hooks.beforeTool(name, { text: "hi" });
    const { output } = await session.callTool(name, input as Record<string, unknown>);
    assert.equal((await hooks.afterTool({ name, input, output })).output, output);
    assert.equal(blocked, false);
    await hooks.afterTool({ name, input, error: { message: "no" } });
  }
  assert.deepEqual(heard, [
    "PreToolUse notes.ask",
    "PostToolUse notes.ask",
    "PreToolUse notes.ask",
    "PostToolUse notes.ask",
  ]);
  await hooks.beforeTool("shell", {});
  assert.equal(heard.at(-1), "PreToolUse shell");
});

test("N-001 B-010 a tool that a handler of PreToolUse calls is refused: nobody could judge the call", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession({ id: "ses_1" });
  const codes: string[] = [];
  let later = Promise.resolve();
  h.host.hooks.register("PreToolUse", async ({ input }) => {
    if ((input as { inner?: boolean }).inner) return;
    const inner = () => session.callTool("notes.ask", { inner: true }).then(() => "passed", ({ code }) => code);
    codes.push(await inner());
    later = turn().then(turn).then(inner).then((code) => void codes.push(code));
  });
  await session.callTool("notes.ask", { text: "hi" });
  await later;
  // What a handler leaves behind is no part of the firing any more.
  assert.deepEqual(codes, ["tool.blocked", "passed"]);
});

test("T-005 B-018 events and spans show a call as hooks left it, and a block with its code", async () => {
  using recorded = recordSpans();
  await using h = await hosted({
    ...notes({ pre_tool_use: { action: "modify", modifiedInput: { text: "safer" } } }),
    tracing: true,
    events: { level: "trace" },
  });
  const heard: Extract<AnyEvent, { type: "tool:execute" }>[] = [];
  h.host.on("tool:execute", (event) => void heard.push(event as typeof heard[number]));
  const session = h.host.openSession({ id: "ses_1" });
  h.host.hooks.register("PostToolUse", () => ({ action: "modify", modifiedOutput: "redacted" }));
  await session.callTool("notes.ask", { text: "secret" });
  h.host.hooks.register("PreToolUse", () => ({ action: "block", reason: "no" }));
  await assert.rejects(session.callTool("notes.ask", { text: "hi" }), { code: "tool.blocked", rpc: -32001, http: 403 });
  await turn();
  assert.deepEqual(heard.map(({ toolName, input, output }) => [toolName, input, output]), [
    ["notes.ask", { text: "safer" }, "redacted"],
    ["notes.ask", { text: "hi" }, {
      error: { code: "tool.blocked", message: 'The call of "notes.ask" was blocked by anonymous: no' },
    }],
  ]);
  assert.deepEqual(recorded.shape.slice(0, 2), ["tool notes.ask > hook pre_tool_use", "tool notes.ask"]);
  assert.equal(recorded.spans.at(-1)?.status.message, "tool.blocked");
  const fired = h.all("plugin.hook.fired")[0]?.request_id;
  assert.equal(h.all("plugin.method_called")[0]?.request_id, fired);
});
