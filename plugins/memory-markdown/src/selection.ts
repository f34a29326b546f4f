/**
 * Which memories a model gets to see, and how much of them.
 *
 * @module
 */
import { byteLength } from "../../shared/digest.ts";
import type { Memory } from "./memory_file.ts";

/** The memories that fit, and the number of those that do not. */
export interface Fitting<T> {
  readonly chosen: T[];
  /** How many did not. */
  readonly omitted: number;
}

/**
 * Takes from the front what fits into `maxBytes`. What is too large for the room left is passed over, unless nothing
 * would be left at all: then the first is cut.
 */
export function fitting<T>(
  items: readonly T[],
  maxBytes: number,
  { size, cut }: { size: (item: T) => number; cut: (item: T, maxBytes: number) => T },
): Fitting<T> {
  const chosen: T[] = [];
  let left = maxBytes;
  for (const item of items) {
    const cost = size(item);
    if (cost > left) continue;
    chosen.push(item);
    left -= cost;
  }
  if (chosen.length === 0 && items.length > 0) chosen.push(cut(items[0]!, maxBytes));
  return { chosen, omitted: items.length - chosen.length };
}

/** Cuts a text to a number of bytes, at a character. */
export function cutText(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text;
  const bytes = new TextEncoder().encode(text).subarray(0, Math.max(0, maxBytes - 3));
  return `${new TextDecoder().decode(bytes).replace(/\uFFFD$/, "")}…`;
}

/** Facts about the work at hand when a session starts. */
export interface Occasion {
  /** Tags the agent cares for. */
  readonly tags: readonly string[];
  /** How well each memory fits the last session, by id, the best at 1. */
  readonly relevance: ReadonlyMap<string, number>;
}

/**
 * Orders memories for the start of a session: those with the agent's own tags, those that have to do with the last
 * session, the newer before the older.
 */
export function byRelevance(memories: readonly Memory[], { tags, relevance }: Occasion): Memory[] {
  const wanted = new Set(tags);
  const newestFirst = [...memories].sort((a, b) => a.created < b.created ? 1 : a.created > b.created ? -1 : 0);
  const score = (memory: Memory, age: number): number =>
    (memory.tags.some((tag) => wanted.has(tag)) ? 2 : 0) + (relevance.get(memory.id) ?? 0) +
    0.5 * (1 - age / newestFirst.length);
  return newestFirst.map((memory, age) => ({ memory, score: score(memory, age) }))
    .sort((a, b) => b.score - a.score).map(({ memory }) => memory);
}
