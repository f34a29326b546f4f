import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { portableHook } from "../../../src/hooks/engine/names.ts";
import type { HookEvent, HookResponse } from "../../../src/hooks/engine/types.ts";
import { from, stage } from "./stage.ts";

const inject = (...additionalContext: string[]): HookResponse => ({ action: "injectContext", additionalContext });
const block = (reason: string): HookResponse => ({ action: "block", reason });
const code = (code: string, message: RegExp) => (error: Error & { code?: string }): boolean => {
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};
/** Handlers that were given up go on: nobody waits for them. */
const never = (): Promise<null> => new Promise(() => {});
const turn = (): Promise<unknown> => new Promise(setImmediate);

test("B-001 eleven hooks are optional: firing one that nobody takes changes nothing", async () => {
  const s = stage();
  const names = "SessionStart SessionEnd UserPromptSubmitted PreToolUse PostToolUse SubagentStart SubagentStop " +
    "PreCompact PostCompact OnError OnBudgetExceeded";
  for (const hook of names.split(" ")) {
    const input = { hook };
    assert.deepEqual(await s.fire(hook, { input }), {
      hook,
      blocked: false,
      blockedBy: null,
      reason: null,
      asked: [],
      input,
      output: undefined,
      context: [],
      warnings: [],
      trace: [],
    });
  }
});

test("B-003 handlers are registered, and events fired, by any name of a hook", async () => {
  const s = stage();
  const heard: string[] = [];
  for (const name of ["Stop", "session_end", "sessionEnd", "SessionEnd"]) {
    s.engine.register(name, ({ hook }) => void heard.push(`${name} hears ${hook}`));
  }
  await s.fire("Stop");
  assert.deepEqual(
    heard,
    ["Stop", "session_end", "sessionEnd", "SessionEnd"].map((name) => `${name} hears SessionEnd`),
  );
  const native = { UserPromptSubmit: "UserPromptSubmitted", preToolUse: "PreToolUse", postToolUse: "PostToolUse" };
  for (const [name, hook] of Object.entries({ ...native, errorOccurred: "OnError", on_error: "OnError" })) {
    assert.equal(portableHook(name), hook);
  }
});

test("a hook nobody knows is refused, with the nearest one that is", () => {
  const s = stage();
  const refused = (error: Error & { hint?: string }) =>
    code("hook.unknown", /"PreToolUsed"/)(error) && error.hint === 'Did you mean "PreToolUse"?';
  assert.throws(() => s.engine.register("PreToolUsed", () => null), refused);
  assert.throws(() => s.engine.fire({ hook: "PreToolUsed", sessionId: "s", agent: "a" }), refused);
  assert.throws(() => s.engine.list("PreToolUsed"), refused);
});

test("B-004 pass-through, and no answer, change nothing", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => null, from("null"));
  s.engine.register("PreToolUse", () => {}, from("nothing"));
  s.engine.register("PreToolUse", () => ({ action: "passThrough", additionalContext: [], warnings: [] }), from("pass"));
  const { blocked, context, warnings, input } = await s.fire("PreToolUse", { input: { a: 1 } });
  assert.deepEqual([blocked, context, warnings, input], [false, [], [], { a: 1 }]);
  assert.deepEqual(s.outcomes(), ["null: quiet", "nothing: quiet", "pass: quiet"]);
});

test("B-004 B-011 injected context accumulates in order, unless a later handler overwrites it", async () => {
  const s = stage();
  s.engine.register("SessionStart", () => inject("b"), { priority: 20 });
  s.engine.register("SessionStart", async () => await Promise.resolve(inject("c", "d")), { priority: 30 });
  s.engine.register("SessionStart", () => inject("a"), { priority: 10 });
  assert.deepEqual((await s.fire("SessionStart")).context, ["a", "b", "c", "d"]);
  s.engine.register("SessionStart", () => ({ ...inject("e"), overwriteContext: true }), { priority: 40 });
  s.engine.register("SessionStart", () => inject("f"), { priority: 50 });
  assert.deepEqual((await s.fire("SessionStart")).context, ["e", "f"]);
});

test("B-004 B-011 a block ends the chain with its reason, and every later handler is told who blocked", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => inject("hint"), { priority: 10, ...from("hints") });
  s.engine.register("PreToolUse", () => block("No shell here"), { priority: 20, ...from("policy") });
  s.engine.register("PreToolUse", () => assert.fail("it ran"), { priority: 30, ...from("late") });
  const { blocked, blockedBy, reason, context } = await s.fire("PreToolUse");
  assert.deepEqual([blocked, blockedBy, reason, context], [true, "policy", "No shell here", ["hint"]]);
  assert.deepEqual(s.outcomes(), ["hints: ran", "policy: ran", "late: blocked by policy"]);
  assert.deepEqual([s.traces[1]?.action, s.traces[1]?.reason], ["block", "No shell here"]);
});

test("B-011 B-015 telemetry-only handlers run after a block and have no say", async () => {
  const s = stage();
  const seen: unknown[] = [];
  s.engine.register("PreToolUse", () => block("no"), { priority: 10, ...from("policy") });
  s.engine.register("PreToolUse", (_, { soFar }) => {
    seen.push(soFar);
    return block("me too");
  }, { priority: 90, telemetryOnly: true, ...from("telemetry") });
  assert.equal((await s.fire("PreToolUse")).blockedBy, "policy");
  assert.deepEqual(seen, [{ asked: 2, broke: 0, warnings: 0, injections: 0, injectedBytes: 0, blockedBy: "policy" }]);
  assert.deepEqual(s.outcomes(), ["policy: ran", "telemetry: ran"]);
  assert.equal(s.traces[1]?.hadNoSay, true);
});

test("B-004 B-011 B-018 modify feeds the next handler, and each change is traced", async () => {
  const s = stage();
  const add = (word: string) => ({ input }: HookEvent): HookResponse => {
    return { action: "modify", modifiedInput: { text: `${(input as { text: string }).text} ${word}` } };
  };
  s.engine.register("UserPromptSubmitted", add("two"), { priority: 20, ...from("second") });
  s.engine.register("UserPromptSubmitted", add("one"), { priority: 10, ...from("first") });
  const given = { text: "zero" };
  assert.deepEqual((await s.fire("UserPromptSubmitted", { input: given })).input, { text: "zero one two" });
  assert.deepEqual(given, { text: "zero" });
  assert.deepEqual(s.traces.map(({ source, changed }) => [source.id, changed]), [["first", ["input"]], ["second", [
    "input",
  ]]]);
});

test("B-004 a tool's output is modified after it, and null is a value like any other", async () => {
  const s = stage();
  s.engine.register("PostToolUse", () => ({ action: "modify", modifiedOutput: null }));
  const { output } = await s.fire("PostToolUse", { output: "secret" });
  assert.equal(output, null);
});

test("B-004 changes without modify, or of what the moment has not, are left out with a warning", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => ({ action: "passThrough", modifiedInput: 1 }));
  s.engine.register("PreToolUse", () => ({ action: "modify", modifiedOutput: 2 }));
  const { input, output, warnings } = await s.fire("PreToolUse", { input: 0 });
  assert.deepEqual([input, output], [0, undefined]);
  assert.deepEqual(warnings, [
    '"modifiedInput" was left out: the action is "passThrough", and not "modify"',
    '"modifiedOutput" was left out: PreToolUse has no output to modify',
  ]);
});

test("B-005 a handler is given the envelope, with the time when the caller gives none", async () => {
  const s = stage();
  const events: HookEvent[] = [];
  s.engine.register("PostToolUse", (event) => void events.push({ ...event }));
  const envelope = {
    sessionId: "sess_01",
    agent: "primary.subagents.researcher",
    repository: "owner/repo",
    branch: "main",
    budget: { usedTokens: 78_124, effectiveLimit: 160_000 },
    tool: { name: "shell", success: false, durationMs: 6_422 },
  };
  await s.fire("PostToolUse", envelope);
  await s.fire("PostToolUse", { ...envelope, timestamp: "2025-04-27T18:42:31Z" });
  assert.deepEqual(events, [
    { hook: "PostToolUse", timestamp: "2026-01-01T00:00:00.000Z", ...envelope },
    { hook: "PostToolUse", timestamp: "2025-04-27T18:42:31Z", ...envelope },
  ]);
});

test("B-005 an event without session or agent is the caller's mistake", () => {
  const { engine } = stage();
  engine.register("PreToolUse", () => null);
  const at = { hook: "PreToolUse", sessionId: "s", agent: "a" };
  assert.throws(() => engine.fire({ ...at, sessionId: 7 as never }), code("hook.event_invalid", /"sessionId"/));
  assert.throws(() => engine.fire({ ...at, agent: undefined as never }), code("hook.event_invalid", /"agent"/));
  assert.throws(
    () => engine.fire({ ...at, timestamp: new Date() as never }),
    code("hook.event_invalid", /"timestamp"/),
  );
});

test("B-006 metadata reaches the trace and nothing else", async () => {
  const s = stage();
  const metadata = { hookId: "anti-loop-detector", secret: 1 };
  s.engine.register("PostToolUse", () => ({ action: "passThrough", priority: 1, metadata }));
  const result = await s.fire("PostToolUse");
  assert.equal(result.trace[0]?.hookId, "anti-loop-detector");
  assert.doesNotMatch(JSON.stringify({ ...result, trace: [] }), /anti-loop|secret/);
});

test("B-010 a handler that throws, rejects or answers nonsense passes through with a warning", async () => {
  const s = stage();
  const bad: Record<string, () => unknown> = {
    throws: () => {
      throw new Error("boom");
    },
    rejects: () => Promise.reject(new Error("bang")),
    "throws text": () => {
      throw "just text";
    },
    "wrong action": () => ({ action: "explode" }),
    "a number": () => 7,
    "context is text": () => ({ action: "injectContext", additionalContext: "text" }),
    "modifies nothing": () => ({ action: "modify" }),
    "a circle": () => {
      const circle: { self?: unknown } = {};
      return { action: "modify", modifiedInput: circle.self = circle };
    },
    "throwing getter": () => ({
      get action() {
        throw new Error("gotcha");
      },
    }),
  };
  for (const [id, handler] of Object.entries(bad)) s.engine.register("PreToolUse", handler as never, from(id));
  s.engine.register("PreToolUse", () => inject("still here"), from("good"));
  const { blocked, context, warnings } = await s.fire("PreToolUse", { input: 1 });
  assert.deepEqual([blocked, context], [false, ["still here"]]);
  assert.equal(warnings.length, Object.keys(bad).length);
  assert.deepEqual(warnings.slice(0, 3), ["Hook failed: boom", "Hook failed: bang", "Hook failed: just text"]);
  for (const warning of warnings) assert.match(warning, /^Hook failed: /);
  assert.deepEqual(s.outcomes(), [...Object.keys(bad).map((id) => `${id}: broke`), "good: ran"]);
});

test("B-010 B-019 X-16 a handler without an answer is given up after 3 s, or its own time, and its signal says so", async () => {
  const s = stage();
  const aborted: string[] = [];
  s.engine.register("SessionStart", (_, { signal }) => {
    signal.addEventListener("abort", () => aborted.push(String(signal.reason)));
    return never();
  }, from("slow"));
  s.engine.register("SessionStart", never, { timeoutMs: 500, ...from("late") });
  s.engine.register("SessionStart", () => inject("on"));
  const fired = s.fire("SessionStart");
  await turn();
  s.clock.advance(2_999);
  await turn();
  assert.deepEqual([s.traces.length, aborted], [0, []]);
  s.clock.advance(1);
  await turn();
  assert.deepEqual(aborted, ["HostError: slow did not answer SessionStart within 3000 ms"]);
  s.clock.advance(500);
  const { context, warnings } = await fired;
  assert.deepEqual(context, ["on"]);
  assert.deepEqual(warnings, [
    "Hook failed: slow did not answer SessionStart within 3000 ms",
    "Hook failed: late did not answer SessionStart within 500 ms",
  ]);
  assert.deepEqual(s.traces.map(({ outcome, durationMs }) => [outcome, durationMs]), [
    ["broke", 3_000],
    ["broke", 500],
    ["ran", 0],
  ]);
});

test("B-010 an answer after the timeout changes nothing", async () => {
  const s = stage();
  let late = (_: HookResponse): void => {};
  s.engine.register("PreToolUse", () => new Promise<HookResponse>((resolve) => late = resolve));
  const fired = s.fire("PreToolUse");
  await turn();
  s.clock.advance(3_000);
  const result = await fired;
  late(block("too late"));
  await turn();
  assert.deepEqual([result.blocked, s.traces.length], [false, 1]);
});

test("B-010 an answer after the timeout changes nothing in the firings that come after it", async () => {
  const s = stage();
  const answers: ((response: HookResponse | null) => void)[] = [];
  s.engine.register("PreToolUse", () => new Promise<HookResponse | null>((resolve) => answers.push(resolve)));
  const first = s.fire("PreToolUse");
  await turn();
  s.clock.advance(3_000);
  await first;
  const second = s.fire("PreToolUse");
  await turn();
  answers[0]!(block("too late"));
  await turn();
  answers[1]!(null);
  const third = s.fire("PreToolUse");
  await turn();
  answers[2]!(block("in time"));
  assert.deepEqual((await Promise.all([first, second, third])).map(({ reason }) => reason), [null, null, "in time"]);
  assert.deepEqual(s.traces.map(({ outcome }) => outcome), ["broke", "quiet", "ran"]);
});

test("X-18 B-010 a policy may ask to block when it breaks; its default is to pass", async () => {
  const s = stage();
  const broken = () => {
    throw new Error("no database");
  };
  s.engine.register("PreToolUse", broken, { onFailure: "block", ...from("gate") });
  s.engine.register("PreToolUse", () => assert.fail("it ran"), from("late"));
  const { blocked, blockedBy, reason } = await s.fire("PreToolUse");
  assert.deepEqual([blocked, blockedBy, reason], [true, "gate", "Hook failed: no database"]);
  assert.deepEqual(s.outcomes(), ["gate: broke", "late: blocked by gate"]);
});

test("B-010 B-018 an advisory handler warns and injects; its block, its modify and its failure stop nothing", async () => {
  const s = stage();
  const options = { advisory: true, onFailure: "block" as const };
  s.engine.register("PreToolUse", () => ({ ...block("bad idea"), additionalContext: ["why"] }), {
    ...options,
    ...from("a"),
  });
  s.engine.register("PreToolUse", () => ({ action: "modify", modifiedInput: 2 }), { ...options, ...from("b") });
  s.engine.register("PreToolUse", () => Promise.reject(new Error("x")), { ...options, ...from("c") });
  const { blocked, input, context, warnings } = await s.fire("PreToolUse", { input: 1 });
  assert.deepEqual([blocked, input, context], [false, 1, ["why"]]);
  assert.deepEqual(warnings, ["a would block: bad idea", "b would modify what it was given", "Hook failed: x"]);
  assert.deepEqual(s.traces.map(({ hadNoSay }) => hadNoSay), [true, true, undefined]);
});

test("B-010 a handler that fires its own hook again is refused, whether it waited before or not", async () => {
  const s = stage();
  const inner: string[][] = [];
  s.engine.register("PreToolUse", async () => {
    inner.push([...(await s.fire("PreToolUse")).warnings]);
    await turn();
    inner.push([...(await s.fire("PreToolUse")).warnings]);
    return inject("outer");
  }, from("recursive"));
  assert.deepEqual((await s.fire("PreToolUse")).context, ["outer"]);
  const refused = ["PreToolUse was fired by a handler of PreToolUse: no handler was asked"];
  assert.deepEqual(inner, [refused, refused]);
  assert.deepEqual(s.outcomes(), ["recursive: skipped", "recursive: skipped", "recursive: ran"]);
});

test("B-010 recursion is seen through another hook, and before the first wait without any storage", async () => {
  const s = stage({ asyncStorage: undefined });
  s.engine.register("PreToolUse", async () => void await s.fire("OnError"), from("pre"));
  s.engine.register("OnError", async () => void await s.fire("PreToolUse"), from("error"));
  await s.fire("PreToolUse");
  assert.deepEqual(s.outcomes(), ["pre: skipped", "error: quiet", "pre: quiet"]);
});

test("B-010 recursion is seen through another engine that shares the storage", async () => {
  const asyncStorage = new AsyncLocalStorage<unknown>();
  const [outer, inner] = [stage({ asyncStorage }), stage({ asyncStorage })];
  outer.engine.register("PreToolUse", async () => {
    await turn();
    await inner.fire("PreToolUse");
  }, from("outer"));
  inner.engine.register("PreToolUse", async () => {
    await turn();
    await outer.fire("PreToolUse");
  }, from("inner"));
  await outer.fire("PreToolUse");
  assert.deepEqual(outer.outcomes(), ["outer: skipped", "outer: quiet"]);
  assert.deepEqual(inner.outcomes(), ["inner: quiet"]);
});

test("B-010 without any storage, a handler that waits and fires its own hook is stopped, and other sessions are not", async () => {
  const { engine, fire } = stage({ asyncStorage: undefined });
  let asked = 0;
  let refused: unknown = null;
  engine.register("PreToolUse", async ({ sessionId }) => {
    if (sessionId !== "ses_1") return inject("fine");
    asked++;
    await turn();
    await fire("PreToolUse").catch((error) => {
      refused ??= error;
      throw error;
    });
  });
  const [runaway, other] = await Promise.all([fire("PreToolUse"), fire("PreToolUse", { sessionId: "ses_2" })]);
  assert.ok(code("hook.event_invalid", /^Cannot fire PreToolUse: \d+ firings are under way$/)(refused as Error));
  assert.ok(asked >= 256 && asked < 300, `${asked} firings`);
  assert.deepEqual([runaway.blocked, other.context], [false, ["fine"]]);
  // Many at a time are no recursion, as long as they are of many sessions.
  const sessions = Array.from({ length: 600 }, (_, at) => `ses_many_${at}`);
  const results = await Promise.all(sessions.map((sessionId) => fire("PreToolUse", { sessionId })));
  assert.ok(results.every(({ context }) => context[0] === "fine"));
});

test("B-010 B-019 each handler has its own time though nobody listens to traces, and what it took is told", async () => {
  const { engine, clock, fire } = stage({ onTrace: undefined as never });
  const later = Promise.withResolvers<null>();
  engine.register("PreToolUse", () => later.promise, from("slow"));
  engine.register("PreToolUse", () => new Promise(() => {}), { ...from("silent"), timeoutMs: 1_000 });
  engine.register("PreToolUse", () => Promise.resolve(null), from("quick"));
  const fired = fire("PreToolUse");
  clock.advance(2_500);
  later.resolve(null);
  await turn();
  clock.advance(999);
  let isDone = false;
  void fired.then(() => isDone = true);
  await turn();
  assert.equal(isDone, false);
  clock.advance(1);
  const { trace } = await fired;
  assert.deepEqual(trace.map(({ source, outcome, durationMs }) => [source.id, outcome, durationMs]), [
    ["slow", "quiet", 2_500],
    ["silent", "broke", 1_000],
    ["quick", "quiet", 0],
  ]);
});

test("B-010 firings beside each other are no recursion", async () => {
  const s = stage();
  s.engine.register("PreToolUse", async ({ sessionId }) => {
    await turn();
    return inject(sessionId);
  });
  const results = await Promise.all(["a", "b"].map((sessionId) => s.fire("PreToolUse", { sessionId })));
  assert.deepEqual(results.map(({ context }) => context), [["a"], ["b"]]);
});

test("B-011 X-15 handlers run by ascending priority, ties as they were registered: list() shows the order", async () => {
  const s = stage();
  const ran: string[] = [];
  const add = (id: string, priority?: number) =>
    s.engine.register("PreToolUse", () => void ran.push(id), {
      ...(priority !== undefined && { priority }),
      source: { kind: "file", id, file: `${id}.json`, line: 7 },
    });
  add("telemetry", 90);
  add("known fix 1");
  add("budget guard", 20);
  add("known fix 2", 50);
  add("permission", 10);
  await s.fire("PreToolUse");
  const order = ["permission", "budget guard", "known fix 1", "known fix 2", "telemetry"];
  assert.deepEqual(ran, order);
  assert.deepEqual(
    s.engine.list("preToolUse").map(({ place, priority, source }) => [place, priority, source.file, source.line]),
    [
      [1, 10, "permission.json", 7],
      [2, 20, "budget guard.json", 7],
      [3, 50, "known fix 1.json", 7],
      [4, 50, "known fix 2.json", 7],
      [5, 90, "telemetry.json", 7],
    ],
  );
  assert.deepEqual(s.engine.list(), s.engine.list("PreToolUse"));
});

test("B-018 a handler is taken out again, also in the midst of a firing", async () => {
  const s = stage();
  const end = s.engine.register("PreToolUse", () => inject("one"));
  const endBoth = s.engine.add([
    { hook: "PreToolUse", handler: () => (endBoth(), inject("two")) },
    { hook: "PreToolUse", handler: () => inject("three") },
  ]);
  assert.deepEqual((await s.fire("PreToolUse")).context, ["one", "two", "three"]);
  assert.deepEqual((await s.fire("PreToolUse")).context, ["one"]);
  end();
  end();
  assert.deepEqual(s.engine.list(), []);
});

test("B-018 handlers get a frozen copy: what the caller or a handler does to it reaches nobody", async () => {
  const s = stage();
  const seen: unknown[] = [];
  const look = ({ agent, input }: HookEvent): void => void seen.push([agent, structuredClone(input)]);
  s.engine.register(
    "PreToolUse",
    (event) => void ((event as { agent: string }).agent = "someone else"),
    from("spoils"),
  );
  s.engine.register("PreToolUse", ({ input }) => void (input as { list: string[] }).list.push("spoiled"), from("too"));
  s.engine.register("PreToolUse", look, from("looks"));
  s.engine.register("PreToolUse", () => turn().then(() => null), from("waits"));
  s.engine.register("PreToolUse", look, from("looks again"));
  const input = { list: ["a"] };
  const fired = s.fire("PreToolUse", { input });
  await Promise.resolve();
  input.list.push("changed by the caller");
  assert.deepEqual((await fired).warnings.length, 2);
  assert.deepEqual(seen, [["primary", { list: ["a"] }], ["primary", { list: ["a"] }]]);
  const broke = ["spoils: broke", "too: broke"];
  assert.deepEqual(s.outcomes(), [...broke, "looks: quiet", "waits: quiet", "looks again: quiet"]);
});

test("B-018 what a handler sets in is frozen too, for those after it and not for the one who set it", async () => {
  const s = stage();
  const answer = { list: ["a"] };
  s.engine.register("PreToolUse", () => ({ action: "modify", modifiedInput: answer }));
  s.engine.register("PreToolUse", ({ input }) => void (input as { list: string[] }).list.push("b"), from("spoils"));
  const { input } = await s.fire("PreToolUse", { input: 0 });
  answer.list.push("c");
  assert.deepEqual(input, { list: ["a"] });
  assert.equal(s.outcomes().at(-1), "spoils: broke");
});

test("B-010 after a handler was given up, the rest of the chain is still known for who it is", async () => {
  const s = stage();
  s.engine.register("PreToolUse", never, { timeoutMs: 200, ...from("never") });
  s.engine.register("PreToolUse", async () => {
    await turn();
    await s.fire("PreToolUse");
    return inject("on");
  }, from("recursive"));
  const fired = s.fire("PreToolUse");
  await turn();
  s.clock.advance(200);
  assert.deepEqual((await fired).context, ["on"]);
  assert.deepEqual(s.outcomes(), ["never: broke", "never: skipped", "recursive: skipped", "recursive: ran"]);
});

test("B-018 what a handler answered is copied before the next one runs", async () => {
  const s = stage();
  const answer = { list: ["a"] };
  s.engine.register("PreToolUse", () => ({ action: "modify", modifiedInput: answer }));
  s.engine.register("PreToolUse", () => void answer.list.push("later"));
  assert.deepEqual((await s.fire("PreToolUse", { input: 0 })).input, { list: ["a"] });
});

test("B-018 handlers for other agents, and those whose matcher does not want the event, are skipped", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => inject("mine"), { agents: ["primary"], ...from("mine") });
  s.engine.register("PreToolUse", () => inject("theirs"), { agents: ["primary.subagents.x"], ...from("theirs") });
  s.engine.register("PreToolUse", () => inject("shell"), {
    matches: ({ tool }) => tool?.name === "shell",
    ...from("shell"),
  });
  s.engine.register("PreToolUse", () => inject("never"), {
    matches: () => {
      throw new Error("bad matcher");
    },
    ...from("broken"),
  });
  const { context, warnings } = await s.fire("PreToolUse", { tool: { name: "read" } });
  assert.deepEqual([context, warnings], [["mine"], ["Hook failed: bad matcher"]]);
  assert.deepEqual(s.outcomes(), ["mine: ran", "theirs: skipped", "shell: skipped", "broken: broke"]);
});

test("B-019 injected text has a budget: what is cut is said in the text, as a warning and in the trace", async () => {
  const s = stage({ injectBudgetBytes: 10 });
  s.engine.register("SessionStart", () => inject("éééé"), from("small"));
  s.engine.register("SessionStart", () => inject("abcdef"), from("large"));
  s.engine.register("SessionStart", () => inject("more"), from("late"));
  const { context, warnings } = await s.fire("SessionStart");
  assert.deepEqual(context, ["éééé", "ab\n[cut: 2 of 6 bytes are shown]", "[cut: 0 of 4 bytes are shown]"]);
  assert.deepEqual(warnings, [
    "Text of large was cut to fit: 2 bytes of it are injected",
    "Text of late was cut to fit: 0 bytes of it are injected",
  ]);
  assert.deepEqual(s.traces.map(({ injectedBytes, cut }) => [injectedBytes, cut]), [[8, undefined], [2, true], [
    0,
    true,
  ]]);
});

test("B-019 by default a firing injects 32 KiB, and overwriting gives the room back", async () => {
  const s = stage();
  s.engine.register("SessionStart", () => inject("x".repeat(40_000)));
  assert.equal((await s.fire("SessionStart")).trace[0]?.injectedBytes, 32_768);
  s.engine.register("SessionStart", () => ({ ...inject("y".repeat(20_000)), overwriteContext: true }));
  assert.deepEqual((await s.fire("SessionStart")).context, ["y".repeat(20_000)]);
});

test("B-018 an answer larger than 4 Mi characters is refused", async () => {
  const s = stage();
  s.engine.register("PostToolUse", () => ({ action: "modify", modifiedOutput: "x".repeat(5_000_000) }));
  const { output, warnings } = await s.fire("PostToolUse", { output: "short" });
  assert.equal(output, "short");
  assert.match(warnings[0]!, /^Hook failed: .*too large/);
});

test("B-019 when every handler answers at once, so does the engine; one that waits makes it wait", async () => {
  const { engine } = stage();
  const at = { hook: "PreToolUse", sessionId: "s", agent: "a" };
  engine.register("PreToolUse", () => inject("now"));
  assert.ok(!(engine.fire(at) instanceof Promise));
  engine.register("PreToolUse", () => Promise.resolve(inject("soon")));
  const later = engine.fire(at);
  assert.ok(later instanceof Promise);
  assert.deepEqual((await later).context, ["now", "soon"]);
});

test("X-16 options out of bounds are refused, with the unit in the name", () => {
  const { engine } = stage();
  const bad: [object, RegExp][] = [
    [{ timeoutMs: 0 }, /"timeoutMs" is 0/],
    [{ timeoutMs: 600_001 }, /"timeoutMs" is 600001/],
    [{ timeoutMs: NaN }, /"timeoutMs" is NaN/],
    [{ priority: Infinity }, /"priority"/],
    [{ onFailure: "explode" }, /"onFailure"/],
  ];
  for (const [options, message] of bad) {
    assert.throws(() => engine.register("PreToolUse", () => null, options), code("hook.option_invalid", message));
  }
  assert.throws(() => engine.register("PreToolUse", "text" as never), code("hook.option_invalid", /"handler"/));
});

test("a listener of traces that throws reaches no handler", async () => {
  const s = stage({
    onTrace: () => {
      throw new Error("full disk");
    },
  });
  s.engine.register("PreToolUse", () => inject("a"));
  const { context, warnings } = await s.fire("PreToolUse");
  assert.deepEqual([context, warnings], [["a"], ["Listener of traces failed: full disk"]]);
});

test("B-010 whatever a handler throws, and a listener too, the chain goes on and the next firing is its own", async () => {
  const unreadable = Object.defineProperty(new Error(), "message", {
    get() {
      throw new Error("gotcha");
    },
  });
  const thrown: unknown[] = [Object.create(null), unreadable, null, undefined, Symbol("s"), 7n];
  const s = stage({
    onTrace: () => {
      throw Object.create(null);
    },
  });
  for (const each of thrown) {
    s.engine.register("PreToolUse", () => {
      throw each;
    });
    s.engine.register("PreToolUse", () => Promise.reject(each));
  }
  s.engine.register("PreToolUse", async () => void await s.fire("PreToolUse"));
  s.engine.register("PreToolUse", () => inject("on"));
  for (let round = 0; round < 2; round++) {
    const { context, warnings, trace } = await s.fire("PreToolUse");
    assert.deepEqual(context, ["on"]);
    assert.equal(trace.filter(({ outcome }) => outcome === "broke").length, 2 * thrown.length);
    assert.equal(warnings[0], "Hook failed: {}");
    assert.ok(warnings.includes("Hook failed: it threw an object that cannot be read"));
  }
});

test("B-010 firings that end in any order leave the others their deadlines", async () => {
  const s = stage();
  const held = new Map(["a", "b", "c", "d"].map((name) => [name, Promise.withResolvers<null>()]));
  s.engine.register("PreToolUse", ({ input }) => held.get(input as string)!.promise);
  const fired = new Map([...held.keys()].map((input) => [input, s.fire("PreToolUse", { input })]));
  await turn();
  for (const name of ["b", "d"]) held.get(name)!.resolve(null);
  assert.deepEqual((await Promise.all([fired.get("b"), fired.get("d")])).map((result) => result!.warnings), [[], []]);
  s.clock.advance(3_000);
  for (const name of ["a", "c"]) {
    assert.deepEqual((await fired.get(name)!).warnings, [
      "Hook failed: anonymous did not answer PreToolUse within 3000 ms",
    ]);
  }
});

test("a deadline costs a timer only now and then", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => Promise.resolve(null));
  for (let round = 0; round < 50; round++) await s.fire("PreToolUse");
  assert.equal(s.clock.waiting, 1);
  s.clock.advance(3_000);
  assert.equal(s.clock.waiting, 0);
});
