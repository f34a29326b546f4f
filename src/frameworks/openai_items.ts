/**
 * Items of the OpenAI Agents SDK as messages. One answer of a model is several items there: thoughts, texts and calls.
 * They are read as one message, because the API refuses a call without the thoughts that led to it.
 *
 * @module
 */
import type { Message } from "../core/compaction/messages.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { MessageForm } from "./messages.ts";

/** The parts of an `AgentInputItem` by which items are told apart. */
export interface InputItem {
  /** Absent: a message. */
  readonly type?: string | undefined;
  /** Who says it; messages alone have one. */
  readonly role?: string | undefined;
}

/** A message that a compaction added, as the SDK has it. */
export interface AddedItem {
  /** The kind of item. */
  type: "message";
  /** Most are the user's. */
  role: "system" | "user";
  /** A summary, or text of plugins. */
  content: string;
}

/** Items that stay or go together: one answer of the model, or any other item by itself. */
export interface Turn<I> {
  readonly items: readonly I[];
}

/** By first item: a window that is read again consists of the same turns. */
const TURNS = new WeakMap<object, Turn<unknown>>();

/** Returns items as turns. */
export function turnsOf<I extends InputItem>(items: readonly I[]): Turn<I>[] {
  const turns: I[][] = [];
  let isOpen = false;
  for (const item of items) {
    const isAnswer = isOfModel(item);
    if (isAnswer && isOpen) turns.at(-1)!.push(item);
    else turns.push([item]);
    isOpen = isAnswer;
  }
  return turns.map(turnOf);
}

/** Returns the items of turns. */
export function itemsOf<I>(turns: readonly Turn<I>[]): I[] {
  return turns.flatMap(({ items }) => items);
}

/** How turns are read and written. */
export function turnForm<I extends InputItem>(): MessageForm<Turn<I | AddedItem>> {
  return {
    read: ({ items }) => readTurn(items.map((item) => item as InputItem & Readonly<Record<string, unknown>>)),
    write: ({ role, content }) =>
      turnOf([{ type: "message", role: role === "system" ? role : "user", content: String(content) }]),
  };
}

/** Returns the call that an item answers; null for any other item. */
export function answeredCall(item: InputItem): string | null {
  const { type = "", callId } = item as InputItem & { readonly callId?: unknown };
  return /_(result|output)$/u.test(type) && typeof callId === "string" ? callId : null;
}

function turnOf<I extends object>(items: readonly I[]): Turn<I> {
  const known = TURNS.get(items[0]!) as Turn<I> | undefined;
  if (known?.items.length === items.length && known.items.every((item, index) => item === items[index])) return known;
  const turn = { items };
  TURNS.set(items[0]!, turn);
  return turn;
}

function isOfModel(item: InputItem): boolean {
  return answeredCall(item) === null && item.role !== "user" && item.role !== "system" && item.role !== "developer";
}

function readTurn(items: readonly (InputItem & Readonly<Record<string, unknown>>)[]): Message {
  const [first] = items;
  const call = answeredCall(first!);
  if (call !== null) return { role: "tool", content: contentOf(first!["output"]), tool_call_id: call };
  if (items.length === 1 && typeof first!.role === "string") {
    return { role: first!.role, content: contentOf(first!["content"]) };
  }
  const calls = items.filter(({ callId }) => typeof callId === "string");
  const said = items.filter(({ type }) => type !== "function_call");
  const parts = said.flatMap((item) => typeof item.role === "string" ? partsOf(contentOf(item["content"])) : [item]);
  return {
    role: "assistant",
    content: asText(parts),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ callId, type, name, arguments: args }) => ({
        id: String(callId),
        type: String(type),
        function: { name, arguments: args },
      })),
    }),
  };
}

/** Contents and outputs are texts, one part, or several. */
function contentOf(value: unknown): Message["content"] {
  if (typeof value === "string") return value;
  return asText((Array.isArray(value) ? value : [value]).filter(isMap));
}

/** Parts that are nothing but text are one: plugins read a text more easily. */
function asText(parts: readonly Readonly<Record<string, unknown>>[]): Message["content"] {
  const isText = parts.every(({ type, text }) =>
    /^(input_|output_)?text$/u.test(String(type)) && typeof text === "string"
  );
  return isText ? parts.map(({ text }) => text).join("\n") : parts;
}

function partsOf(content: Message["content"]): readonly Readonly<Record<string, unknown>>[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
