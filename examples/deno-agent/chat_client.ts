/**
 * A client of OpenAI-compatible chat endpoints: streaming, with tools.
 *
 * @module
 */
import type { Message } from "../../mod.ts";

/** A chat endpoint. */
export interface Endpoint {
  /** Address up to `/chat/completions`. */
  readonly url: string;
  /** Sent as a bearer token, unless it is empty. */
  readonly key: string;
  /** Model to ask for. */
  readonly model: string;
}

/** A tool as chat endpoints take it. */
export interface ChatTool {
  /** Always this. */
  readonly type: "function";
  /** The tool. */
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
}

/** A tool the model wants called. */
export interface ToolCall {
  /** Names the call. */
  id: string;
  /** Always this. */
  type: "function";
  /** The tool and its arguments, in JSON. */
  function: { name: string; arguments: string };
  /** Chat endpoints may add fields. */
  [field: string]: unknown;
}

/** A model's answer. */
export interface Reply {
  /** Its words. */
  content: string;
  /** Tools it wants called. */
  tool_calls: ToolCall[];
}

/** Asks a chat endpoint and hands its words over as they come. */
export async function streamReply(
  { url, key, model }: Endpoint,
  { messages, tools }: { messages: readonly Message[]; tools: readonly ChatTool[] },
  onText: (piece: string) => void,
): Promise<Reply> {
  const sent = messages.map(({ role, content, tool_calls, tool_call_id }) => ({
    role,
    content,
    tool_calls,
    tool_call_id,
  }));
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ model, messages: sent, stream: true, ...(tools.length > 0 ? { tools } : {}) }),
  }).catch((cause) => {
    throw new Error(`Cannot reach ${url}: ${cause.cause?.message || cause.message}`, { cause });
  });
  if (!response.ok || !response.body) {
    throw new Error(`${url} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  }
  const reply: Reply = { content: "", tool_calls: [] };
  for await (const data of eventData(response.body)) {
    if (data === "[DONE]") break;
    const { content, tool_calls = [] } = JSON.parse(data).choices?.[0]?.delta ?? {};
    if (content) onText(content);
    reply.content += content ?? "";
    for (const { index = 0, id, function: { name = "", arguments: json = "" } = {} } of tool_calls) {
      const call = reply.tool_calls[index] ??= { id: "", type: "function", function: { name: "", arguments: "" } };
      call.id ||= id ?? "";
      call.function.name += name;
      call.function.arguments += json;
    }
  }
  // Some endpoints count from 1, and some give no id.
  reply.tool_calls = reply.tool_calls.filter(Boolean).map((call) => ({ ...call, id: call.id || crypto.randomUUID() }));
  return reply;
}

/** The data of each server-sent event. */
async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith("data:")) yield line.slice("data:".length).trim();
  }
}
