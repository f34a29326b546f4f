/**
 * Tools and windows of a session for the AI SDK (`ai`, version 7). The package is not loaded: the values have the shapes
 * that its functions take.
 *
 * @example Tools, and a model whose window is held within bounds
 * ```ts
 * import type { Session } from "@kaged/plugin-host";
 * import { kagedMiddleware, kagedTools } from "@kaged/plugin-host/ai-sdk";
 *
 * function settings(session: Session) {
 *   // generateText({ model: wrapLanguageModel({ model, middleware }), tools, prompt: "…" })
 *   return { tools: kagedTools(session), middleware: kagedMiddleware(session, { maxTokens: 100_000 }) };
 * }
 * ```
 *
 * @module
 */
import type { ApprovalRequest } from "../core/approvals/types.ts";
import type { CompactionResult } from "../core/compaction/types.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { Session } from "../host/types.ts";
import { type AiMessage, deniedCalls, FORM, isApproved } from "./ai_sdk_messages.ts";
import { FittedWindow, type WindowOptions } from "./fitted_window.ts";
import { HeldCalls } from "./held_calls.ts";
import { compactMessages, type CompactOptions } from "./messages.ts";
import { progressStream } from "./progress_stream.ts";
import { type ResultPart, textOfParts } from "./result_parts.ts";
import { modelCall, modelName } from "./session_events.ts";
import { type SessionTool, sessionTools, type SessionToolsOptions } from "./session_tools.ts";
import { startedPrompt } from "./started_prompt.ts";

export type { AiMessage, CompactOptions, ResultPart, SessionToolsOptions, WindowOptions };

/** How tools are offered. */
export interface KagedToolsOptions extends SessionToolsOptions {
  /**
   * Where a person is asked about a call that needs one: by the AI SDK, whose run ends with a request for approval and
   * goes on with the answer, or at the host's own front ends, while the run waits. Default `framework`.
   */
  readonly approval?: "framework" | "host";
}

/** The schema of a tool's arguments: the AI SDK takes it as its own `jsonSchema()`, and others as a Standard Schema. */
export interface KagedSchema {
  /** Standard Schema. Nothing is checked here: the host checks every call. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "kaged";
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** The output of a tool. Preliminary ones have only `progress`. */
export interface KagedOutput {
  /** Text, pictures, sound, files and links, in their order. */
  readonly parts: readonly ResultPart[];
  /** The output as data, where it is an object or the tool gave data beside its parts. */
  readonly structured?: unknown;
  /** A report of the plugin while it works. */
  readonly progress?: unknown;
}

/** An output as the model gets it. */
export type KagedModelOutput =
  | { type: "text"; value: string }
  | {
    type: "content";
    value: (
      | { type: "text"; text: string }
      | { type: "file"; mediaType: string; data: { type: "data"; data: string }; filename?: string }
    )[];
  };

/** A tool of the AI SDK. */
export interface KagedTool {
  /** Its arguments and its output are known when the program runs, and not before. */
  readonly type: "dynamic";
  /** Name for people, where an MCP server gave one. */
  readonly title?: string;
  /** Text for the model. */
  readonly description: string;
  /** `tool` is the full name, `<plugin>.<tool>`: the AI SDK puts it on each call as `toolMetadata`. */
  readonly metadata: { readonly tool: string };
  /** Schema of its arguments, as the plugin wrote it. */
  readonly inputSchema: KagedSchema;
  /** Whether a person has to approve a call. Absent where the host asks. */
  readonly needsApproval?: (input: unknown, options: KagedCall) => Promise<boolean>;
  /** Calls the tool. Yields reports of progress, then the output; throws an error that the model can read. */
  readonly execute: (
    input: unknown,
    options: KagedCall & { readonly abortSignal?: AbortSignal | undefined },
  ) => AsyncIterable<KagedOutput>;
  /** Returns an output as the model gets it. */
  readonly toModelOutput: (options: { readonly output: KagedOutput }) => KagedModelOutput;
}

/** One call, as the AI SDK describes it. */
export interface KagedCall {
  /** The model's id of it. */
  readonly toolCallId: string;
  /** What had been said before it; a person's approval comes last in it. */
  readonly messages: readonly AiMessage[];
}

/** What `toolApproval` of the AI SDK is told of a call. */
export type KagedApprovalStatus = { type: "not-applicable" } | { type: "user-approval"; reason: string };

/** A language model, as far as it is read here. */
export interface KagedModel {
  /** The name of it in `model:call`. */
  readonly modelId?: string;
}

/** Middleware for `wrapLanguageModel`. */
export interface KagedMiddleware {
  /** The interface of language models that it knows. */
  readonly specificationVersion: "v4";
  /** Returns the parameters of a call of the model with the prompt as it is to be sent. */
  readonly transformParams: <P extends { prompt: readonly AiMessage[] }>(call: { readonly params: P }) => Promise<P>;
  /** Records the model's reply, and emits `model:call`. */
  readonly wrapGenerate: <R extends { content: readonly { type: string }[]; usage?: unknown }>(
    call: { readonly doGenerate: () => PromiseLike<R>; readonly model?: KagedModel },
  ) => Promise<R>;
  /** Records the model's reply, and emits `model:call`, when its stream has ended. */
  readonly wrapStream: <R extends { stream: ReadableStream<{ type: string }> }>(
    call: { readonly doStream: () => PromiseLike<R>; readonly model?: KagedModel },
  ) => Promise<R>;
}

/** Calls that were judged and not made yet. Per session: the answer of a person may come with another request. */
const HELD = new WeakMap<Session, HeldCalls>();

/** Returns the tools that a session has now, by names that every model takes. */
export function kagedTools(session: Session, options: KagedToolsOptions = {}): Record<string, KagedTool> {
  const held = heldCalls(session);
  return Object.fromEntries(
    sessionTools(session, options).map((tool) => [tool.name, kagedTool(tool, held, options)]),
  );
}

/**
 * Returns the `toolApproval` of these tools, which adds to each request for approval the reason why a person is asked.
 * Without it the AI SDK asks all the same. Empty where the host asks.
 */
export function kagedApproval(
  session: Session,
  options: KagedToolsOptions = {},
): Record<string, (input: unknown, call: KagedCall) => Promise<KagedApprovalStatus>> {
  if (options.approval === "host") return {};
  const held = heldCalls(session);
  return Object.fromEntries(
    sessionTools(session, options).map((tool) => [tool.name, async (input, call) => {
      const asked = await judge(held, tool, input, call, options);
      return asked ? { type: "user-approval", reason: reasonOf(asked) } : { type: "not-applicable" };
    }]),
  );
}

/** Makes a window of `ModelMessage[]` smaller. Messages that stay are the objects that were given. */
export async function compact<M extends AiMessage>(
  session: Session,
  messages: readonly M[],
  options?: CompactOptions,
): Promise<CompactionResult<M>> {
  return await compactMessages<AiMessage>(session, messages, FORM, options) as CompactionResult<M>;
}

/**
 * Returns middleware that starts the session with the first call of the model (text of plugins comes before the system
 * prompt), records what is said for `on_session_idle`, compacts a window of more than `maxTokens`, and emits `model:call`
 * for each answer of the model. One conversation each: make it once for a session. For a subagent its window is
 * compacted and its calls of the model are reported, nothing else.
 *
 * A handler that blocks the start of the session ends the call with `session.blocked`.
 */
export function kagedMiddleware(session: Session, options: WindowOptions = {}): KagedMiddleware {
  const { agent = PRIMARY } = options;
  const held = heldCalls(session);
  const window = new FittedWindow<AiMessage>(session, FORM, options);
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const { prompt } = params;
      settleDenied(held, prompt, agent);
      const first = prompt.findIndex(({ role }) => role !== "system");
      const [system, said] = first < 0 ? [prompt, []] : [prompt.slice(0, first), prompt.slice(first)];
      const instructions = agent === PRIMARY ? await started(session, system) : system;
      return { ...params, prompt: [...instructions, ...await window.fit(said)] };
    },
    async wrapGenerate({ doGenerate, model }) {
      const answered = modelCall(session, agent);
      const result = await doGenerate();
      answered(modelName(model?.modelId), result.usage);
      noteReply(window, result.content);
      return result;
    },
    async wrapStream({ doStream, model }) {
      const answered = modelCall(session, agent);
      const result = await doStream();
      const parts: { type: string }[] = [];
      const listener = new TransformStream<{ type: string; usage?: unknown }, { type: string }>({
        transform(part, controller) {
          if (part.type === "finish") answered(modelName(model?.modelId), part.usage);
          parts.push(part.type === "text-delta" ? { ...part, type: "text" } : { type: part.type });
          controller.enqueue(part);
        },
        flush: () => noteReply(window, parts),
      });
      return { ...result, stream: result.stream.pipeThrough(listener) };
    },
  };
}

/** Records a reply that ends a turn. One that calls tools comes back with the results. */
function noteReply(
  window: FittedWindow<AiMessage>,
  parts: readonly { type: string; text?: string; delta?: string }[],
): void {
  if (parts.some(({ type }) => type === "tool-call")) return;
  const text = parts.map(({ type, text, delta }) => type === "text" ? text ?? delta ?? "" : "").join("");
  if (text !== "") window.note({ role: "assistant", content: [{ type: "text", text }] });
}

async function started(session: Session, system: readonly AiMessage[]): Promise<readonly AiMessage[]> {
  const [first = { role: "system", content: "" }, ...others] = system;
  const content = await startedPrompt(session, String(first.content));
  return content === "" ? others : [{ ...first, content }, ...others];
}

function heldCalls(session: Session): HeldCalls {
  const held = HELD.get(session) ?? new HeldCalls();
  HELD.set(session, held);
  return held;
}

const idOf = (toolCallId: string, agent: string = PRIMARY): string => `${agent} ${toolCallId}`;

async function judge(
  held: HeldCalls,
  tool: SessionTool,
  input: unknown,
  { toolCallId, messages }: KagedCall,
  { agent }: SessionToolsOptions,
): Promise<ApprovalRequest | null> {
  settleDenied(held, messages, agent);
  return await held.judge(idOf(toolCallId, agent), tool, input);
}

/** The AI SDK shows the arguments of the model: a person has to see those that handlers made of them. */
function reasonOf({ reason, changed, arguments: sent }: ApprovalRequest): string {
  return changed ? `${reason}\nArguments as ${changed.by.join(", ")} changed them: ${JSON.stringify(sent)}` : reason;
}

/** The AI SDK calls nothing when a person says no: the history of the next call has it. */
function settleDenied(held: HeldCalls, messages: readonly AiMessage[], agent?: string): void {
  for (const { id, reason } of deniedCalls(messages)) held.deny(idOf(id, agent), reason);
}

function kagedTool(tool: SessionTool, held: HeldCalls, options: KagedToolsOptions): KagedTool {
  const { title, description, fullName, parameters } = tool;
  const isHost = options.approval === "host";
  return {
    type: "dynamic",
    ...(title !== undefined && { title }),
    description,
    metadata: { tool: fullName },
    inputSchema: schemaOf(parameters),
    ...(!isHost && { needsApproval: async (input, call) => await judge(held, tool, input, call, options) !== null }),
    async *execute(input, { toolCallId, messages, abortSignal: signal }) {
      const answer = isApproved(messages, toolCallId) ? { decision: "allow" } as const : undefined;
      const reports = progressStream((onProgress) =>
        isHost
          ? tool.call(input, { signal, onProgress })
          : held.finish(idOf(toolCallId, options.agent), tool, input, { signal, onProgress, answer })
      );
      let report = await reports.next();
      for (; !report.done; report = await reports.next()) yield { parts: [], progress: report.value };
      const { parts, structured, error } = report.value;
      if (error) throw new ToolFailure(textOfParts(parts), { cause: error });
      yield { parts, ...(structured !== undefined && { structured }) };
    },
    toModelOutput: ({ output }) => modelOutput(output),
  };
}

/** The AI SDK marks the result of a call that throws as an error, and hands the text of what was thrown to the model. */
class ToolFailure extends Error {
  override readonly name = "ToolFailure";

  override toString(): string {
    return this.message;
  }
}

/** One object of two kinds: Standard Schema for types, the AI SDK's own mark at run time, or it would close every object. */
function schemaOf(jsonSchema: Readonly<Record<string, unknown>>): KagedSchema {
  const copy = (): Record<string, unknown> => structuredClone({ ...jsonSchema });
  const mark = { [Symbol.for("vercel.ai.schema")]: true, jsonSchema, validate: undefined };
  const jsonSchemas = { input: copy, output: copy };
  return {
    ...mark,
    "~standard": { version: 1, vendor: "kaged", validate: (value) => ({ value }), jsonSchema: jsonSchemas },
  };
}

/** Outputs come from the history of a chat page too, which may hold anything. */
function modelOutput(output: Partial<KagedOutput> | null | undefined): KagedModelOutput {
  const parts = output?.parts;
  if (!Array.isArray(parts)) return { type: "text", value: JSON.stringify(output ?? null) };
  if (parts.every(({ type }) => type === "text" || type === "link")) return { type: "text", value: textOfParts(parts) };
  return {
    type: "content",
    value: parts.map((part) => {
      if (part.type === "text" || part.type === "link") return { type: "text", text: textOfParts([part]) };
      const { mediaType, data } = part;
      const name = part.type === "file" ? { filename: part.name } : {};
      return { type: "file", mediaType, data: { type: "data", data }, ...name };
    }),
  };
}
