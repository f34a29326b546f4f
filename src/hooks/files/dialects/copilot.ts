/**
 * Hook files of GitHub Copilot and VS Code. Both read the same files: moments that begin with a small letter have the
 * fields of Copilot's command line, others those of VS Code, which are Claude Code's.
 *
 * @module
 */
import { CLAUDE, CLAUDE_DECISIONS, CLAUDE_EVENTS } from "./claude.ts";
import type { ToolNaming } from "./tool_names.ts";
import type { DialectEvent, DialectFields, DialectSpec } from "./types.ts";

const CAMEL: DialectFields = { sessionId: "session", timestamp: "timeMs", cwd: "cwd" };
const CALL: DialectFields = { ...CAMEL, toolName: "tool", toolArgs: "inputText" };
const AGENT: DialectFields = { ...CAMEL, transcriptPath: "transcript", agentName: "subagent" };

/** A moment that has no say, and whose texts the user sees, but for what is given. */
const at = (hook: DialectEvent["hook"], fields: DialectFields, own: Partial<DialectEvent> = {}): DialectEvent => {
  return { hook, matches: null, exit2: "show", may: [], ...own, fields: { ...CAMEL, ...fields } };
};

const ENDED: DialectFields = { transcriptPath: "transcript", stopReason: { fixed: "end_turn" } };
const WORKER: DialectFields = { agentId: "agentId", agentType: "agentType", response: "lastMessage" };
const ERROR: DialectFields = { error: "errorObject", errorContext: "errorContext", recoverable: { fixed: true } };
const WINDOW: DialectFields = { transcriptPath: "transcript", trigger: "trigger", customInstructions: "instructions" };

const COPILOT_EVENTS: Readonly<Record<string, DialectEvent>> = {
  sessionStart: at("SessionStart", { source: "sourceNew", initialPrompt: "prompt" }, { may: ["context"] }),
  sessionEnd: at("SessionEnd", { reason: "reasonComplete" }),
  userPromptSubmitted: at("UserPromptSubmitted", { prompt: "prompt" }, { deny: "block", may: ["input", "context"] }),
  preToolUse: at("PreToolUse", CALL, {
    matches: "tool",
    exit2: "block",
    otherExit: "block",
    may: ["input", "context", "ask"],
  }),
  postToolUse: at("PostToolUse", { ...CALL, toolResult: "copilotResult" }, {
    only: ["succeeded"],
    matches: "tool",
    deny: "block",
    may: ["output", "context"],
  }),
  postToolUseFailure: at("OnError", { ...CALL, error: "error" }, {
    only: ["toolFailed"],
    exit2: "tell",
    exit2Text: "stdout",
    may: ["context"],
  }),
  errorOccurred: at("OnError", ERROR),
  agentStop: at("SessionEnd", { ...ENDED, stop_hook_active: "stopActive" }, { turnEnd: true, deny: "block" }),
  subagentStart: at("SubagentStart", AGENT, { matches: "subagent", may: ["context"] }),
  subagentStop: at("SubagentStop", { ...AGENT, ...WORKER, ...ENDED }, { deny: "block", may: ["output"] }),
  preCompact: at("PreCompact", WINDOW, { matches: "trigger" }),
};

/** VS Code's moments have Claude Code's fields, those of its first version, and the model. */
const FIRST: DialectFields = { sessionId: "session", hookEventName: "name", model: "model" };

const vscode = (event: DialectEvent, own: Partial<DialectEvent> = {}): DialectEvent => ({
  ...event,
  ...own,
  fields: { ...event.fields, ...own.fields, ...FIRST },
});

const { SessionStart, SubagentStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure } = CLAUDE_EVENTS;
const { PreCompact, Stop, SubagentStop, SessionEnd } = CLAUDE_EVENTS;

const VSCODE_EVENTS: Readonly<Record<string, DialectEvent>> = {
  SessionStart: vscode(SessionStart, {
    exit2: "ignore",
    text: "ignore",
    stop: "ignore",
    env: {},
    fields: { source: "sourceNew" },
  }),
  UserPromptSubmit: vscode(UserPromptSubmit, { text: "ignore" }),
  PreToolUse: vscode(PreToolUse),
  PostToolUse: vscode(PostToolUse, { fields: { tool_response: "outputText", tool_result: "copilotResultSnake" } }),
  PostToolUseFailure: vscode(PostToolUseFailure),
  PreCompact: vscode(PreCompact, { exit2: "show" }),
  SubagentStart: vscode(SubagentStart, { exit2: "ignore", stop: "ignore" }),
  SubagentStop: vscode(SubagentStop),
  Stop: vscode(Stop),
  SessionEnd: vscode(SessionEnd, { timeoutMs: 30_000 }),
  ErrorOccurred: {
    hook: "OnError",
    matches: null,
    exit2: "show",
    may: [],
    fields: { ...SessionEnd.fields, error: "errorObject", error_context: "errorContext", recoverable: { fixed: true } },
  },
};

/** GitHub Copilot and VS Code. */
export const COPILOT: DialectSpec = {
  title: "GitHub Copilot and VS Code",
  places: {
    project: [".github/hooks/*.json", ".github/copilot/settings.json", ".github/copilot/settings.local.json"],
    user: [".copilot/hooks/*.json", ".copilot/settings.json"],
    plugin: ["hooks.json", "hooks/hooks.json", "com.github.copilot/hooks/hooks.json"],
    managed: ["/etc/github-copilot/policy.d/*.json"],
    userReadable: [".copilot/hooks"],
  },
  format: "jsonc",
  version: "optional",
  events: { ...COPILOT_EVENTS, ...VSCODE_EVENTS },
  leftOut: {
    permissionRequest: "this host asks by preToolUse",
    PermissionRequest: "this host asks by PreToolUse",
    notification: "it is about a screen that this host does not have",
    Notification: "it is about a screen that this host does not have",
    userPromptTransformed: "this host has one prompt",
    preMcpToolCall: "it is for code only",
  },
  unknownEvent: "error",
  badEntry: "entry",
  entry: {
    shape: "both",
    bash: ["bash", "linux"],
    powershell: ["powershell", "windows"],
    command: ["command"],
    program: ["exec"],
    timeout: ["timeoutSec", "timeout"],
    unitMs: 1_000,
    cwd: "cwd",
    env: "env",
    type: "command",
    types: { http: "runs", prompt: "it would be submitted as if typed, and this host has no prompt line" },
    idle: ["osx", "comment", "description", "statusMessage", "once"],
  },
  timeoutMs: 30_000,
  matcher: { names: /^[\w\-, |]+$/, split: /[|,]/, anchored: true },
  exits: { json2: "beside" },
  answers: {
    nested: "hookSpecificOutput",
    decisions: CLAUDE_DECISIONS,
    stopReason: ["stopReason", "reason"],
    input: ["updatedInput", "modifiedArgs", "modifiedPrompt"],
    output: [
      "modifiedResult.textResultForLlm",
      "modifiedResult",
      "modifiedResponse",
      "updatedToolOutput",
      "updatedMCPToolOutput",
    ],
    context: ["additionalContext"],
    shown: ["systemMessage"],
    progress: true,
  },
  env: { COPILOT_CLI: { fixed: "1" } },
  tools: {
    shell: ["bash", "powershell"],
    read: ["view"],
    write: ["create"],
    edit: ["edit", "str_replace_editor", "apply_patch"],
    glob: ["glob"],
    grep: ["grep", "rg"],
    fetch: ["web_fetch"],
    search: ["web_search"],
    agent: ["task"],
    ask: ["ask_user"],
    todo: ["update_todo"],
  },
  mcpTool: "{server}-{tool}",
};

/** VS Code's part of {@link COPILOT}: its moments call tools as Claude Code does. */
export const VSCODE: ToolNaming = CLAUDE;
