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

const COPILOT_EVENTS: Readonly<Record<string, DialectEvent>> = {
  sessionStart: {
    hook: "SessionStart",
    matches: null,
    exit2: "show",
    may: ["context"],
    fields: { ...CAMEL, source: "sourceNew", initialPrompt: "prompt" },
  },
  sessionEnd: {
    hook: "SessionEnd",
    matches: null,
    exit2: "show",
    may: [],
    fields: { ...CAMEL, reason: "reasonComplete" },
  },
  userPromptSubmitted: {
    hook: "UserPromptSubmitted",
    matches: null,
    exit2: "show",
    deny: "block",
    may: ["input", "context"],
    fields: { ...CAMEL, prompt: "prompt" },
  },
  preToolUse: {
    hook: "PreToolUse",
    matches: "tool",
    exit2: "block",
    may: ["input", "context", "ask"],
    fields: CALL,
  },
  postToolUse: {
    hook: "PostToolUse",
    only: ["succeeded"],
    matches: "tool",
    exit2: "show",
    deny: "block",
    may: ["output", "context"],
    fields: { ...CALL, toolResult: "copilotResult" },
  },
  postToolUseFailure: {
    hook: "OnError",
    only: ["toolFailed"],
    matches: null,
    exit2: "tell",
    exit2Text: "stdout",
    may: ["context"],
    fields: { ...CALL, error: "error" },
  },
  errorOccurred: {
    hook: "OnError",
    matches: null,
    exit2: "show",
    may: [],
    fields: { ...CAMEL, error: "errorObject", errorContext: "errorContext", recoverable: { fixed: true } },
  },
  agentStop: {
    hook: "SessionEnd",
    turnEnd: true,
    matches: null,
    exit2: "show",
    deny: "block",
    may: [],
    fields: {
      ...CAMEL,
      transcriptPath: "transcript",
      stopReason: { fixed: "end_turn" },
      stop_hook_active: "stopActive",
    },
  },
  subagentStart: { hook: "SubagentStart", matches: "subagent", exit2: "show", may: ["context"], fields: AGENT },
  subagentStop: {
    hook: "SubagentStop",
    matches: null,
    exit2: "show",
    deny: "block",
    may: ["output"],
    fields: {
      ...AGENT,
      agentId: "agentId",
      agentType: "agentType",
      response: "lastMessage",
      stopReason: { fixed: "end_turn" },
    },
  },
  preCompact: {
    hook: "PreCompact",
    matches: "trigger",
    exit2: "show",
    may: [],
    fields: { ...CAMEL, transcriptPath: "transcript", trigger: "trigger", customInstructions: "instructions" },
  },
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
