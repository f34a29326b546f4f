import assert from "node:assert/strict";
import { test } from "node:test";
import type { HookCallEvent, HookMoment, HookResponse } from "../../../src/hooks/engine/types.ts";
import { from, stage } from "./stage.ts";

const ask = (reason: string): HookResponse => ({ action: "ask", reason });
const block = (reason: string): HookResponse => ({ action: "block", reason });
const canAsk = { canAsk: true };
const UNASKED = "It needs a person's yes, and nobody is asked here";
const source = (id: string) => from(id).source;
const turn = (): Promise<unknown> => new Promise(setImmediate);

test("B-004 an ask leaves the chain running, and the result says who asks and why", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => ask("It deletes"), from("first"));
  s.engine.register("PreToolUse", async () => await Promise.resolve(ask("It costs")), from("second"));
  s.engine.register("PreToolUse", () => ({ action: "injectContext", additionalContext: ["hint"] }), from("third"));
  const { blocked, blockedBy, reason, asked, context } = await s.fire("PreToolUse", {}, canAsk);
  assert.deepEqual([blocked, blockedBy, reason, context], [false, null, null, ["hint"]]);
  assert.deepEqual(asked, [{ source: source("first"), reason: "It deletes" }, {
    source: source("second"),
    reason: "It costs",
  }]);
  assert.deepEqual(s.outcomes(), ["first: ran", "second: ran", "third: ran"]);
  assert.deepEqual(s.traces.map(({ action, reason }) => [action, reason]), [
    ["ask", "It deletes"],
    ["ask", "It costs"],
    ["injectContext", undefined],
  ]);
});

test("B-004 without canAsk the first handler that asks has blocked, so that nothing goes through unasked", async () => {
  const s = stage();
  const soFar: (string | null)[] = [];
  s.engine.register("PreToolUse", () => ask("It deletes"), from("first"));
  s.engine.register("PreToolUse", () => ask("It costs"), from("second"));
  s.engine.register("PreToolUse", (_, context) => void soFar.push(context.soFar.blockedBy), { telemetryOnly: true });
  const { blocked, blockedBy, reason, asked } = await s.fire("PreToolUse");
  assert.deepEqual([blocked, blockedBy, reason, asked.length], [true, "first", `${UNASKED}: It deletes`, 2]);
  await s.fire("PreToolUse", {}, canAsk);
  assert.deepEqual(soFar, ["first", null]);
});

test("B-004 a block wins over an ask, whichever comes first", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => ask("It deletes"), { priority: 10, ...from("asks") });
  s.engine.register("PreToolUse", () => block("Never"), { priority: 20, ...from("blocks") });
  s.engine.register("PreToolUse", () => assert.fail("it ran"), { priority: 30, ...from("late") });
  for (const options of [canAsk, {}]) {
    const { blocked, blockedBy, reason, asked } = await s.fire("PreToolUse", {}, options);
    assert.deepEqual([blocked, blockedBy, reason, asked.length], [true, "blocks", "Never", 1]);
  }
  const own = stage();
  own.engine.register("PreToolUse", (event) => (event.ask({ reason: "It deletes" }), block("Never")), from("both"));
  const { blockedBy, reason, asked } = await own.fire("PreToolUse", {}, canAsk);
  assert.deepEqual([blockedBy, reason, asked], ["both", "Never", []]);
});

test("B-004 event.ask() counts whatever the handler answers, at once or after a wait", async () => {
  const s = stage();
  s.engine.register("PreToolUse", (event) => event.ask({ reason: "a" }), from("nothing"));
  s.engine.register("PreToolUse", ({ ask }) => (ask({ reason: "b" }), null), from("taken apart"));
  s.engine.register("PreToolUse", async (event) => {
    await turn();
    event.ask({ reason: "c" });
    return { action: "injectContext", additionalContext: ["text"] };
  }, from("after a wait"));
  s.engine.register("PreToolUse", (event) => {
    event.ask({ reason: "d" });
    return { action: "modify", modifiedInput: { safe: true }, warnings: ["w"] };
  }, from("modifies"));
  s.engine.register("PreToolUse", (event) => {
    for (const reason of ["e", "f", "e"]) event.ask({ reason });
    return ask("g");
  }, from("often"));
  const { asked, context, input, warnings } = await s.fire("PreToolUse", { input: {} }, canAsk);
  assert.deepEqual(asked.map(({ source, reason }) => [source.id, reason]), [
    ["nothing", "a"],
    ["taken apart", "b"],
    ["after a wait", "c"],
    ["modifies", "d"],
    ["often", "g; e; f"],
  ]);
  assert.deepEqual([context, input, warnings], [["text"], { safe: true }, ["w"]]);
  assert.deepEqual(s.traces.map(({ action, changed }) => [action, changed]).at(3), ["ask", ["input"]]);
});

test("B-004 event.ask() never throws, and asks without a reason that can be read", async () => {
  const odd: unknown[] = [undefined, null, 7, {}, { reason: 7 }, { reason: "" }, {
    get reason(): never {
      throw new Error("no");
    },
  }];
  for (const question of odd) {
    const s = stage();
    s.engine.register("PreToolUse", (event) => event.ask(question as never));
    const { asked, warnings } = await s.fire("PreToolUse", {}, canAsk);
    assert.deepEqual([asked.map(({ reason }) => reason), warnings], [["No reason was given"], []]);
  }
  const s = stage();
  s.engine.register("PreToolUse", (event) => {
    for (let count = 0; count < 50; count++) event.ask({ reason: `${count}`.repeat(3_000) });
  });
  const { asked } = await s.fire("PreToolUse", {}, canAsk);
  assert.ok(asked[0]!.reason.length <= 4_001, `${asked[0]!.reason.length}`);
});

test("B-005 copies of an event do not carry ask, and no handler can take it from another", async () => {
  const s = stage();
  const copies: unknown[] = [];
  s.engine.register("PreToolUse", (event) => {
    copies.push(
      { ...event },
      JSON.parse(JSON.stringify(event)),
      structuredClone(event),
      Object.fromEntries(keysOf(event)),
    );
    const prototype = Object.getPrototypeOf(event);
    assert.throws(() => Object.defineProperty(prototype, "ask", { value: () => {} }), TypeError);
    assert.throws(() => Object.defineProperty(event, "ask", { value: () => {} }), TypeError);
  });
  s.engine.register("PreToolUse", (event) => event.ask({ reason: "mine" }), from("second"));
  const { asked, warnings } = await s.fire("PreToolUse", { tool: { name: "shell" }, input: { a: 1 } }, canAsk);
  const at = { hook: "PreToolUse", timestamp: "2026-01-01T00:00:00.000Z", sessionId: "ses_1", agent: "primary" };
  const plain = { ...at, tool: { name: "shell" }, input: { a: 1 } };
  assert.deepEqual(copies, [plain, plain, plain, plain]);
  assert.deepEqual([asked.map(({ source }) => source.id), warnings], [["second"], []]);
});

const keysOf = (event: HookCallEvent) => Reflect.ownKeys(event).map((key) => [key, Reflect.get(event, key)]);

test("B-004 at another moment an ask blocks, and the reason says where a handler can ask", async () => {
  const moments = ["SessionStart", "UserPromptSubmitted", "PostToolUse", "SubagentStart", "PreCompact"] as const;
  for (const hook of moments satisfies readonly HookMoment[]) {
    for (const asks of [() => ask("why"), (event: HookCallEvent) => event.ask({ reason: "why" })]) {
      const s = stage();
      s.engine.register(hook, asks, from("asks"));
      s.engine.register(hook, () => assert.fail("it ran"), from("late"));
      const { blocked, blockedBy, reason, asked } = await s.fire(hook, {}, canAsk);
      assert.deepEqual([blocked, blockedBy, asked], [true, "asks", []]);
      assert.equal(reason, `It needs a person's yes, and only PreToolUse can ask, not ${hook}: why`);
      assert.equal(s.traces[0]?.action, "ask");
    }
  }
});

test("B-004 at on_session_idle each handler asks for itself, and nothing is blocked", async () => {
  const s = stage();
  const gone = Promise.withResolvers<null>();
  s.engine.register("on_session_idle", async (event) => {
    await turn();
    event.ask({ reason: "mine" });
    return await gone.promise;
  }, from("asks"));
  s.engine.register("on_session_idle", async () => await turn().then(() => null), from("quiet"));
  const fired = s.fire("on_session_idle");
  await turn();
  await turn();
  gone.resolve(null);
  assert.equal((await fired).blocked, false);
  assert.deepEqual(s.traces.map(({ source, action }) => [source.id, action]).toSorted(), [
    ["asks", "ask"],
    ["quiet", undefined],
  ]);
});

test("B-010 B-018 an advisory handler's ask is a warning, and a telemetry-only handler's is nothing", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => ask("why"), { advisory: true, ...from("advises") });
  s.engine.register("PreToolUse", (event) => event.ask({ reason: "why" }), { telemetryOnly: true, ...from("counts") });
  s.engine.register("PreToolUse", (event) => {
    event.ask({ reason: "so" });
    throw new Error("oops");
  }, { advisory: true, ...from("breaks") });
  const { blocked, asked, warnings } = await s.fire("PreToolUse");
  assert.deepEqual([blocked, asked], [false, []]);
  assert.deepEqual(warnings, [
    "advises would ask a person: why",
    "Hook failed: oops",
    "breaks would ask a person: so",
  ]);
  assert.deepEqual(s.traces.map(({ action, hadNoSay }) => [action, hadNoSay]), [
    ["ask", true],
    ["ask", true],
    [undefined, undefined],
  ]);
});

test("B-010 a handler that asked before it broke still asks, unless its failure is to block", async () => {
  const s = stage();
  const asking = (event: HookCallEvent): never => {
    event.ask({ reason: "why" });
    throw new Error("oops");
  };
  const remove = s.engine.register("PreToolUse", asking, from("breaks"));
  s.engine.register("PreToolUse", (event) => (event.ask({ reason: "so" }), "nonsense" as never), from("babbles"));
  const { blocked, asked } = await s.fire("PreToolUse", {}, canAsk);
  assert.deepEqual([blocked, asked.map(({ source, reason }) => [source.id, reason])], [false, [["breaks", "why"], [
    "babbles",
    "so",
  ]]]);
  assert.deepEqual(s.traces.map(({ outcome, action }) => [outcome, action]), [["broke", "ask"], ["broke", "ask"]]);
  remove();
  s.engine.register("PreToolUse", asking, { onFailure: "block", priority: 10, ...from("policy") });
  const policy = await s.fire("PreToolUse", {}, canAsk);
  assert.deepEqual([policy.blockedBy, policy.reason], ["policy", "Hook failed: oops"]);
});

test("B-010 a handler that was given up, or is done, asks in nobody's name", async () => {
  const s = stage();
  let late: HookCallEvent | null = null;
  s.engine.register("PreToolUse", (event) => {
    late = event;
    event.ask({ reason: "in time" });
    return new Promise(() => {});
  }, { timeoutMs: 10, ...from("hangs") });
  let done: HookCallEvent["ask"] | null = null;
  s.engine.register("PreToolUse", ({ ask }) => void (done = ask), from("done"));
  const reached = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<null>();
  s.engine.register("PreToolUse", () => (reached.resolve(), answer.promise), from("current"));
  const fired = s.fire("PreToolUse", {}, canAsk);
  s.clock.advance(0);
  s.clock.advance(10);
  await reached.promise;
  late!.ask({ reason: "too late" });
  done!({ reason: "too late" });
  answer.resolve(null);
  const { asked, warnings } = await fired;
  late!.ask({ reason: "far too late" });
  assert.deepEqual(asked, [{ source: source("hangs"), reason: "in time" }]);
  assert.match(warnings.join(), /hangs did not answer PreToolUse/);
});

test("B-004 firings in which nobody asks share one empty list that nobody can fill", async () => {
  const s = stage();
  const { asked: none } = await s.fire("PreToolUse");
  s.engine.register("PreToolUse", () => null);
  const { asked } = await s.fire("PreToolUse");
  assert.equal(asked, none);
  assert.throws(() => (asked as unknown[]).push(1), TypeError);
});

test("B-004 a reason that is no text makes an ask a failed handler, as it does a block", async () => {
  const s = stage();
  s.engine.register("PreToolUse", () => ({ action: "ask", reason: 7 as never }), { onFailure: "block" });
  assert.match((await s.fire("PreToolUse", {}, canAsk)).reason ?? "", /"reason" is/);
});
