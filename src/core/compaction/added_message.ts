/**
 * Checks a message that a compactor adds.
 *
 * @module
 */
import type { Message } from "./messages.ts";
import { isToolTraffic } from "./tool_groups.ts";

const ROLES: ReadonlySet<unknown> = new Set(["system", "user", "assistant"]);
const HOST_FIELDS = ["tool_calls", "tool_call_id", "always_keep", "added_by"] as const;
const MAX_DEPTH = 32;

/** Returns what is wrong with a message without id that a compactor returned, or null. */
export function addedMessageFault(message: Readonly<Record<string, unknown>>): string | null {
  if (!isShallow(message)) return `it is nested deeper than ${MAX_DEPTH} levels`;
  if (hasProtoField(message)) return 'it has a field "__proto__"';
  if (!ROLES.has(message["role"])) return "its role is not system, user or assistant";
  const taken = HOST_FIELDS.find((field) => Object.hasOwn(message, field));
  if (taken) return `it has "${taken}", which only a message of the conversation can have`;
  const { content } = message;
  if (content === "" || (Array.isArray(content) && content.length === 0)) return "it is empty";
  if (typeof content !== "string" && !isPartList(content)) return "its content is neither text nor a list of parts";
  return isToolTraffic(message as unknown as Message) ? "it makes or answers a tool call" : null;
}

function isPartList(content: unknown): boolean {
  return Array.isArray(content) &&
    content.every((part) => typeof part === "object" && part !== null && !Array.isArray(part));
}

/** Looks level by level, without recursion: how deep it goes is what is in question. */
function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((each) => Object.values(Object(each)).filter((part) => typeof part === "object" && part));
  }
  return true;
}

function hasProtoField(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProtoField);
}
