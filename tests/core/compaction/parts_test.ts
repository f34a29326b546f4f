import assert from "node:assert/strict";
import { test } from "node:test";
import { askForSummary } from "../../../src/core/compaction/ask_for_summary.ts";
import { compactionTarget, splitForCompaction } from "../../../src/core/compaction/drop_oldest.ts";
import { assignIds, countTokens, type Message, sizeOf, tokenCounter } from "../../../src/core/compaction/messages.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { answer, call, idsOf, message } from "./conversations.ts";

const settings = {
  strategy: "drop",
  delegate: null,
  target_tokens: null,
  target_messages: null,
  keep_last: 0,
} as const;
const counting = (prefix = "m") => {
  let last = 0;
  return { create: () => `${prefix}${++last}` };
};

test("countTokens() is a quarter of the bytes of a message's JSON, rounded up", () => {
  const plain = { role: "user", content: "hi" }; // {"role":"user","content":"hi"} has 30 bytes.
  assert.equal(countTokens(plain), 8);
  assert.equal(countTokens({ role: "user", content: "h€" }), 8); // 32 bytes: the euro sign takes three.
  assert.equal(countTokens({ role: "user", content: "h€!" }), 9);
  assert.deepEqual(sizeOf([plain, plain], countTokens), { messages: 2, tokens: 16 });
});

test("tokenCounter() asks once for each message", () => {
  let asked = 0;
  const count = tokenCounter(() => ++asked);
  const [one, other] = [message("a user"), message("b user")];
  assert.deepEqual([count(one), count(other), count(one)], [1, 2, 1]);
});

test("tokenCounter() counts roughly where the given count throws or gives no number", () => {
  const counts = [() => NaN, () => -1, () => Infinity, () => "7" as never, () => undefined as never, () => {
    throw new Error("broken");
  }];
  for (const count of counts) assert.equal(tokenCounter(count)({ role: "user", content: "hi" }), 8);
  const circle: Record<string, unknown> = { role: "user", content: "x" };
  circle["self"] = circle;
  assert.equal(tokenCounter(countTokens)(circle as unknown as Message), 0);
});

test("assignIds() gives an id to messages that have none and leaves the others as they are", () => {
  const own = message("own user");
  const given = assignIds(
    [{ role: "user", content: "x" }, own, { id: null, role: "user", content: "y" } as never],
    counting(),
  );
  assert.equal(idsOf(given), "m1 own m2");
  assert.equal(given[1], own);
});

test("assignIds() refuses what is no message and ids that are used twice", () => {
  const wrong: unknown[][] = [[null], ["text"], [{ content: "no role" }], [{ id: 5, role: "user", content: "x" }], [
    { id: "", role: "user", content: "x" },
  ], [message("a user"), message("a user")]];
  for (const messages of wrong) {
    assert.throws(() => assignIds(messages as Message[], counting()), { name: "HostError", code: "host.misuse" });
  }
});

test("compactionTarget() is the caller's, else the agent's, else half of what there is", () => {
  const before = { messages: 10, tokens: 101 };
  assert.deepEqual(compactionTarget(5, { ...settings, target_tokens: 9 }, before), { tokens: 5, messages: null });
  assert.deepEqual(compactionTarget(undefined, { ...settings, target_tokens: 9 }, before), {
    tokens: 9,
    messages: null,
  });
  assert.deepEqual(compactionTarget(undefined, { ...settings, target_messages: 3 }, before), {
    tokens: null,
    messages: 3,
  });
  assert.deepEqual(compactionTarget(undefined, settings, before), { tokens: 50, messages: null });
});

test("K-021 splitForCompaction() offers a compactor all that need not stay, and takes for a strategy what it will drop", () => {
  const window = ["s system", "u1 user", "u2 user", "u3 user", "u4 user"].map((text) => message(text));
  const split = (decidedBy: "compactor" | "drop" | "summarize", tokens: number) => {
    const options = {
      decidedBy,
      target: { tokens, messages: null },
      keep: new Set(["s", "u4"]),
      countTokens: () => 100,
    };
    const { beingCompacted, remaining } = splitForCompaction(window, options);
    return `${idsOf(beingCompacted)} | ${idsOf(remaining)}`;
  };
  assert.equal(split("compactor", 400), "u1 u2 u3 | s u4");
  assert.equal(split("drop", 400), "u1 | s u2 u3 u4");
  assert.equal(split("summarize", 400), "u1 u2 | s u3 u4");
  assert.equal(split("drop", 500), " | s u1 u2 u3 u4");
  assert.equal(split("summarize", 500), " | s u1 u2 u3 u4");
});

test("K-021 splitForCompaction() leaves a tool call whole", () => {
  const window = [call("a", "c1"), message("u user"), answer("t", "c1")];
  const options = { target: { tokens: null, messages: 2 }, keep: new Set<string>(), countTokens: () => 1 };
  const { beingCompacted } = splitForCompaction(window, { decidedBy: "drop", ...options });
  assert.equal(idsOf(beingCompacted), "a t");
});

test("askForSummary() gives the summary and lets go of its timer", async () => {
  const clock = createFakeClock();
  const asked = askForSummary([message("u user")], {
    clock,
    summarize: (each) => Promise.resolve(`${each.length} left`),
  });
  assert.deepEqual(await asked, { ok: true, summary: "1 left" });
  assert.equal(clock.waiting, 0);
});

test("askForSummary() says why there is no summary", async () => {
  const clock = createFakeClock();
  const reasonOf = async (summarize?: () => Promise<string>) => {
    const asked = await askForSummary([], summarize ? { clock, summarize } : { clock });
    return asked.ok ? null : asked.reason;
  };
  assert.equal(await reasonOf(), "summarize_missing");
  assert.equal(await reasonOf(() => Promise.reject(new Error("no model"))), "summarize_failed");
  assert.equal(
    await reasonOf(() => {
      throw new Error("no model");
    }),
    "summarize_failed",
  );
  for (const odd of ["", " \n", null, 5]) {
    assert.equal(await reasonOf(() => Promise.resolve(odd as string)), "summarize_failed");
  }
  assert.equal(clock.waiting, 0);
});

test("askForSummary() stops waiting when its time is over, aborts, and ignores what comes later", async () => {
  const clock = createFakeClock();
  const { promise, reject } = Promise.withResolvers<string>();
  let signal: AbortSignal | undefined;
  const asked = askForSummary([], {
    clock,
    summarizeTimeoutMs: 500,
    summarize: (_, context) => {
      signal = context.signal;
      return promise;
    },
  });
  await Promise.resolve();
  clock.advance(499);
  assert.equal(signal?.aborted, false);
  clock.advance(1);
  const answer = await asked;
  assert.equal(!answer.ok && answer.reason, "summarize_timeout");
  assert.equal(signal?.aborted, true);
  reject(new Error("too late"));
  await Promise.resolve();
});
