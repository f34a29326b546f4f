/**
 * The `compaction:` block of an agent: how its window is compacted.
 *
 * @module
 */
import { type Fields, SOME_TEXT, type ValueType } from "../documents/fields.ts";
import type { CompactionSettings } from "./types.ts";

/** Settings of an agent without a `compaction:` block. */
const DEFAULT_COMPACTION: CompactionSettings = {
  strategy: "drop",
  delegate: null,
  target_tokens: null,
  target_messages: null,
  keep_last: 4,
};

/** Reads the block. Mistakes go to the report of its file. */
export function checkCompaction(agent: Fields): CompactionSettings {
  const block = agent.fields("compaction");
  block.expectKeys(Object.keys(DEFAULT_COMPACTION));
  const count = (key: string, least: number): number | null =>
    block.data[key] === null ? null : block.get(key, wholeNumber(least)) ?? null;
  return {
    strategy: block.choice("strategy", ["drop", "summarize"]) ?? DEFAULT_COMPACTION.strategy,
    delegate: delegateIn(block),
    target_tokens: count("target_tokens", 1),
    target_messages: count("target_messages", 1),
    keep_last: count("keep_last", 0) ?? DEFAULT_COMPACTION.keep_last,
  };
}

function delegateIn(block: Fields): string | null {
  if ((block.data.delegate ?? null) === null) return null;
  const delegate = block.fields("delegate", { hint: "Write delegate: { plugin: <key> }" });
  delegate.expectKeys(["plugin"]);
  return delegate.require("plugin", SOME_TEXT) ?? null;
}

function wholeNumber(least: number): ValueType<number> {
  return {
    name: `a whole number of at least ${least}`,
    reason: "invalid_value",
    fits: (value): value is number => Number.isSafeInteger(value) && value as number >= least,
  };
}
