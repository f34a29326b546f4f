/**
 * `@kaged/plugin-host/langchain`: the tools of a session in an agent of LangChain or LangGraph. LangChain's classes are
 * handed over by the caller: nothing of it is loaded here, and the agent and its tools share one copy of the package.
 *
 * @example An agent with the plugins of a project
 * ```ts ignore
 * import { createAgent, DynamicStructuredTool, HumanMessage, ToolMessage } from "langchain";
 * import { createHost } from "@kaged/plugin-host";
 * import { kagedMiddleware, kagedTools } from "@kaged/plugin-host/langchain";
 *
 * await using host = await createHost({ project: "." });
 * await host.start();
 * const session = host.openSession();
 * const agent = createAgent({
 *   model: "openai:gpt-5",
 *   systemPrompt: "You keep notes for Ada.",
 *   tools: kagedTools(session, { DynamicStructuredTool, ToolMessage }),
 *   middleware: [kagedMiddleware(session, { HumanMessage, maxTokens: 100_000 })],
 * });
 * ```
 *
 * @module
 */
import type { CompactionResult } from "../core/compaction/types.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { Session } from "../host/types.ts";
import { FittedWindow, type WindowOptions } from "./fitted_window.ts";
import { askAbout, callKey, callsOf, type Interrupt, toolKey } from "./langchain_approval.ts";
import {
  type ContentBlock,
  contentOf,
  type HumanMessageClass,
  type LangChainMessage,
  messageForm,
  type MessageToolCall,
  toolCallsOf,
} from "./langchain_messages.ts";
import { compactMessages, type CompactOptions } from "./messages.ts";
import { modelCall, modelName } from "./session_events.ts";
import { type SessionTool, sessionTools, type SessionToolsOptions } from "./session_tools.ts";
import { startedPrompt } from "./started_prompt.ts";

export type {
  CompactionResult,
  CompactOptions,
  ContentBlock,
  HumanMessageClass,
  Interrupt,
  LangChainMessage,
  MessageToolCall,
  Session,
  SessionToolsOptions,
  WindowOptions,
};

/** A progress report of a plugin, as it goes into the stream mode `custom`. */
export interface ToolProgress {
  /** Tells it from chunks of other writers. */
  readonly type: "tool_progress";
  /** Name of the tool, as the model calls it. */
  readonly tool: string;
  /** The model's id of the call. */
  readonly toolCallId: string | undefined;
  /** The plugin's own words: `progress`, and perhaps `total` and `message`. */
  readonly progress: unknown;
}

/** The part of a call's configuration (`RunnableConfig`) that is used. */
export type ToolConfig = {
  readonly signal?: AbortSignal;
  readonly configurable?: Readonly<Record<string, unknown>>;
};

/** Fields that `DynamicStructuredTool` is made with. */
export type ToolFields<R> = {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: { type: "object"; properties: Record<string, object> };
  func: (args: unknown, runManager?: object, config?: ToolConfig) => Promise<R | string | ContentBlock[]>;
};

/** Fields that `ToolMessage` is made with. */
export type ToolMessageFields = {
  name: string;
  tool_call_id: string;
  content: string | ContentBlock[];
  status: "success" | "error";
  artifact?: unknown;
};

/** Options of {@link kagedTools}: which tools, and LangChain's classes. */
export interface KagedToolsOptions<T, R> extends SessionToolsOptions {
  /** The class of that name, of `langchain` or `@langchain/core/tools`. */
  readonly DynamicStructuredTool: new (fields: ToolFields<R>) => T;
  /** The class of that name, of `langchain` or `@langchain/core/messages`. */
  readonly ToolMessage: new (fields: ToolMessageFields) => R;
  /** Called with each progress report, which also goes to the stream mode `custom`. */
  readonly onProgress?: (report: ToolProgress) => void;
}

/**
 * Returns the tools of a session for `createAgent()`, a `ToolNode` or `bindTools()`. A call that fails, or is blocked or
 * denied, is a tool message whose status is `error`. Data that a tool gave beside its parts is the message's `artifact`.
 */
export function kagedTools<T extends object, R>(session: Session, options: KagedToolsOptions<T, R>): T[] {
  return sessionTools(session, options).map((tool) => langchainTool(session, tool, options));
}

/** Each argument is checked by the gate. LangChain's own check would run a plugin's schema without bounds. */
const UNCHECKED = { schema: { value: { type: "object" } } };

function langchainTool<T extends object, R>(
  session: Session,
  tool: SessionTool,
  { DynamicStructuredTool, ToolMessage, agent, onProgress }: KagedToolsOptions<T, R>,
): T {
  const { name, description, parameters } = tool;
  const { tools, held, answers } = callsOf(session);
  tools.set(toolKey(name, agent), tool);
  const func: ToolFields<R>["func"] = async (args, _, config = {}) => {
    const { toolCall, writer } = config as { toolCall?: MessageToolCall; writer?: (chunk: unknown) => void };
    const id = toolCall?.id;
    const call = { id, name, args: args as MessageToolCall["args"] };
    const key = callKey(call, agent, config.configurable?.["thread_id"]);
    const answer = answers.get(key);
    answers.delete(key);
    const result = await held.finish(key, tool, args, {
      answer,
      signal: config.signal,
      onProgress: (progress) => {
        const report: ToolProgress = { type: "tool_progress", tool: name, toolCallId: id, progress };
        writer?.(report);
        onProgress?.(report);
      },
    });
    const content = contentOf(result);
    if (id === undefined) return content;
    const status = result.error ? "error" : "success";
    return new ToolMessage({ name, tool_call_id: id, content, status, artifact: result.structured });
  };
  const made = new DynamicStructuredTool({ name, description, schema: schemaOf(parameters), func });
  const { call } = made as { call?: (...args: unknown[]) => unknown };
  return call ? Object.assign(made, { call: call.bind(Object.create(made, UNCHECKED)) }) : made;
}

function schemaOf(parameters: SessionTool["parameters"]): ToolFields<never>["schema"] {
  return { ...parameters, properties: parameters["properties"] as Record<string, object> };
}

/** Options of {@link kagedMiddleware}. */
export interface KagedMiddlewareOptions<M extends LangChainMessage> extends WindowOptions {
  /** The class of that name, of `langchain` or `@langchain/core/messages`. */
  readonly HumanMessage: HumanMessageClass<M>;
  /**
   * Where people are asked: `framework` interrupts the graph, which needs a checkpointer; without one, and with `host`,
   * the host's own front ends ask. Default `framework`.
   */
  readonly approval?: "framework" | "host";
}

/** A call of the model, as far as it is used. */
export type ModelCall = {
  readonly messages: readonly LangChainMessage[];
  readonly systemPrompt: string;
  /** The model, whose name is read for `model:call` where the answer has none. */
  readonly model?: unknown;
};

/** The state of an agent, as far as it is used. */
export type AgentState = {
  readonly messages: readonly LangChainMessage[];
};

/** What a hook is given beside the state, as far as it is used. */
export type AgentRuntime = {
  readonly interrupt?: Interrupt;
  readonly configurable?: { readonly thread_id?: string };
};

/** A middleware for `createAgent()`. */
export interface KagedMiddleware {
  /** Its name in LangChain's traces: `kaged`. */
  name: string;
  /** Starts the session, fits the window, and emits `model:call` with the answer's usage. */
  wrapModelCall<C extends ModelCall, R>(call: C, handler: (call: C) => R | Promise<R>): Promise<R>;
  /** Has people asked about calls that need their yes. */
  afterModel(state: AgentState, runtime: AgentRuntime): Promise<void>;
  /** Records the last messages. */
  afterAgent(state: AgentState): void;
}

/** The fields of an `AIMessage` that are read for `model:call`. */
interface AnswerFacts {
  readonly usage_metadata?: unknown;
  readonly response_metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the middleware of a conversation. The first call of the model starts the session, and text of plugins stands
 * before the system prompt; each call sees a window of at most `maxTokens`, while the agent's state keeps every message;
 * new messages are recorded for the idle hook, and `model:call` is emitted for each answer. With `agent`, it is the middleware of a subagent, whose prompt stays as
 * it is.
 *
 * A call that needs a person's yes interrupts the graph with `{ actionRequests, reviewConfigs }`, as LangChain's own
 * `humanInTheLoopMiddleware` does; resume it with `{ decisions: [{ type: "approve" | "reject", message, id }] }`. The id
 * is that of the action request: it may be left out only while the program that asked is still running.
 *
 * The embedder ends the session: `session.close()`.
 */
export function kagedMiddleware<M extends LangChainMessage>(
  session: Session,
  { HumanMessage, approval = "framework", ...options }: KagedMiddlewareOptions<M>,
): KagedMiddleware {
  const window = new FittedWindow<LangChainMessage>(session, messageForm<LangChainMessage>(HumanMessage), options);
  const { agent = PRIMARY } = options;
  return {
    name: "kaged",
    async wrapModelCall(call, handler) {
      const systemPrompt = agent === PRIMARY ? await startedPrompt(session, call.systemPrompt) : call.systemPrompt;
      const messages = await window.fit(call.messages);
      const answered = modelCall(session, agent);
      const answer = await handler({ ...call, systemPrompt, messages });
      const { usage_metadata: usage, response_metadata: about = {} } = Object(answer) as AnswerFacts;
      const { model, modelName: name } = Object(call.model) as {
        readonly model?: unknown;
        readonly modelName?: unknown;
      };
      answered(modelName(about["model_name"], about["model"], model, name), usage);
      return answer;
    },
    async afterModel({ messages }, { interrupt, configurable }) {
      if (approval === "host" || !interrupt) return;
      const known = callsOf(session);
      const calls = toolCallsOf(messages.at(-1)).flatMap((call) => {
        const tool = known.tools.get(toolKey(call.name, agent));
        return tool ? [{ key: callKey(call, agent, configurable?.thread_id), call, tool }] : [];
      });
      await askAbout(calls, known, interrupt);
    },
    afterAgent({ messages }) {
      window.record(messages);
    },
  };
}

/** Options of {@link compact}. */
export interface KagedCompactOptions<M extends LangChainMessage> extends CompactOptions {
  /** The class of that name, of `langchain` or `@langchain/core/messages`. */
  readonly HumanMessage: HumanMessageClass<M>;
}

/** Makes a window smaller, as the project says. Messages that stay are the objects that were given. */
export async function compact<M extends LangChainMessage>(
  session: Session,
  messages: readonly M[],
  { HumanMessage, ...options }: KagedCompactOptions<NoInfer<M>>,
): Promise<CompactionResult<M>> {
  return await compactMessages(session, messages, messageForm<M>(HumanMessage), options);
}
