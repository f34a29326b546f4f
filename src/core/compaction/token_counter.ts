/**
 * Counting tokens with a function somebody else wrote.
 *
 * @module
 */
import { type CountTokens, countTokens as countRoughly, type Message } from "./messages.ts";

/**
 * Returns a count that asks once for each message and always gives a number of at least 0: where `count` throws or
 * gives none, the rough count stands in.
 */
export function tokenCounter(count: CountTokens): CountTokens {
  const known = new WeakMap<Message, number>();
  return (message) => {
    const before = known.get(message);
    if (before !== undefined) return before;
    const tokens = countedBy(count, message) ?? countedBy(countRoughly, message) ?? 0;
    known.set(message, tokens);
    return tokens;
  };
}

function countedBy(count: CountTokens, message: Message): number | null {
  try {
    const tokens = count(message);
    return Number.isFinite(tokens) && tokens >= 0 ? tokens : null;
  } catch {
    return null;
  }
}
