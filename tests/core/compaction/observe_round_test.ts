import assert from "node:assert/strict";
import { test } from "node:test";
import { observeRound } from "../../../src/core/compaction/observe_round.ts";
import type { CompactionPlugin, ObserverQuestion } from "../../../src/core/compaction/types.ts";

function stage(): { question: ObserverQuestion; asked: string[]; errors: unknown[] } {
  const asked: string[] = [];
  const observers = ["a", "b"].map((key) => ({ key }) as CompactionPlugin);
  const ask = ({ key }: CompactionPlugin): Promise<string | null> => {
    asked.push(key);
    return key === "b" ? Promise.reject(new Error("gone")) : Promise.resolve(`<${key}>`);
  };
  const question = { hook: "pre_compact", params: {}, window: [], before: {}, after: null, observers, ask };
  return { question: question as unknown as ObserverQuestion, asked, errors: [] };
}

test("K-021 K-024 without a port of its own a round asks each observer in turn; one that fails says nothing", async () => {
  const { question, asked, errors } = stage();
  const round = await observeRound(question, undefined, (error) => errors.push(error));
  assert.deepEqual([round, asked, errors], [{ texts: ["<a>"], blocked: null }, ["a", "b"], []]);
});

test("K-024 a port that fails half-way is told of, and the others are still asked, each once", async () => {
  const { question, asked, errors } = stage();
  const broken = async ({ observers, ask }: ObserverQuestion): Promise<never> => {
    await ask(observers[0]!);
    throw new Error("half-way");
  };
  const { blocked } = await observeRound(question, broken, (error) => errors.push(String(error)));
  assert.deepEqual([blocked, asked, errors], [null, ["a", "b"], ["Error: half-way"]]);
});
