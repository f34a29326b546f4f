/**
 * Which messages stay or go together: a tool call and its results.
 *
 * @module
 */
import type { Message } from "./messages.ts";

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
