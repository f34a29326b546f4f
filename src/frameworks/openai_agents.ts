/**
 * Plugins in the OpenAI Agents SDK (`@openai/agents`): tools of a session for `Agent`, windows within bounds, and the
 * session's start before the first call of the model.
 *
 * @example An agent with the tools of a session
 * ```ts
 * import type { Session } from "@kaged/plugin-host";
 * import { kagedMiddleware, kagedTools } from "@kaged/plugin-host/openai-agents";
 *
 * // new Agent({ name: "Assistant", instructions, tools: kagedTools(session) }), and
 * // run(agent, "Hello", { callModelInputFilter: kagedMiddleware(session, { maxTokens: 100_000 }) })
 * export const parts = (session: Session) => ({
 *   tools: kagedTools(session),
 *   callModelInputFilter: kagedMiddleware(session, { maxTokens: 100_000 }),
 * });
 * ```
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { CompactionResult } from "../core/compaction/types.ts";
import { HostError } from "../core/errors/host_error.ts";
import type { Session } from "../host/types.ts";
import { FittedWindow, type WindowOptions } from "./fitted_window.ts";
import { HeldCalls } from "./held_calls.ts";
import { compactMessages, type CompactOptions } from "./messages.ts";
import {
  type HeardRunner,
  kagedModel,
  kagedModels,
  type KagedModelsOptions,
  type NamedAgent,
  type WatchedModel,
  type WatchedProvider,
  watchHandoffs,
} from "./openai_events.ts";
import { type AddedItem, answeredCall, type InputItem, itemsOf, type Turn, turnForm, turnsOf } from "./openai_items.ts";
import { failureOf, type ResultPart, type SessionResult, textOfParts } from "./result_parts.ts";
import { type SessionTool, sessionTools, type SessionToolsOptions } from "./session_tools.ts";
import { startedPrompt } from "./started_prompt.ts";

export { kagedModel, kagedModels };
export type {
  AddedItem,
  CompactionResult,
  CompactOptions,
  HeardRunner,
  InputItem,
  KagedModelsOptions,
  NamedAgent,
  SessionToolsOptions,
  WatchedModel,
  WatchedProvider,
  WindowOptions,
};

/** How tools are given to an agent. */
export interface KagedToolsOptions extends SessionToolsOptions {
  /**
   * Where a person answers calls that a rule or a hook asks about. `framework`: the run is interrupted, and goes on after
   * `state.approve()` or `state.reject()`. `host`: the call waits at the host's desk. Default `framework`.
   */
  readonly approval?: "framework" | "host";
  /** Called with each progress report of a tool: the SDK has no channel for them. */
  readonly onProgress?: (report: KagedProgress) => void;
}

/** A progress report of a tool. */
export interface KagedProgress {
  /** Name of the tool, as the model knows it. */
  readonly tool: string;
  /** Id of the call, as the model gave it. */
  readonly callId: string | undefined;
  /** The report as the plugin sent it. */
  readonly progress: unknown;
}

/** The part of the SDK's `RunContext` that a tool asks: whether a person approved a call. */
export interface ApprovalContext {
  /** Returns true for a call that was approved, false for one that was rejected. */
  isToolApproved(call: { toolName: string; callId: string }): boolean | undefined;
}

/** The part of the SDK's `ToolCallDetails` that a tool reads. */
export interface CallDetails {
  /** The model's call. */
  readonly toolCall?: { readonly callId: string; readonly namespace?: string | undefined } | undefined;
  /** Ends the call when it fires. */
  readonly signal?: AbortSignal | undefined;
}

/** An output of a tool, as the SDK has it. */
export type ToolOutput =
  | { type: "text"; text: string }
  | { type: "image"; image: { data: string; mediaType: string } }
  | { type: "file"; file: { data: string; mediaType: string; filename: string } };

/** A tool of a session as a `FunctionTool` of the SDK. */
export interface KagedTool {
  /** The kind of tool. */
  type: "function";
  /** Of `^[a-zA-Z0-9_-]{1,64}$`, unique in the session. */
  name: string;
  /** Text for the model. */
  description: string;
  /** JSON Schema of its arguments, as the plugin wrote it. */
  parameters: {
    type: "object";
    properties: Record<string, Record<string, unknown>>;
    required: string[];
    additionalProperties: true;
  };
  /** False: plugins' schemas are wider than strict ones may be. The gate checks arguments. */
  strict: boolean;
  /** Calls it through the gate. */
  invoke: (context: ApprovalContext, input: string, details?: CallDetails) => Promise<string | ToolOutput[]>;
  /** Has the gate judge a call; whether a person is to be asked. */
  needsApproval: (context: ApprovalContext, input: unknown, callId?: string) => Promise<boolean>;
  /** Always: tools that an agent may not have are not among its tools. */
  isEnabled: () => Promise<boolean>;
}

/**
 * Returns the tools that a session has now, for `new Agent({ tools })`. A call that fails, is blocked or denied returns a
 * text that begins with `error[<code>]` to the model, and the run goes on. Pictures and files are parts of the output;
 * sound, which the SDK has no part for, is named in a text.
 *
 * After a restart, a call that the SDK reports as approved (`RunState.fromString`) is judged anew and asked about no more.
 * Arguments that are no JSON interrupt the run, as for every tool of the SDK that asks under conditions.
 */
export function kagedTools(session: Session, options: KagedToolsOptions = {}): KagedTool[] {
  const { approval = "framework", onProgress, ...which } = options;
  const held = approval === "framework" ? heldCalls(session, which.agent) : null;
  return sessionTools(session, which).map((tool) => functionTool(tool, held, onProgress));
}

/** Makes a window smaller. Items that stay are those that were given; calls stay with their results and thoughts. */
export async function compact<I extends InputItem>(
  session: Session,
  items: readonly I[],
  options: CompactOptions = {},
): Promise<CompactionResult<I | AddedItem>> {
  const result = await compactMessages(session, turnsOf<I | AddedItem>(items), turnForm<I>(), options);
  return { ...result, messages: itemsOf(result.messages) };
}

/** How windows are held within bounds. */
export interface KagedMiddlewareOptions extends Omit<WindowOptions, "agent"> {
  /** Name of an SDK agent with a conversation of its own → path of its agent, such as `primary.subagents.helper`. */
  readonly agents?: Readonly<Record<string, string>>;
}

/** A `CallModelInputFilter` of the SDK. */
export interface KagedMiddleware {
  /** Called by the SDK before each call of the model. */
  <I extends InputItem>(args: {
    modelData: { input: I[]; instructions?: string | undefined };
    agent: { readonly name: string };
  }): Promise<{ input: (I | AddedItem)[]; instructions: string }>;
  /** Records the end of a run, `result.history`: the SDK hands over the last answer only before the next call. */
  record(history: readonly InputItem[]): void;
  /** Emits `delegate:start` and `delegate:end` for the hand-offs of a runner. */
  watch(runner: HeardRunner): void;
}

/**
 * Returns a filter for `callModelInputFilter` of a run or a runner. Before the first call of the model it starts the
 * session, whose text it puts before the instructions of every agent; before each call it records new items for
 * `on_session_idle` and compacts a window of more than `maxTokens`. Give each conversation its session and its filter.
 *
 * It rejects with `session.blocked`, which ends the run, where a hook blocked the start. The session stays open until
 * `session.close()`.
 */
export function kagedMiddleware(session: Session, options: KagedMiddlewareOptions = {}): KagedMiddleware {
  const { agents = {}, ...bounds } = options;
  const windows = new Map<string, FittedWindow<Turn<InputItem>>>();
  const windowOf = (agent: string): FittedWindow<Turn<InputItem>> => {
    const window = windows.get(agent) ?? new FittedWindow(session, turnForm<InputItem>(), { ...bounds, agent });
    windows.set(agent, window);
    return window;
  };
  const filter = async <I extends InputItem>({ modelData: { input, instructions = "" }, agent: { name } }: {
    modelData: { input: I[]; instructions?: string | undefined };
    agent: { readonly name: string };
  }): Promise<{ input: (I | AddedItem)[]; instructions: string }> => {
    const agent = Object.hasOwn(agents, name) ? agents[name]! : PRIMARY;
    dropAnswered(heldCalls(session, agent), input);
    const prompt = await startedPrompt(session, instructions);
    const turns = await windowOf(agent).fit(turnsOf(input));
    // Items of the window are this filter's input, now or before, or were written by the form.
    return { input: itemsOf(turns) as (I | AddedItem)[], instructions: prompt };
  };
  return Object.assign(filter, {
    record: (history: readonly InputItem[]): void => windowOf(PRIMARY).record(turnsOf(history)),
    watch: (runner: HeardRunner): void => watchHandoffs(session, runner, agents),
  });
}

/** Held calls belong to the agent of a session: tools that are made again for it find them. */
const HELD = new WeakMap<Session, Map<string, HeldCalls>>();

function heldCalls(session: Session, agent: string = PRIMARY): HeldCalls {
  const all = HELD.get(session) ?? new Map<string, HeldCalls>();
  HELD.set(session, all);
  const held = all.get(agent) ?? new HeldCalls();
  all.set(agent, held);
  return held;
}

/** The SDK answers rejected calls itself, without a word to the tool: its request must not wait on. */
function dropAnswered(held: HeldCalls, items: readonly InputItem[]): void {
  for (const item of items) {
    const call = answeredCall(item);
    if (call !== null) held.drop(call);
  }
}

function functionTool(
  tool: SessionTool,
  held: HeldCalls | null,
  onProgress: KagedToolsOptions["onProgress"],
): KagedTool {
  const { name, description, parameters } = tool;
  return {
    type: "function",
    name,
    description,
    parameters: { properties: {}, required: [], additionalProperties: true, ...parameters } as KagedTool["parameters"],
    strict: false,
    isEnabled: () => Promise.resolve(true),
    needsApproval: async (_context, input, callId) =>
      held !== null && callId !== undefined && await held.judge(callId, tool, input) !== null,
    invoke: async (context, input, details) => {
      const args = argumentsIn(input);
      if (args instanceof HostError) return toolOutput(failureOf(args));
      const { toolCall, signal } = details ?? {};
      const callId = toolCall?.callId;
      const report = onProgress && ((progress: unknown) => onProgress({ tool: name, callId, progress }));
      const how = { signal, onProgress: report };
      if (!held || callId === undefined) return toolOutput(await tool.call(args, how));
      // Only the SDK knows whether a person said yes to this call: anything else leaves it to the host's desk.
      const isApproved = keysOf(name, toolCall?.namespace).some((toolName) =>
        context.isToolApproved({ toolName, callId }) === true
      );
      const answer = isApproved ? { decision: "allow" } as const : undefined;
      return toolOutput(await held.finish(callId, tool, args, { ...how, answer }));
    },
  };
}

/** Names under which the SDK keeps a person's answer: of a tool in a namespace, the key by which it finds that tool. */
function keysOf(name: string, namespace: string | undefined): readonly string[] {
  if (namespace === undefined) return [name, JSON.stringify(["deferred_top_level", name])];
  return [`${namespace}.${name}`, JSON.stringify(["namespaced", namespace, name])];
}

function argumentsIn(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (cause) {
    const hint = "Call it again with arguments in JSON";
    return new HostError("tool.arguments_invalid", "The arguments are no JSON", { hint, cause });
  }
}

/** Words go as one text, which every model takes. */
function toolOutput({ parts, structured }: SessionResult): string | ToolOutput[] {
  const isText = parts.some(({ type }) => type === "text");
  const data = isText || structured === undefined ? [] : [{ type: "text", text: JSON.stringify(structured) } as const];
  const all: readonly ResultPart[] = [...parts, ...data];
  return all.some(({ type }) => type === "image" || type === "file") ? all.map(outputPart) : textOfParts(all);
}

function outputPart(part: ResultPart): ToolOutput {
  if (part.type === "image") return { type: "image", image: { data: part.data, mediaType: part.mediaType } };
  if (part.type !== "file") return { type: "text", text: textOfParts([part]) };
  return { type: "file", file: { data: part.data, mediaType: part.mediaType, filename: part.name } };
}
