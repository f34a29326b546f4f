/**
 * The strategy `drop`: the oldest messages go.
 *
 * @module
 */
import type { CountTokens, IdentifiedMessage } from "./messages.ts";
import { sizeOf } from "./messages.ts";
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
