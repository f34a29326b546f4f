/**
 * Tools and windows of a session in the shapes of the models' own APIs, for loops without a framework: Anthropic's
 * Messages, OpenAI's Chat Completions and Responses. No client is loaded. Where a call needs a person's yes, the host
 * asks (`onAsk` of the call or of the host, `kaged approvals`, the console) and the call waits.
 *
 * @module
 */
import type { Message } from "../core/compaction/messages.ts";
import type { CompactionResult } from "../core/compaction/types.ts";
import type { Session } from "../host/types.ts";
import { compactMessages, type CompactOptions } from "./messages.ts";
import { withoutBytes } from "./without_bytes.ts";

export type { SessionToolsOptions } from "./session_tools.ts";
export type { PlainCallOptions } from "./plain_calls.ts";
export * from "./anthropic_tools.ts";
export * from "./openai_tools.ts";
export type { CompactOptions };

/**
 * Makes a window smaller: `MessageParam[]` of Anthropic, `ChatCompletionMessageParam[]` or `ResponseInputItem[]` of
 * OpenAI. Messages that stay are the objects that were given; one that is added is the user's. Calls stay with their
 * results, and reasoning with the item that it led to.
 */
export async function compact<M extends object>(
  session: Session,
  messages: readonly M[],
  options?: CompactOptions,
): Promise<CompactionResult<M>> {
  const reasons = reasonsIn(messages);
  const form = {
    read: (item: M) => readItem(item, reasons.get(item)),
    write: ({ content }: Message) => ({ role: "user", content }) as object as M,
  };
  return await compactMessages(session, messages, form, options);
}

type Item = Readonly<Record<string, unknown>>;

const CALLS = ["function_call", "custom_tool_call"];
const RESULTS = ["function_call_output", "custom_tool_call_output"];

/** The Responses API refuses reasoning without the items of its answer, and these items without their reasoning. */
function reasonsIn(items: readonly object[]): Map<object, string> {
  const reasons = new Map<object, string>();
  let reason: string | undefined;
  for (const item of items) {
    const { type, role } = item as Item;
    if (RESULTS.includes(String(type)) || (role !== undefined && role !== "assistant")) reason = undefined;
    if (reason !== undefined) reasons.set(item, reason);
    reason = reasonOf(item) ?? reason;
  }
  return reasons;
}

function reasonOf(item: object): string | undefined {
  const { type, id } = item as Item;
  return type === "reasoning" ? `reasoning ${String(id)}` : undefined;
}

function readItem(item: object, reason: string | undefined): Message {
  const { id, role, type, content, tool_calls, tool_call_id, call_id, ...rest } = withoutBytes(item) as Item;
  const led = reasonOf(item);
  const made = CALLS.includes(String(type)) ? [{ id: String(call_id) }] : [];
  const isResult = RESULTS.includes(String(type));
  const calls = [
    ...(Array.isArray(tool_calls) ? tool_calls : []),
    ...made,
    ...(led === undefined ? [] : [{ id: led }]),
  ];
  const answers = tool_call_id ?? (isResult ? call_id : reason);
  return {
    ...(typeof id === "string" && { id }),
    role: typeof role === "string" ? role : isResult ? "tool" : "assistant",
    content: typeof content === "string" || Array.isArray(content) ? content : [{ type, ...rest }],
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(typeof answers === "string" && { tool_call_id: answers }),
  };
}
