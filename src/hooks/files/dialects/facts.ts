/**
 * Facts of an event by name: the words in which a dialect describes the fields that its hooks get.
 *
 * @module
 */
import type { HookEvent } from "../../engine/types.ts";

/** An event, and the facts of a run that it does not have. */
export interface FactContext {
  readonly event: HookEvent;
  /** The moment as the file calls it. */
  readonly nativeName: string;
  /** The tool as the dialect calls it. */
  readonly toolName: string;
  /** The server and the bare name of a tool of an MCP server; null for other tools. */
  readonly mcp: { readonly server: string; readonly tool: string } | null;
  /** The folder that the hook runs in. */
  readonly cwd: string;
  /** The folder of the project. */
  readonly dir: string;
  /** The session's transcript as the hook sees it, or null. */
  readonly transcript: string | null;
  /** One id for one call of a tool, before and after it. */
  readonly callId: string;
  /** A file whose lines `export X=…` reach later commands; null where there is none. */
  readonly envFile: string | null;
  /** The file that a tool is about to read, as text; null where the hook does not get it. */
  readonly content?: string | null;
  /** A folder that stays from run to run, for plugins; null where there is none. */
  readonly dataDir: string | null;
}

/** Returns a fact of an event. */
export type Fact = (context: FactContext) => unknown;

const agentName = (path: string): string => path.split(".").at(-1) ?? path;

/** The name of a fact about an event, as fields refer to it. */
export type FactName =
  | "session"
  | "name"
  | "moment"
  | "cwd"
  | "dir"
  | "dirs"
  | "time"
  | "timeMs"
  | "transcript"
  | "transcriptOrNull"
  | "envFile"
  | "dataDir"
  | "permissionMode"
  | "model"
  | "effort"
  | "turnId"
  | "promptId"
  | "agentId"
  | "agentType"
  | "subagent"
  | "parent"
  | "task"
  | "tool"
  | "mcpServer"
  | "mcpTool"
  | "input"
  | "inputText"
  | "callId"
  | "durationMs"
  | "output"
  | "outputText"
  | "outputJson"
  | "copilotResult"
  | "copilotResultSnake"
  | "geminiResult"
  | "geminiMcp"
  | "command"
  | "filePath"
  | "content"
  | "edits"
  | "error"
  | "errorCode"
  | "errorObject"
  | "errorContext"
  | "failureType"
  | "prompt"
  | "promptOrNone"
  | "lastMessage"
  | "source"
  | "sourceNew"
  | "reason"
  | "reasonComplete"
  | "trigger"
  | "summary"
  | "instructions"
  | "stopActive"
  | "loopCount"
  | "details";

/** The ends of a session that agents tell apart; every other is `other`. */
const END_REASONS = ["clear", "resume", "logout", "prompt_input_exit", "exit", "other"];

/** Every fact. One that is undefined leaves its field out. */
export const FACTS: Readonly<Record<FactName, Fact>> = {
  session: ({ event }) => event.sessionId,
  name: ({ nativeName }) => nativeName,
  moment: ({ event }) => event.hook,
  cwd: ({ cwd }) => cwd,
  dir: ({ dir }) => dir,
  dirs: ({ dir }) => [dir],
  time: ({ event }) => event.timestamp,
  timeMs: ({ event }) => Date.parse(event.timestamp),
  /** Reading it gives nothing where there is no transcript. */
  transcript: ({ transcript }) => transcript ?? "/dev/null",
  transcriptOrNull: ({ transcript }) => transcript,
  envFile: ({ envFile }) => envFile ?? undefined,
  dataDir: ({ dataDir }) => dataDir ?? undefined,
  permissionMode: ({ event }) => detail(event, "permissionMode", "default"),
  model: ({ event }) => detail(event, "model", undefined),
  effort: ({ event }) => detail(event, "effort", undefined),
  turnId: ({ event }) => detail(event, "turnId", undefined),
  promptId: ({ event }) => detail(event, "promptId", undefined),
  /** The agent, where it is a subagent. */
  agentId: ({ event: { agent, subagent } }) =>
    subagent ? `${subagent.parent}.${subagent.name}` : agent === "primary" ? undefined : agent,
  agentType: ({ event: { agent, subagent } }) => subagent?.name ?? (agent === "primary" ? undefined : agentName(agent)),
  subagent: ({ event }) => event.subagent?.name ?? "",
  parent: ({ event }) => event.subagent?.parent,
  task: ({ event }) => textOf(event.input),
  tool: ({ toolName }) => toolName,
  mcpServer: ({ mcp }) => mcp?.server,
  mcpTool: ({ mcp, toolName }) => mcp?.tool ?? toolName,
  input: ({ event }) => event.input ?? {},
  inputText: ({ event }) => JSON.stringify(event.input ?? {}),
  callId: ({ callId }) => callId,
  durationMs: ({ event }) => event.tool?.durationMs,
  output: ({ event }) => event.output ?? (event.error ? { error: event.error.message } : null),
  outputText: ({ event }) => textOf(event.output ?? event.error?.message),
  outputJson: ({ event }) => JSON.stringify(event.output ?? null),
  copilotResult: (context) => ({
    resultType: context.event.tool?.success === false ? "failure" : "success",
    textResultForLlm: textOf(context.event.output ?? context.event.error?.message),
  }),
  copilotResultSnake: (context) => ({
    result_type: context.event.tool?.success === false ? "failure" : "success",
    text_result_for_llm: textOf(context.event.output ?? context.event.error?.message),
  }),
  geminiResult: ({ event }) => {
    const text = textOf(event.output ?? event.error?.message);
    return { llmContent: text, returnDisplay: text, ...(event.error && { error: event.error.message }) };
  },
  geminiMcp: ({ mcp }) => mcp ? { server_name: mcp.server, tool_name: mcp.tool } : undefined,
  command: ({ event }) => inputField(event, ["command", "cmd", "script", "command_line"]),
  filePath: ({ event }) => inputField(event, ["file_path", "filePath", "path", "absolute_path", "notebook_path"]),
  content: ({ content }) => content ?? "",
  edits: ({ event }) => editsOf(event),
  error: ({ event }) => event.error?.message ?? "",
  errorCode: ({ event }) => event.error?.code ?? "unknown",
  errorObject: ({ event }) => ({ name: event.error?.code ?? "Error", message: event.error?.message ?? "" }),
  errorContext: ({ event }) => event.tool ? "tool_execution" : "system",
  failureType: ({ event }) => event.error?.code === "tool.timeout" ? "timeout" : "error",
  prompt: ({ event }) => promptOf(event),
  promptOrNone: ({ event }) => event.input === undefined ? undefined : promptOf(event),
  lastMessage: ({ event }) =>
    detail(event, "lastAssistantMessage", event.output === undefined ? "" : textOf(event.output)),
  source: ({ event }) => detail(event, "source", "startup"),
  sourceNew: ({ event }) => detail(event, "source", "new"),
  reason: ({ event }) => {
    const reason = detail(event, "reason", "other");
    return END_REASONS.includes(String(reason)) ? reason : "other";
  },
  reasonComplete: ({ event }) => detail(event, "reason", "complete"),
  trigger: ({ event }) => triggerOf(event),
  summary: ({ event }) => textOf(event.output),
  instructions: ({ event }) => detail(event, "customInstructions", ""),
  stopActive: ({ event }) => event.details?.["stopHookActive"] === true,
  loopCount: ({ event }) => event.details?.["stopHookActive"] === true ? 1 : 0,
  details: ({ event }) => event.details,
};

function detail({ details = {} }: HookEvent, name: string, otherwise: unknown): unknown {
  return Object.hasOwn(details, name) ? details[name] : otherwise;
}

/** Agents compact because a person asked, or by themselves. */
function triggerOf(event: HookEvent): string {
  return detail(event, "trigger", "auto") === "manual" ? "manual" : "auto";
}

/** A prompt is text, or a map that holds it. */
function promptOf({ input }: HookEvent): string {
  if (typeof input === "string") return input;
  const prompt = (input as { prompt?: unknown } | null | undefined)?.prompt;
  return typeof prompt === "string" ? prompt : textOf(input);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function inputField({ input }: HookEvent, names: readonly string[]): string {
  const map = (typeof input === "object" && input !== null ? input : {}) as Readonly<Record<string, unknown>>;
  const found = names.map((name) => Object.hasOwn(map, name) ? map[name] : undefined);
  const text = found.find((value) => typeof value === "string");
  return typeof text === "string" ? text : typeof input === "string" ? input : "";
}

/** The edits of a file: one for a replaced text, or for a whole content. */
function editsOf(event: HookEvent): readonly { readonly old_string: string; readonly new_string: string }[] {
  const old_string = inputField(event, ["old_string", "oldString"]);
  const new_string = inputField(event, ["new_string", "newString", "content", "file_text"]);
  return [{ old_string, new_string }];
}
