/**
 * Messages of the AI SDK: those that agents keep (`ModelMessage`), and those that middleware of models is given
 * (`LanguageModelV4Message`). Calls, results and approvals are the same parts in both.
 *
 * @module
 */
import type { Message } from "../core/compaction/messages.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { MessageForm } from "./messages.ts";
import { withoutBytes } from "./without_bytes.ts";

/** A message of the AI SDK, as far as it is read here. */
export interface AiMessage {
  /** `system`, `user`, `assistant` or `tool`. */
  readonly role: string;
  /** Text, or parts. */
  readonly content: string | readonly object[];
}

type Part = Readonly<Record<string, unknown>>;

/** How a compaction reads and writes them. */
export const FORM: MessageForm<AiMessage> = {
  read({ role, content }) {
    if (typeof content === "string") return { role, content };
    const parts = (content as readonly Part[]).map(withoutBytes);
    const requests = parts.filter(({ type }) => type === "tool-approval-request");
    const response = parts.find(({ type }) => type === "tool-approval-response");
    return {
      role,
      content: parts,
      // The SDK refuses an answer whose question is gone: they stay together as a call and its result do.
      ...(requests.length > 0 && { tool_calls: requests.map(({ approvalId }) => ({ id: String(approvalId) })) }),
      ...(response && { tool_call_id: String(response["approvalId"]) }),
    };
  },
  // Never `system`: the SDK takes instructions apart from the messages.
  write: ({ content }: Message) => ({ role: "user", content: [{ type: "text", text: String(content) }] }),
};

/**
 * Whether a person approved a call: the last message answers yes to the very question that was put about this call, and
 * no program answered it.
 */
export function isApproved(messages: readonly AiMessage[], toolCallId: string): boolean {
  const last = messages.at(-1);
  if (last?.role !== "tool") return false;
  const approved = partsOf(last, "tool-approval-response").filter((part) => part["approved"] === true);
  const ids = new Set(approved.map(({ approvalId }) => approvalId));
  return messages.some((message) =>
    message.role === "assistant" &&
    partsOf(message, "tool-approval-request").some((part) =>
      part["toolCallId"] === toolCallId && part["isAutomatic"] !== true && ids.has(part["approvalId"])
    )
  );
}

/** Returns the calls that a person has denied, with the reason. */
export function deniedCalls(messages: readonly AiMessage[]): { readonly id: string; readonly reason?: string }[] {
  return messages.flatMap((message) => message.role === "tool" ? partsOf(message, "tool-result") : [])
    .flatMap(({ toolCallId, output }) => {
      if (!isMap(output) || output["type"] !== "execution-denied" || typeof toolCallId !== "string") return [];
      const { reason } = output;
      return [{ id: toolCallId, ...(typeof reason === "string" && { reason }) }];
    });
}

function partsOf({ content }: AiMessage, type: string): Part[] {
  return typeof content === "string" ? [] : (content as readonly Part[]).filter((part) => part["type"] === type);
}
