/**
 * `@kaged/plugin-host/mastra`: the tools of a session in an agent of Mastra. Mastra's `createTool` is handed over by the
 * caller: nothing of it is loaded here, and the agent and its tools share one copy of the package.
 *
 * @example An agent with the plugins of a project
 * ```ts ignore
 * import { Agent } from "@mastra/core/agent";
 * import { createTool } from "@mastra/core/tools";
 * import { createHost } from "@kaged/plugin-host";
 * import { kagedProcessor, kagedTools } from "@kaged/plugin-host/mastra";
 *
 * await using host = await createHost({ project: "." });
 * await host.start();
 * const session = host.openSession();
 * const agent = new Agent({
 *   id: "notes",
 *   name: "Notes",
 *   instructions: "You keep notes for Ada.",
 *   model: "openai/gpt-5",
 *   tools: kagedTools(session, { createTool }),
 *   inputProcessors: [kagedProcessor(session, { maxTokens: 100_000 })],
 * });
 * ```
 *
 * @module
 */
import type { CompactionResult } from "../core/compaction/types.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { Session } from "../host/types.ts";
import { FittedWindow, type WindowOptions } from "./fitted_window.ts";
import { approvedCalls, noteResults } from "./mastra_approval.ts";
import {
  type DelegationEnd,
  type DelegationStart,
  type KagedDelegation,
  kagedDelegation,
  type KagedDelegationOptions,
} from "./mastra_delegation.ts";
import {
  DB_FORM,
  type MastraMessage,
  type ModelOutput,
  modelOutputOf,
  type ModelOutputPart,
  PROMPT_FORM,
  type PromptMessage,
} from "./mastra_messages.ts";
import { compactMessages, type CompactOptions } from "./messages.ts";
import { type SessionResult, textOfParts } from "./result_parts.ts";
import { type ModelAnswered, modelCall, modelName } from "./session_events.ts";
import { type SessionTool, sessionTools, type SessionToolsOptions } from "./session_tools.ts";
import { startedPrompt } from "./started_prompt.ts";

export { kagedDelegation };
export type {
  CompactionResult,
  CompactOptions,
  DelegationEnd,
  DelegationStart,
  KagedDelegation,
  KagedDelegationOptions,
  MastraMessage,
  ModelOutput,
  ModelOutputPart,
  PromptMessage,
  Session,
  SessionToolsOptions,
  WindowOptions,
};

/** Arguments of a call. */
export type ToolArguments = Record<string, unknown>;

/** A schema of the Standard Schema family, which Mastra shows to the model as JSON Schema. */
export type ToolSchema = {
  /** Its marks, by that standard. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: ToolArguments; readonly output: ToolArguments };
    readonly validate: (value: unknown) => { readonly value: ToolArguments };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
};

/** A progress report of a plugin. */
export interface ToolProgress {
  /** Name of the tool, as the model calls it. */
  readonly tool: string;
  /** The model's id of the call. */
  readonly toolCallId: string | undefined;
  /** The plugin's own words: `progress`, and perhaps `total` and `message`. */
  readonly progress: unknown;
}

/** The part of a call's context that is used. */
export type ToolContext = {
  readonly abortSignal?: AbortSignal;
  readonly writer?: { custom(chunk: { type: "data-tool-progress"; data: ToolProgress }): Promise<void> };
  readonly agent?: { readonly toolCallId: string };
};

/** Options that `createTool` is called with. */
export type ToolOptions = {
  id: string;
  title?: string;
  description: string;
  inputSchema: ToolSchema;
  /** Absent where the host's own front ends ask. */
  requireApproval?: (args: ToolArguments) => Promise<boolean>;
  execute: (args: ToolArguments, context: ToolContext) => Promise<unknown>;
  toModelOutput: (output: unknown) => ModelOutput;
};

/** Options of {@link kagedTools}. */
export interface KagedToolsOptions<T> extends SessionToolsOptions {
  /** The function of that name, of `@mastra/core/tools`. */
  readonly createTool: (options: ToolOptions) => T;
  /** Called with each progress report, which also goes into the stream as the chunk `data-tool-progress`. */
  readonly onProgress?: (report: ToolProgress) => void;
  /**
   * Where people are asked: `framework` suspends the run until `approveToolCall()` or `declineToolCall()`; `host` leaves
   * it to the host's own front ends. Default `framework`.
   */
  readonly approval?: "framework" | "host";
}

/**
 * Returns the tools of a session, by name, for an agent. A call that fails, or is blocked or denied, is an error that the
 * model reads. The result of a call is `{ parts, structured }`; the model is shown its parts.
 */
export function kagedTools<T>(session: Session, options: KagedToolsOptions<T>): Record<string, T> {
  const tools = sessionTools(session, options).map((tool) => [tool.name, mastraTool(session, tool, options)] as const);
  return Object.fromEntries(tools);
}

function mastraTool<T>(
  session: Session,
  tool: SessionTool,
  { createTool, onProgress, agent: path, approval = "framework" }: KagedToolsOptions<T>,
): T {
  const { name, title, description, parameters } = tool;
  const calls = approvedCalls(session, name, path);
  return createTool({
    id: name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: schemaOf(parameters),
    ...(approval === "framework" && { requireApproval: (args) => calls.isAsked(tool, args) }),
    async execute(args, { abortSignal: signal, writer, agent }) {
      const toolCallId = agent?.toolCallId;
      const written: Promise<void>[] = [];
      const report = (progress: unknown): void => {
        const data: ToolProgress = { tool: name, toolCallId, progress };
        if (writer) written.push(writer.custom({ type: "data-tool-progress", data }));
        onProgress?.(data);
      };
      const options = { signal, onProgress: report };
      const isAsked = agent !== undefined && approval === "framework";
      const result = isAsked ? await calls.make(tool, args, options) : await tool.call(args, options);
      await Promise.allSettled(written);
      if (result.error) throw new Error(textOfParts(result.parts), { cause: result.error });
      return result;
    },
    toModelOutput: (output) => modelOutputOf(output as SessionResult),
  });
}

/** The gate checks arguments. A check of Mastra would run a plugin's schema without bounds. */
function schemaOf(parameters: SessionTool["parameters"]): ToolSchema {
  const json = (): Record<string, unknown> => structuredClone({ ...parameters });
  return {
    "~standard": {
      version: 1,
      vendor: "kaged",
      validate: (value) => ({ value: (value ?? {}) as ToolArguments }),
      jsonSchema: { input: json, output: json },
    },
  };
}

/** A call of the model, as far as it is used. */
export type ModelRequest<P> = {
  readonly prompt: P[];
  /** Ends the run, with a reason that its result carries as `tripwire`. */
  readonly abort: (reason?: string) => never;
  /** Mastra's own, the same object in the answer. */
  readonly state?: Record<string, unknown>;
};

/** An answer of the model, as far as it is used. */
export type ModelAnswer = {
  readonly chunks: readonly { readonly type: string; readonly payload: unknown }[];
  /** The model, whose name `model:call` has. */
  readonly model?: unknown;
  /** True where no model was called. */
  readonly fromCache?: boolean;
  /** Mastra's own, the same object as in the request. */
  readonly state?: Record<string, unknown>;
};

/** A processor for `inputProcessors` of an agent. */
export interface KagedProcessor {
  /** Its name in Mastra's traces. */
  readonly id: "kaged";
  /** Starts the session, and fits the window. */
  processLLMRequest<P extends PromptMessage>(request: ModelRequest<P>): Promise<{ prompt: P[] }>;
  /** Records the answer that ends a run, and emits `model:call`. */
  processLLMResponse(response: ModelAnswer): void;
}

/**
 * Returns the processor of a conversation. The first call of the model starts the session, and text of plugins stands
 * before the instructions (a handler that blocks the start ends the run by a tripwire); each call sees a window of at most `maxTokens`, while Mastra's memory keeps every message;
 * new messages are recorded for the idle hook, and `model:call` is emitted for each answer. With `agent`, it is the processor of a subagent, whose instructions stay
 * as they are.
 *
 * The embedder ends the session: `session.close()`.
 */
export function kagedProcessor(session: Session, options: WindowOptions = {}): KagedProcessor {
  const window = new FittedWindow<PromptMessage>(session, PROMPT_FORM, options);
  const { agent = PRIMARY } = options;
  const isPrimary = agent === PRIMARY;
  let history: readonly PromptMessage[] = [];
  return {
    id: "kaged",
    async processLLMRequest<P extends PromptMessage>({ prompt, abort, state }: ModelRequest<P>) {
      const from = prompt.findIndex(({ role }) => role !== "system");
      const [rules, said] = from < 0 ? [prompt, []] : [prompt.slice(0, from), prompt.slice(from)];
      history = said;
      noteResults(session, said, options.agent);
      const first = isPrimary ? await started(session, rules).catch(({ message }: Error) => abort(message)) : rules;
      const fitted = await window.fit(said) as P[];
      if (state) CALLS.set(state, modelCall(session, agent));
      return { prompt: [...first, ...fitted] };
    },
    processLLMResponse({ chunks, model, fromCache, state }) {
      if (state && !fromCache) CALLS.get(state)?.(nameOf(model), usageIn(chunks));
      if (chunks.some(({ type }) => type === "tool-call")) return;
      const said = chunks.filter(({ type }) => type === "text-delta").map(({ payload }) => textIn(payload)).join("");
      if (said !== "") window.record([...history, { role: "assistant", content: [{ type: "text", text: said }] }]);
    },
  };
}

/** Calls of models under way, by the state that Mastra shares between a request and its answer. */
const CALLS = new WeakMap<object, ModelAnswered>();

function nameOf(model: unknown): string {
  const { modelId } = Object(model) as { readonly modelId?: unknown };
  return modelName(modelId, model);
}

/** Returns the usage in the chunk that ends an answer. */
function usageIn(chunks: ModelAnswer["chunks"]): unknown {
  const end = chunks.findLast(({ type }) => type === "finish" || type === "step-finish");
  const { output, usage } = Object(end?.payload) as { readonly output?: unknown; readonly usage?: unknown };
  return (Object(output) as { readonly usage?: unknown }).usage ?? usage;
}

function textIn(payload: unknown): string {
  const { text } = Object(payload) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}

/** Returns the system messages with the text of plugins before the first, or as the only one. */
async function started<P extends PromptMessage>(session: Session, rules: readonly P[]): Promise<P[]> {
  const [first, ...others] = rules;
  const content = await startedPrompt(session, first === undefined ? "" : String(first.content));
  if (content === "") return [...rules];
  return [{ ...first, role: "system", content } as P, ...others];
}

/** Makes a window smaller, as the project says. Messages that stay are the objects that were given. */
export async function compact<M extends MastraMessage>(
  session: Session,
  messages: readonly M[],
  options: CompactOptions = {},
): Promise<CompactionResult<M>> {
  return await compactMessages<MastraMessage>(session, messages, DB_FORM, options) as CompactionResult<M>;
}
