import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller, CallFacts } from "../../src/mcp/flight.ts";
import { Flights, MAX_PARKED, PARKED_MS } from "../../src/mcp/flights.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { until } from "../support/until.ts";

const FACTS: CallFacts = { method: "tools/call", params: { name: "x" }, plugin: "p", tool: "p.x" };
const ANSWER = { action: "accept", content: {} };
const options = { signal: new AbortController().signal, timeout: 1_000 };

/** A request of a modern client that takes forms. */
function request(mcpReq: Partial<Caller["context"]["mcpReq"]> = {}): Caller {
  const context = { mcpReq: { id: 1, requestState: () => undefined, signal: options.signal, ...mcpReq } };
  return { era: "modern", capabilities: { elicitation: {} }, context } as Caller;
}

/** A call that asks one thing, and what became of it. */
function asking(flights: Flights, key = "k"): { first: Promise<Record<string, unknown>>; end: Promise<unknown> } {
  const { promise: end, resolve } = Promise.withResolvers<unknown>();
  const question = { key, method: "elicitation/create", params: {} } as const;
  const first = flights.follow(request(), FACTS, async () => {
    const answer = await flights.ask(question, { plugin: "p" }, options)!.catch((error) => (resolve(error), error));
    return { answer };
  });
  return { first, end };
}

test("N-029 a parked call ends when its client does not come back in time", async () => {
  const clock = createFakeClock();
  const flights = new Flights(clock);
  const { first, end } = asking(flights);
  const { requestState } = await first;
  clock.advance(PARKED_MS - 1);
  assert.equal(flights.all.length, 1);
  clock.advance(1);
  assert.equal((await end as Error).message, "The client did not come back");
  const late = request({ requestState: () => requestState, inputResponses: { k: ANSWER } });
  await assert.rejects(flights.follow(late, FACTS, () => Promise.resolve({})), { code: "mcp.request_state_invalid" });
});

test("N-029 the call that waits longest ends when a client lets too many wait", async () => {
  const flights = new Flights(createFakeClock());
  const calls = Array.from({ length: MAX_PARKED + 1 }, () => asking(flights));
  for (const { first } of calls) assert.equal((await first)["resultType"], "input_required");
  assert.equal((await calls[0]!.end as Error).message, "Too many calls wait for their client");
  await until(() => flights.all.length === MAX_PARKED, "the others alone", "turn");
});

test("N-029 a request that brings its answers with it is not asked, and each answer serves once", async () => {
  const flights = new Flights(createFakeClock());
  const question = { key: "name", method: "elicitation/create", params: {} } as const;
  const caller = request({ inputResponses: { name: ANSWER, other: ANSWER } });
  const first = await flights.follow(caller, FACTS, async () => {
    const one = await flights.ask(question, { plugin: "p" }, options);
    await flights.ask(question, { plugin: "p" }, options);
    return { one };
  });
  assert.deepEqual(first["inputRequests"], { name: { method: "elicitation/create", params: {} } });
  const again = request({ requestState: () => first["requestState"], inputResponses: { name: ANSWER } });
  assert.deepEqual(await flights.follow(again, FACTS, () => Promise.resolve({})), { one: ANSWER });
});

test("N-029 a question that comes while the call is parked is asked when the client comes back", async () => {
  const flights = new Flights(createFakeClock());
  const { promise: late, resolve: ask } = Promise.withResolvers<void>();
  const put = (key: string) =>
    flights.ask({ key, method: "elicitation/create", params: {} }, { plugin: "p" }, options)!;
  const work = async () => {
    const second = late.then(() => put("b"));
    return { all: [await put("a"), await second] };
  };
  const first = await flights.follow(request(), FACTS, work);
  assert.deepEqual(Object.keys(first["inputRequests"] as object), ["a"]);
  ask();
  const retry = request({ requestState: () => first["requestState"], inputResponses: { a: ANSWER } });
  const second = await flights.follow(retry, FACTS, work);
  assert.deepEqual(Object.keys(second["inputRequests"] as object), ["b"]);
  const last = request({ requestState: () => second["requestState"], inputResponses: { b: ANSWER } });
  assert.deepEqual(await flights.follow(last, FACTS, work), { all: [ANSWER, ANSWER] });
});

test("N-029 questions that come at once are asked at once, and those left open are asked again", async () => {
  const flights = new Flights(createFakeClock());
  const put = (key: string) =>
    flights.ask({ key, method: "elicitation/create", params: {} }, { plugin: "p" }, options)!;
  const work = async () => ({ all: await Promise.all([put("a"), put("b"), put("a")]) });
  const first = await flights.follow(request(), FACTS, work);
  const [a, b, again] = Object.keys(first["inputRequests"] as object);
  assert.deepEqual([a, b], ["a", "b"]);
  assert.match(again!, /^a-/, "two questions of one name are told apart");
  const half = request({ requestState: () => first["requestState"], inputResponses: { a: ANSWER, [again!]: ANSWER } });
  const second = await flights.follow(half, FACTS, work);
  assert.deepEqual(Object.keys(second["inputRequests"] as object), ["b"]);
  const whole = request({ requestState: () => second["requestState"], inputResponses: { b: ANSWER } });
  assert.deepEqual(await flights.follow(whole, FACTS, work), { all: [ANSWER, ANSWER, ANSWER] });
});

test("N-030 a question goes with the call of its tool, else of its plugin, and never to a client that takes none", async () => {
  const flights = new Flights(createFakeClock());
  const asked: unknown[] = [];
  const never = new Promise<never>(() => {});
  const legacy = (name: string, capabilities: object) => ({
    ...request({
      send: (sent) => {
        asked.push([name, sent.method]);
        return Promise.resolve(ANSWER);
      },
    }),
    era: "legacy",
    capabilities,
  } as Caller);
  const fly = (name: string, facts: Partial<CallFacts>, capabilities: object = { elicitation: {}, roots: {} }) =>
    void flights.follow(legacy(name, capabilities), { ...FACTS, ...facts }, () => never);
  fly("deaf", {}, {});
  fly("any", { plugin: null, tool: null });
  fly("plugin", { tool: "p.y" });
  fly("tool", {});
  const form = { key: "k", method: "elicitation/create", params: {} } as const;
  await flights.ask(form, { plugin: "p", tool: "p.x" }, options);
  await flights.ask({ ...form, method: "roots/list" }, { plugin: "p" }, options);
  await flights.ask(form, { plugin: "q" }, options);
  const by = asked.map((one) => (one as string[])[0]);
  assert.deepEqual(by, ["tool", "plugin", "any"]);
  assert.equal(flights.ask({ ...form, method: "sampling/createMessage" }, { plugin: "p" }, options), null);
  assert.equal(flights.ask({ ...form, params: { mode: "url" } }, { plugin: "p" }, options), null);
  flights.end();
});
