/**
 * Tools in the shapes of OpenAI's two APIs: Chat Completions, which many other providers have too, and Responses.
 *
 * @module
 */
import type { Session } from "../host/types.ts";
import { type PlainCallOptions, plainTools } from "./plain_calls.ts";
import { type ResultPart, type SessionResult, textOfParts } from "./result_parts.ts";
import type { SessionToolsOptions } from "./session_tools.ts";

/** A tool, as `tools` of a request to Chat Completions takes it. */
export interface ChatTool {
  /** The kind of tool. */
  type: "function";
  /** Name, text for the model, and JSON Schema of its arguments. */
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** A call, as it stands in `tool_calls` of an answer. Those of other kinds are no calls of these tools. */
export interface ChatToolCall {
  /** The model's id of the call. */
  readonly id: string;
  /** `function`, for a call of these tools. */
  readonly type: string;
  /** The tool's name, and its arguments as JSON. */
  readonly function?: { readonly name: string; readonly arguments: string };
}

/** The result of a call. */
export interface ChatToolMessage {
  /** The kind of message. */
  role: "tool";
  /** The call that it answers. */
  tool_call_id: string;
  /** The API takes no more than text here: pictures and files are named. */
  content: string;
}

/** A part of a message of the user. */
export type ChatContentPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** Pictures, sound and files of results: Chat Completions takes them from the user alone. */
export interface ChatUserMessage {
  /** The kind of message. */
  role: "user";
  /** A text that says which tool gave them, and they themselves. */
  content: ChatContentPart[];
}

/** The tools of a session for Chat Completions. */
export interface OpenaiTools {
  /** For `tools` of a request. */
  readonly tools: ChatTool[];
  /** Whether a tool of that name is one of them. */
  has(name: string): boolean;
  /** Makes one call. A failure is a result that the model can read; rejects only when `signal` aborts. */
  call(toolCall: ChatToolCall, options?: PlainCallOptions): Promise<ChatToolMessage>;
  /**
   * Makes all calls of an answer at once, and returns the messages that follow it: a result for each, then, where
   * results hold pictures, sound or files, a message of the user with them.
   */
  all(
    toolCalls: readonly ChatToolCall[] | null | undefined,
    options?: PlainCallOptions,
  ): Promise<(ChatToolMessage | ChatUserMessage)[]>;
}

/** Returns the tools that a session has now, in the shapes of Chat Completions. */
export function openaiTools(session: Session, options: SessionToolsOptions = {}): OpenaiTools {
  const plain = plainTools(session, options);
  const made = (toolCall: ChatToolCall, callOptions: PlainCallOptions = {}): Promise<SessionResult> => {
    const { name, arguments: json } = toolCall.function ?? { name: toolCall.type, arguments: "" };
    return plain.call({ id: toolCall.id, name, json }, callOptions);
  };
  return {
    tools: plain.list.map(({ name, description, parameters }) => {
      return { type: "function", function: { name, description, parameters: { ...parameters } } };
    }),
    has: plain.has,
    call: async (toolCall, callOptions) => toolMessage(toolCall, await made(toolCall, callOptions)),
    async all(toolCalls, callOptions) {
      const calls = toolCalls ?? [];
      const results = await Promise.all(calls.map((toolCall) => made(toolCall, callOptions)));
      const shown = results.flatMap((result, index) => shownParts(calls[index]!, result));
      return [
        ...results.map((result, index) => toolMessage(calls[index]!, result)),
        ...(shown.length > 0 ? [{ role: "user", content: shown } as const] : []),
      ];
    },
  };
}

function toolMessage({ id }: ChatToolCall, { parts }: SessionResult): ChatToolMessage {
  return { role: "tool", tool_call_id: id, content: textOfParts(parts) };
}

function shownParts(call: ChatToolCall, { parts }: SessionResult): ChatContentPart[] {
  const shown = parts.map(chatPart).filter((part) => part !== null);
  const text = `The tool ${call.function?.name} returned with its result ${call.id}:`;
  return shown.length > 0 ? [{ type: "text", text }, ...shown] : [];
}

/** Returns a part that is more than text, where the API has a form of it. */
function chatPart(part: ResultPart): ChatContentPart | null {
  if (part.type === "image") return { type: "image_url", image_url: { url: dataUrl(part) } };
  if (part.type === "audio") {
    const format = part.mediaType === "audio/mpeg" ? "mp3" : part.mediaType.endsWith("wav") ? "wav" : null;
    return format && { type: "input_audio", input_audio: { data: part.data, format } };
  }
  if (part.type !== "file") return null;
  return { type: "file", file: { filename: part.name, file_data: dataUrl(part) } };
}

/** A tool, as `tools` of a request to Responses takes it. */
export interface ResponsesTool {
  /** The kind of tool. */
  type: "function";
  /** Of `^[a-zA-Z0-9_-]{1,64}$`. */
  name: string;
  /** Text for the model. */
  description: string;
  /** JSON Schema of its arguments. */
  parameters: Record<string, unknown>;
  /** Schemas of plugins need not be of the kind that `strict` takes; the host checks every call. */
  strict: false;
}

/** A call, as it stands in the output of a response. */
export interface ResponsesCall {
  /** `function_call`. */
  readonly type: string;
  /** The model's id of the call. */
  readonly call_id: string;
  /** The tool's name. */
  readonly name: string;
  /** Its arguments as JSON. */
  readonly arguments: string;
}

/** A part of a result. */
export type ResponsesOutputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; filename: string; file_data: string };

/** The result of a call. */
export interface ResponsesCallOutput {
  /** The kind of item. */
  type: "function_call_output";
  /** The call that it answers. */
  call_id: string;
  /** Text, or parts where there are pictures or files. */
  output: string | ResponsesOutputPart[];
}

/** The tools of a session for the Responses API. */
export interface ResponsesTools {
  /** For `tools` of a request. */
  readonly tools: ResponsesTool[];
  /** Whether a tool of that name is one of them. */
  has(name: string): boolean;
  /** Makes one call. A failure is a result that the model can read; rejects only when `signal` aborts. */
  call(call: Omit<ResponsesCall, "type">, options?: PlainCallOptions): Promise<ResponsesCallOutput>;
  /** Makes every call in the output of a response, all at once, and returns the items that follow it. */
  all(
    output: readonly (ResponsesCall | { readonly type: string })[],
    options?: PlainCallOptions,
  ): Promise<ResponsesCallOutput[]>;
}

/** Returns the tools that a session has now, in the shapes of the Responses API. */
export function responsesTools(session: Session, options: SessionToolsOptions = {}): ResponsesTools {
  const plain = plainTools(session, options);
  const call: ResponsesTools["call"] = async ({ call_id, name, arguments: json }, callOptions = {}) => {
    const { parts } = await plain.call({ id: call_id, name, json }, callOptions);
    return { type: "function_call_output", call_id, output: responsesOutput(parts) };
  };
  return {
    tools: plain.list.map(({ name, description, parameters }) => {
      return { type: "function", name, description, parameters: { ...parameters }, strict: false };
    }),
    has: plain.has,
    call,
    async all(output, callOptions) {
      const calls = output.filter((item): item is ResponsesCall => item.type === "function_call");
      return await Promise.all(calls.map((item) => call(item, callOptions)));
    },
  };
}

function responsesOutput(parts: readonly ResultPart[]): ResponsesCallOutput["output"] {
  if (!parts.some(({ type }) => type === "image" || type === "file")) return textOfParts(parts);
  return parts.map((part) => {
    if (part.type === "image") return { type: "input_image", image_url: dataUrl(part), detail: "auto" };
    if (part.type === "file") return { type: "input_file", filename: part.name, file_data: dataUrl(part) };
    return { type: "input_text", text: textOfParts([part]) };
  });
}

function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`;
}
