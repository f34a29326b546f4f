/**
 * Which messages stay or go together: a tool call and its results.
 *
 * @module
 */
import type { IdentifiedMessage, Message } from "./messages.ts";

/**
 * Returns the messages as groups of indices: a message that calls tools with every result of these calls, any other
 * message by itself. Groups come in the order of their first message, indices ascend. A result belongs to the nearest
 * call before it that has its id, for some models use ids again; a result of no call stands alone.
 */
export function toolGroups(messages: readonly Message[]): number[][] {
  const leaders = messages.map((_, index) => index);
  const leaderOf = (index: number): number => {
    while (leaders[index] !== index) index = leaders[index] = leaders[leaders[index]!]!;
    return index;
  };
  const callers = new Map<string, number>();
  messages.forEach((message, index) => {
    for (const id of answeredCalls(message)) {
      const caller = callers.get(id);
      if (caller === undefined) continue;
      const [first, last] = [leaderOf(caller), leaderOf(index)].sort((a, b) => a - b) as [number, number];
      leaders[last] = first;
    }
    for (const id of calls(message)) callers.set(id, index);
  });
  const groups = new Map<number, number[]>();
  leaders.forEach((_, index) => {
    const leader = leaderOf(index);
    const group = groups.get(leader);
    if (group) group.push(index);
    else groups.set(leader, [index]);
  });
  return [...groups.values()];
}

/** Whether a message calls a tool or answers a call. */
export function isToolTraffic(message: Message): boolean {
  return calls(message).length > 0 || answeredCalls(message).length > 0;
}

/** Ids of the tool calls a message makes, in the fields of chat APIs or in parts of its content. */
function calls({ tool_calls, content }: Message): string[] {
  const listed = Array.isArray(tool_calls) ? tool_calls.map((call) => Object(call).id) : [];
  const inParts = partsOf(content).map(({ type, id, toolCallId }) =>
    type === "tool_use" ? id : type === "tool-call" ? toolCallId : null
  );
  return [...listed, ...inParts].filter((id) => typeof id === "string");
}

/** Ids of the tool calls a message answers. */
function answeredCalls({ tool_call_id, content }: Message): string[] {
  const inParts = partsOf(content).map(({ type, tool_use_id, toolCallId }) =>
    type === "tool_result" ? tool_use_id : type === "tool-result" ? toolCallId : null
  );
  return [tool_call_id, ...inParts].filter((id) => typeof id === "string");
}

function partsOf(content: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(content) ? content.map((part) => Object(part)) : [];
}

/**
 * Returns the ids of the messages that always stay: system messages, those marked `always_keep`, the newest
 * `keepLast`, and all that belongs to a tool call with one of them. A system message that a compaction added is not
 * kept for its role, or summaries would pile up.
 */
export function alwaysKeepIds(messages: readonly IdentifiedMessage[], keepLast: number): Set<string> {
  const staysItself = ({ role, always_keep, added_by }: IdentifiedMessage, index: number): boolean =>
    (isInstruction(role) && added_by === undefined) || always_keep === true || index >= messages.length - keepLast;
  const kept = messages.map(staysItself);
  const keptGroups = toolGroups(messages).filter((group) => group.some((index) => kept[index]));
  return new Set(keptGroups.flat().map((index) => messages[index]!.id));
}

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
  const index = messages.findIndex(({ role }) => !isInstruction(role));
  return index < 0 ? messages.length : index;
}

/** Whether messages of a role instruct the model: some chat APIs call `developer` what others call `system`. */
function isInstruction(role: string): boolean {
  return role === "system" || role === "developer";
}
