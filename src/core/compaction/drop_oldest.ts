/**
 * Chooses the messages that a compaction is about, and drops the oldest, which is the strategy `drop`.
 *
 * @module
 */
import type { CompactionSettings } from "../project/types.ts";
import { type CountTokens, type IdentifiedMessage, type Size, sizeOf } from "./messages.ts";
import { toolGroups } from "./tool_groups.ts";

/** Bounds of the new window; null sets none. */
export interface CompactionTarget {
  readonly tokens: number | null;
  readonly messages: number | null;
}

/** Bounds of the drop. */
export interface DropOptions {
  readonly target: CompactionTarget;
  /** Ids of messages that stay, and with each all that belongs to its tool calls. */
  readonly keep: ReadonlySet<string>;
  readonly countTokens: CountTokens;
}

/** The messages that stay, and the ids of the others. */
export interface Dropped {
  readonly messages: IdentifiedMessage[];
  readonly superseded: string[];
}

/**
 * Drops the oldest messages, a tool call with its results at once, until the rest is within the target or nothing more
 * may go.
 */
export function dropOldest(messages: readonly IdentifiedMessage[], options: DropOptions): Dropped {
  const { target, keep, countTokens } = options;
  const size = { ...sizeOf(messages, countTokens) };
  const dropped = new Set<number>();
  for (const group of toolGroups(messages)) {
    if (isWithin(size, target)) break;
    if (group.some((index) => keep.has(messages[index]!.id))) continue;
    for (const index of group) {
      dropped.add(index);
      size.messages--;
      size.tokens -= countTokens(messages[index]!);
    }
  }
  return {
    messages: messages.filter((_, index) => !dropped.has(index)),
    superseded: messages.filter((_, index) => dropped.has(index)).map(({ id }) => id),
  };
}

/** Whether a size is no more than the target. */
export function isWithin(size: { messages: number; tokens: number }, target: CompactionTarget): boolean {
  return size.tokens <= (target.tokens ?? Infinity) && size.messages <= (target.messages ?? Infinity);
}

/** The two parts of a window, each in order. */
export interface SplitWindow {
  /** Those that may go when a compactor decides, or will go when a strategy does. */
  readonly beingCompacted: IdentifiedMessage[];
  readonly remaining: IdentifiedMessage[];
}

/** The rules of a split. */
interface SplitOptions extends DropOptions {
  /** A compactor plugin, or a strategy. */
  readonly decidedBy: "compactor" | CompactionSettings["strategy"];
}

/** Most tokens that the strategies keep free for a summary, and as many for text of observers. */
const MOST_RESERVED = 2000;

/** Returns a target with room left in it for text that is added later, and for so many messages that hold it. */
export function withRoom(target: CompactionTarget, reserve: { readonly messages: number }): CompactionTarget {
  const { tokens, messages } = target;
  return {
    tokens: tokens === null ? null : tokens - Math.min(MOST_RESERVED, tokens / 4),
    messages: messages === null ? null : Math.max(0, messages - reserve.messages),
  };
}

/**
 * Splits a window. A compactor chooses for itself, so it is offered everything that need not stay; the strategies take
 * the oldest, as much as the target asks for, and `summarize` a little more to make room for the summary.
 */
export function splitForCompaction(messages: readonly IdentifiedMessage[], options: SplitOptions): SplitWindow {
  const { decidedBy, keep } = options;
  const goes = decidedBy === "compactor"
    ? new Set(messages.filter(({ id }) => !keep.has(id)).map(({ id }) => id))
    : new Set(droppable(messages, options));
  return {
    beingCompacted: messages.filter(({ id }) => goes.has(id)),
    remaining: messages.filter(({ id }) => !goes.has(id)),
  };
}

function droppable(messages: readonly IdentifiedMessage[], options: SplitOptions): string[] {
  const { decidedBy, target } = options;
  const { superseded } = dropOldest(messages, options);
  if (decidedBy === "drop" || superseded.length === 0 || target.tokens === null) return superseded;
  return dropOldest(messages, { ...options, target: withRoom(target, { messages: 0 }) }).superseded;
}

/** Returns the bounds of the new window: the caller's wish, else the agent's own target, else half of what there is. */
export function compactionTarget(
  targetTokens: number | undefined,
  settings: CompactionSettings,
  before: Size,
): CompactionTarget {
  const tokens = targetTokens ?? settings.target_tokens;
  const messages = settings.target_messages;
  return tokens === null && messages === null
    ? { tokens: Math.floor(before.tokens / 2), messages }
    : { tokens, messages };
}
