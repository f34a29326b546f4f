import assert from "node:assert/strict";
import { test } from "node:test";
import { createEmitter, type Emitter, type EventProblem } from "../../src/events/emitter.ts";
import { EVENT_NAMES, type EventName, type Events } from "../../src/events/types.ts";
import { createFakeClock } from "../support/fake_clock.ts";

const timestamp = "2026-01-01T00:00:00.000Z";
const start = { agentName: "primary", input: "hello", conversationId: "ses_1" };
const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
const end = { ...start, output: "hi", toolsUsed: ["a.b"], usage, duration: 5 };
const job = { jobId: "job_1", agentName: "primary" };
const step = { agentName: "primary", duration: 3, conversationId: "ses_1" };
const delegation = { parentAgent: "primary", childAgent: "primary.subagents.x", conversationId: "ses_1" };

function emitterWith(options: Partial<Parameters<typeof createEmitter>[0]> = {}) {
  const problems: EventProblem[] = [];
  const clock = createFakeClock();
  const emitter = createEmitter({ level: "trace", clock, onError: (problem) => problems.push(problem), ...options });
  return { emitter, clock, problems };
}

function heardBy<E extends EventName>(emitter: Emitter, event: E): Events[E][] {
  const heard: Events[E][] = [];
  emitter.on(event, (each) => heard.push(each));
  return heard;
}

/** Lets everything that waits for nothing outside run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

function emitOneOfEach(emitter: Emitter): void {
  emitter.emit("agent:start", start);
  emitter.emit("agent:end", end);
  emitter.emit("agent:error", { ...start, error: "broken", duration: 5 });
  emitter.emit("job:start", { ...job, input: "hello", conversationId: "ses_1" });
  emitter.emit("job:end", { ...job, output: "hi", duration: 5, usage });
  emitter.emit("job:error", { ...job, error: "broken", duration: 5 });
  emitter.emit("job:cancelled", { ...job, duration: 5 });
  emitter.emit("cron:executed", {
    cronId: "c",
    agentName: "primary",
    executionId: "e",
    status: "completed",
    duration: 5,
  });
  emitter.emit("tool:execute", { ...step, toolName: "a.b", input: { q: 1 }, output: [1] });
  emitter.emit("delegate:start", { ...delegation, input: "find" });
  emitter.emit("delegate:end", { ...delegation, output: "found", duration: 5 });
  emitter.emit("model:call", { ...step, model: "m", promptTokens: 1, completionTokens: 2 });
  emitter.emit("hook:execute", { ...step, plugin: "a", hook: "pre_compact", outcome: "ok" });
  const session = { agentName: "primary", conversationId: "ses_1", correlationId: "ses_1" };
  emitter.emit("hook:metric", { ...session, hook: "PreToolUse", figures: { checks: 1 } });
  const size = { messages: 1, tokens: 2 };
  emitter.emit("compaction:execute", { ...step, trigger: "operator", by: "drop", before: size, after: size });
}

test("T-001 T-001a a subscriber gets the documented fields and the time, and nothing else", async () => {
  const { emitter, clock } = emitterWith();
  const heard = heardBy(emitter, "agent:end");
  clock.advance(1500);
  emitter.emit("agent:end", { ...end, scopeId: "team", jobId: "job_1" });
  await settle();
  assert.deepEqual(heard, [{
    agentName: "primary",
    input: "hello",
    output: "hi",
    toolsUsed: ["a.b"],
    usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    duration: 5,
    conversationId: "ses_1",
    scopeId: "team",
    jobId: "job_1",
    timestamp: "2026-01-01T00:00:01.500Z",
  }]);
});

test("T-002 at the level trace every event is emitted, in order", async () => {
  const { emitter } = emitterWith({ level: "trace" });
  const heard = heardBy(emitter, "*");
  emitOneOfEach(emitter);
  await settle();
  assert.deepEqual(heard.map(({ type }) => type), EVENT_NAMES);
});

test("T-002 at the level summary the steps within a run are left out", async () => {
  const { emitter } = emitterWith({ level: "summary" });
  const heard = heardBy(emitter, "*");
  const steps = heardBy(emitter, "tool:execute");
  emitOneOfEach(emitter);
  await settle();
  assert.deepEqual(heard.map(({ type }) => type), [
    "agent:start",
    "agent:end",
    "agent:error",
    "job:start",
    "job:end",
    "job:error",
    "job:cancelled",
    "cron:executed",
  ]);
  assert.deepEqual(steps, []);
  assert.equal(emitter.wants("tool:execute"), false);
});

test("T-003 an event nobody hears is not even looked at", () => {
  const { emitter, problems } = emitterWith();
  emitter.on("agent:end", () => {});
  const untouchable = new Proxy(start, {
    ownKeys: () => assert.fail("looked at"),
    get: () => assert.fail("looked at"),
  });
  emitter.emit("agent:start", untouchable);
  assert.deepEqual([emitter.wants("agent:start"), emitter.wants("agent:end"), problems], [false, true, []]);
});

test('T-004 a subscriber to "*" gets every event with its name as type', async () => {
  const { emitter } = emitterWith();
  const heard = heardBy(emitter, "*");
  const own = heardBy(emitter, "agent:start");
  emitter.emit("agent:start", start);
  await settle();
  assert.deepEqual(heard, [{ type: "agent:start", ...start, timestamp }]);
  assert.deepEqual(own, [{ ...start, timestamp }]);
});

test("T-004 on() returns a function that ends the subscription, also for what was waiting", async () => {
  const { emitter } = emitterWith();
  const heard: string[] = [];
  const note = ({ input }: { input: string }) => void heard.push(input);
  const ends = [emitter.on("agent:start", note), emitter.on("agent:start", note)];
  emitter.emit("agent:start", { ...start, input: "1" });
  ends[0]!();
  ends[0]!();
  await settle();
  emitter.emit("agent:start", { ...start, input: "2" });
  ends[1]!();
  await settle();
  emitter.emit("agent:start", { ...start, input: "3" });
  await settle();
  for (const end of ends) end();
  assert.deepEqual([heard, emitter.wants("agent:start"), emitter.waiting], [["1"], false, 0]);
});

test("T-004 on() refuses an event that does not exist", () => {
  const { emitter } = emitterWith();
  for (const name of ["agent:ended", "toString", "__proto__", ""]) {
    assert.throws(() => emitter.on(name as "agent:end", () => {}), TypeError);
  }
});

test("T-004 emit() returns before any subscriber runs", async () => {
  const { emitter } = emitterWith();
  const heard = heardBy(emitter, "agent:start");
  emitter.emit("agent:start", start);
  assert.deepEqual(heard, []);
  await settle();
  assert.equal(heard.length, 1);
});

test("T-004 each subscriber gets a copy of its own, taken when the event is emitted", async () => {
  const { emitter } = emitterWith();
  const spoiled: unknown[] = [];
  const spoil = (event: Events["agent:end"]) => {
    spoiled.push(event.usage.totalTokens, event.toolsUsed.length);
    event.usage.totalTokens = -1;
    event.toolsUsed.push("spoiled");
  };
  emitter.on("agent:end", spoil);
  emitter.on("*", (event) => spoil(event as Events["agent:end"]));
  emitter.on("agent:end", spoil);
  const data = structuredClone(end);
  emitter.emit("agent:end", data);
  data.usage.totalTokens = 99;
  await settle();
  assert.deepEqual(spoiled, [3, 1, 3, 1, 3, 1]);
  assert.deepEqual(data.toolsUsed, ["a.b"]);
});

test("T-004 copies are whole: null, lists in lists, and what is no plain data", async () => {
  const { emitter } = emitterWith();
  const outputs = [null, [[1], { a: [2] }], new Map([["a", [1]]]), JSON.parse('{"__proto__":{"a":[1]}}')];
  const heard = [heardBy(emitter, "tool:execute"), heardBy(emitter, "tool:execute"), heardBy(emitter, "tool:execute")];
  for (const output of outputs) {
    emitter.emit("tool:execute", { ...step, toolName: "a.b", input: { deep: [[]] }, output });
  }
  await settle();
  for (const each of heard) assert.deepEqual(each.map(({ output }) => output), outputs);
  const containers = heard.flat().flatMap(({ input, output }) => [input, input["deep"], output]).filter((each) => each);
  assert.equal(new Set(containers).size, containers.length);
});

test("T-004 what a subscriber throws is logged, and neither the emitter nor another subscriber notices", async () => {
  const { emitter, problems } = emitterWith();
  const broken = new Error("broken");
  emitter.on("agent:start", () => {
    throw broken;
  });
  emitter.on("agent:start", () => Promise.reject(broken));
  emitter.on("agent:start", () => ({
    then() {
      throw broken;
    },
  }));
  emitter.on("agent:start", () => ({
    get then() {
      throw broken;
    },
  }));
  const heard = heardBy(emitter, "agent:start");
  emitter.emit("agent:start", start);
  emitter.emit("agent:start", start);
  await settle();
  assert.equal(heard.length, 2);
  assert.deepEqual(problems, Array(8).fill({ event: "agent:start", kind: "failed", error: broken }));
});

test("T-004 a logger that throws changes nothing", async () => {
  const { emitter } = emitterWith({
    onError: () => {
      throw new Error("the logger too");
    },
  });
  emitter.on("agent:start", () => {
    throw new Error("broken");
  });
  const heard = heardBy(emitter, "agent:start");
  emitter.emit("agent:start", start);
  await settle();
  assert.equal(heard.length, 1);
});

test("a subscriber that returns a promise gets its next event when it settles, others do not wait", async () => {
  const { emitter } = emitterWith();
  const order: string[] = [];
  const releases: (() => void)[] = [];
  emitter.on("agent:start", ({ input }) => {
    order.push(`slow ${input}`);
    return new Promise<void>((resolve) => releases.push(resolve));
  });
  emitter.on("agent:start", ({ input }) => void order.push(`quick ${input}`));
  for (const input of ["1", "2"]) emitter.emit("agent:start", { ...start, input });
  await settle();
  assert.deepEqual(order, ["slow 1", "quick 1", "quick 2"]);
  emitter.emit("agent:start", { ...start, input: "3" });
  await settle();
  releases[0]!();
  await settle();
  assert.deepEqual(order.slice(3), ["quick 3", "slow 2"]);
  releases[1]!();
  await settle();
  assert.deepEqual(order.slice(5), ["slow 3"]);
});

test("a subscriber that never returns holds no more events than allowed; the rest is dropped, counted and told once", async () => {
  const { emitter, problems } = emitterWith({ maxWaiting: 10 });
  emitter.on("agent:start", () => new Promise(() => {}));
  const heard = heardBy(emitter, "agent:start");
  for (let at = 0; at < 1000; at++) {
    emitter.emit("agent:start", start);
    await settle();
  }
  assert.deepEqual([heard.length, emitter.waiting, emitter.dropped], [1000, 10, 989]);
  assert.deepEqual(problems.map(({ kind, event }) => [kind, event]), [["dropped", "agent:start"]]);
});

test("a subscriber that has caught up hears again, and is told of again when it falls behind", async () => {
  const { emitter, problems } = emitterWith({ maxWaiting: 1 });
  let release = () => {};
  const inputs: string[] = [];
  emitter.on("agent:start", ({ input }) => {
    inputs.push(input);
    return new Promise<void>((resolve) => release = resolve);
  });
  const emit = async (input: string) => {
    emitter.emit("agent:start", { ...start, input });
    await settle();
  };
  for (const input of ["1", "2", "lost", "lost"]) await emit(input);
  release();
  await settle();
  for (const input of ["3", "lost"]) await emit(input);
  release();
  await settle();
  assert.deepEqual(inputs, ["1", "2", "3"]);
  assert.deepEqual([emitter.dropped, problems.length], [3, 2]);
});

test("large events fill a queue by their size, and one of any size is delivered", async () => {
  const { emitter } = emitterWith({ maxWaitingChars: 1000 });
  const heard = heardBy(emitter, "agent:start");
  emitter.on("agent:start", () => new Promise(() => {}));
  for (let at = 0; at < 5; at++) {
    emitter.emit("agent:start", { ...start, input: "x".repeat(5000) });
    await settle();
  }
  assert.deepEqual([heard.length, emitter.waiting, emitter.dropped], [5, 1, 3]);
});

test("what a subscriber has taken no longer counts as waiting", async () => {
  const { emitter } = emitterWith({ maxWaitingChars: 1000 });
  let isHeld = false;
  emitter.on("agent:start", () => isHeld ? new Promise(() => {}) : undefined);
  for (const held of [false, false, false, true, true, true]) {
    isHeld = held;
    emitter.emit("agent:start", { ...start, input: "x".repeat(300) });
    await settle();
  }
  assert.deepEqual([emitter.waiting, emitter.dropped], [2, 0]);
});

test("every event carries the time it was emitted at", async () => {
  const { emitter, clock } = emitterWith();
  const heard = heardBy(emitter, "agent:start");
  for (const ms of [0, 0, 1]) {
    clock.advance(ms);
    emitter.emit("agent:start", start);
  }
  await settle();
  assert.deepEqual(heard.map((event) => event.timestamp.slice(-4)), ["000Z", "000Z", "001Z"]);
});

test("data that cannot be copied is logged and not emitted", async () => {
  const { emitter, problems } = emitterWith();
  const heard = heardBy(emitter, "*");
  emitter.emit("tool:execute", { ...step, toolName: "a.b", input: {}, output: () => {} });
  emitter.emit("agent:start", start);
  await settle();
  assert.deepEqual(heard.map(({ type }) => type), ["agent:start"]);
  assert.deepEqual(problems.map(({ kind, event }) => [kind, event]), [["uncopied", "tool:execute"]]);
});

test("a subscriber may emit, subscribe and unsubscribe while it is called", async () => {
  const { emitter } = emitterWith();
  const heard: string[] = [];
  const end = emitter.on("agent:start", () => {
    heard.push("first");
    end();
    emitter.on("job:cancelled", () => heard.push("second"));
    emitter.emit("job:cancelled", { ...job, duration: 1 });
    emitter.emit("agent:start", start);
  });
  emitter.emit("agent:start", start);
  await settle();
  assert.deepEqual(heard, ["first", "second"]);
});
