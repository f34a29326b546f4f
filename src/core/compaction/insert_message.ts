/**
 * Puts a message into a window.
 *
 * @module
 */
import type { IdentifiedMessage } from "./messages.ts";
import { toolGroups } from "./tool_groups.ts";

/** Returns the window with `added` at `index`, or before the tool call whose results it would be parted from. */
export function insertMessage(
  messages: readonly IdentifiedMessage[],
  index: number,
  added: IdentifiedMessage,
): IdentifiedMessage[] {
  const spans = toolGroups(messages).map((group) => [group[0]!, group.at(-1)!] as const);
  let place = index;
  // Spans come in the order of their starts: from the last back, a step out of one may lead into one before it.
  for (const [first, last] of spans.reverse()) if (first < place && place <= last) place = first;
  return [...messages.slice(0, place), added, ...messages.slice(place)];
}

/** Returns the index of the first message that is not among the system messages at the start. */
export function afterSystem(messages: readonly IdentifiedMessage[]): number {
  const index = messages.findIndex(({ role }) => role !== "system");
  return index < 0 ? messages.length : index;
}
