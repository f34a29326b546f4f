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

type Fields = (event: HookEvent) => Readonly<Record<string, unknown>>;

const copilotCall: Fields = ({ tool, input }) => ({
  toolName: tool?.name ?? "",
  toolArgs: JSON.stringify(input ?? {}),
});
const copilotAgent: Fields = ({ subagent }) => ({ agentName: subagent?.name ?? "" });

/** Fields of single moments in Copilot's words; at others it gets the details as they are. */
const COPILOT: Partial<Record<HookEvent["hook"], Fields>> = {
  SessionStart: (event) => ({ source: detail(event, "source", "new"), initialPrompt: promptOf(event) }),
  SessionEnd: (event) => ({ reason: detail(event, "reason", "complete") }),
  UserPromptSubmitted: (event) => ({ prompt: promptOf(event) }),
  PreToolUse: copilotCall,
  PostToolUse(event) {
    const resultType = event.tool?.success === false ? "failure" : "success";
    const textResultForLlm = textOf(event.output ?? event.error?.message);
    return { ...copilotCall(event), toolResult: { resultType, textResultForLlm } };
  },
  OnError: ({ error }) => ({ error: { name: error?.code ?? "Error", message: error?.message ?? "" } }),
  SubagentStart: copilotAgent,
  SubagentStop: copilotAgent,
};

function copilotFields(event: HookEvent): Record<string, unknown> {
  const fields = COPILOT[event.hook]?.(event) ?? event.details;
  return { timestamp: Date.parse(event.timestamp), ...fields };
}

const claudeCall: Fields = ({ tool, input }) => ({ tool_name: tool?.name ?? "", tool_input: input ?? {} });
const claudeAgent: Fields = ({ subagent }) => ({ agent_type: subagent?.name ?? "", stop_hook_active: false });
const claudeWindow: Fields = (event) => ({ trigger: detail(event, "trigger", "auto"), custom_instructions: "" });

/** Fields of single moments in Claude Code's words. */
const CLAUDE: Readonly<Record<HookEvent["hook"], Fields>> = {
  SessionStart: (event) => ({ source: detail(event, "source", "startup") }),
  SessionEnd: (event) => ({
    reason: detail(event, "reason", "other"),
    stop_hook_active: event.details?.["stopHookActive"] === true,
  }),
  UserPromptSubmitted: (event) => ({ prompt: promptOf(event) }),
  PreToolUse: claudeCall,
  PostToolUse: (event) => ({
    ...claudeCall(event),
    tool_response: event.output ?? (event.error ? { error: event.error.message } : null),
  }),
  OnError: (event) => ({ ...claudeCall(event), error: event.error?.message ?? "" }),
  PreCompact: claudeWindow,
  PostCompact: claudeWindow,
  SubagentStart: claudeAgent,
  SubagentStop: claudeAgent,
  OnBudgetExceeded: ({ details }) => ({ ...details }),
};

function claudeFields(event: HookEvent, { nativeName }: FileHook): Record<string, unknown> {
  return {
    session_id: event.sessionId,
    // There is no transcript file; reading this one gives nothing.
    transcript_path: "/dev/null",
    permission_mode: "default",
    hook_event_name: nativeName,
    timestamp: event.timestamp,
    ...CLAUDE[event.hook](event),
  };
}

function detail({ details = {} }: HookEvent, name: string, otherwise: string): unknown {
  return Object.hasOwn(details, name) ? details[name] : otherwise;
}

/** A prompt is text, or a map that holds it. */
function promptOf({ input }: HookEvent): string {
  if (typeof input === "string") return input;
  const prompt = (input as { prompt?: unknown } | null | undefined)?.prompt;
  return typeof prompt === "string" ? prompt : textOf(input);
}

function textOf(output: unknown): string {
  return typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output);
}
