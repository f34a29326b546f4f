/**
 * Counts of tokens in the usage of an answer, by any of the names that model APIs and frameworks give them.
 *
 * @module
 */
import { isMap } from "../core/values/plain_data.ts";
import type { TokenUsage } from "./types.ts";

/** Names in the order they are looked for. */
const PROMPT = ["promptTokens", "inputTokens", "prompt_tokens", "input_tokens"];
const COMPLETION = ["completionTokens", "outputTokens", "completion_tokens", "output_tokens"];

/** Reads the counts of an answer's usage; zeros where it has none. */
export function tokensIn(usage: unknown): Omit<TokenUsage, "totalTokens"> {
  return { promptTokens: count(usage, PROMPT), completionTokens: count(usage, COMPLETION) };
}

function count(usage: unknown, names: readonly string[]): number {
  if (!isMap(usage)) return 0;
  const counts = names.map((name) => usage[name]).map((value) => isMap(value) ? value["total"] : value);
  return counts.find((value): value is number => typeof value === "number" && Number.isFinite(value)) ?? 0;
}
