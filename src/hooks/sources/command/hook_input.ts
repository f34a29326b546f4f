/**
 * The stdin of a hook's command: the event in the words of the hook's own dialect.
 *
 * @module
 */
import type { HookEvent } from "../../engine/types.ts";
import type { FileHook } from "../../files/types.ts";

/** Whose words a hook speaks: names that begin small are Copilot's, all others Claude Code's and VS Code's. */
export function hookShape({ dialect, nativeName }: Pick<FileHook, "dialect" | "nativeName">): "copilot" | "claude" {
  const isNested = dialect === "claude" || dialect === "plugin";
  return !isNested && /^[a-z]/.test(nativeName) ? "copilot" : "claude";
}

/** Returns the event as JSON. Beside the dialect's own fields stand those of the portable envelope (B-005). */
export function hookInput(hook: FileHook, event: HookEvent, cwd: string): string {
  const { input: _input, output: _output, details: _details, error: _error, timestamp: _time, ...envelope } = event;
  const own = hookShape(hook) === "copilot" ? copilotFields(event) : claudeFields(event, hook);
  return `${JSON.stringify({ ...envelope, ...own, cwd })}\n`;
}

function copilotFields(event: HookEvent): Record<string, unknown> {
  const { hook, tool, input, output, error, details = {}, subagent } = event;
  const timestamp = Date.parse(event.timestamp);
  const call = { toolName: tool?.name ?? "", toolArgs: JSON.stringify(input ?? {}) };
  switch (hook) {
    case "SessionStart":
      return { timestamp, source: detail(details, "source", "new"), initialPrompt: promptOf(input) };
    case "SessionEnd":
      return { timestamp, reason: detail(details, "reason", "complete") };
    case "UserPromptSubmitted":
      return { timestamp, prompt: promptOf(input) };
    case "PreToolUse":
      return { timestamp, ...call };
    case "PostToolUse": {
      const resultType = tool?.success === false ? "failure" : "success";
      return { timestamp, ...call, toolResult: { resultType, textResultForLlm: textOf(output ?? error?.message) } };
    }
    case "OnError":
      return { timestamp, error: { name: error?.code ?? "Error", message: error?.message ?? "" } };
    case "SubagentStart":
    case "SubagentStop":
      return { timestamp, agentName: subagent?.name ?? "" };
    default:
      return { timestamp, ...details };
  }
}

function claudeFields(event: HookEvent, { nativeName }: FileHook): Record<string, unknown> {
  return {
    session_id: event.sessionId,
    // There is no transcript file; reading this one gives nothing.
    transcript_path: "/dev/null",
    permission_mode: "default",
    hook_event_name: nativeName,
    timestamp: event.timestamp,
    ...claudeMoment(event),
  };
}

function claudeMoment(
  { hook, tool, input, output, error, details = {}, subagent }: HookEvent,
): Record<string, unknown> {
  const call = { tool_name: tool?.name ?? "", tool_input: input ?? {} };
  switch (hook) {
    case "SessionStart":
      return { source: detail(details, "source", "startup") };
    case "SessionEnd":
      return { reason: detail(details, "reason", "other"), stop_hook_active: details["stopHookActive"] === true };
    case "UserPromptSubmitted":
      return { prompt: promptOf(input) };
    case "PreToolUse":
      return call;
    case "PostToolUse":
      return { ...call, tool_response: output ?? (error ? { error: error.message } : null) };
    case "OnError":
      return { ...call, error: error?.message ?? "" };
    case "PreCompact":
    case "PostCompact":
      return { trigger: detail(details, "trigger", "auto"), custom_instructions: "" };
    case "SubagentStart":
    case "SubagentStop":
      return { agent_type: subagent?.name ?? "", stop_hook_active: false };
    case "OnBudgetExceeded":
      return { ...details };
  }
}

function detail(details: Readonly<Record<string, unknown>>, name: string, otherwise: string): unknown {
  return Object.hasOwn(details, name) ? details[name] : otherwise;
}

/** A prompt is text, or a map that holds it. */
function promptOf(input: unknown): string {
  if (typeof input === "string") return input;
  const prompt = (input as { prompt?: unknown } | null | undefined)?.prompt;
  return typeof prompt === "string" ? prompt : input === undefined ? "" : JSON.stringify(input);
}

function textOf(output: unknown): string {
  return typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output);
}
