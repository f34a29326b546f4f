/**
 * Hook files of Claude Code.
 *
 * @module
 */
import type { DialectEvent, DialectFields, DialectSpec } from "./types.ts";

const COMMON: DialectFields = {
  session_id: "session",
  prompt_id: "promptId",
  transcript_path: "transcript",
  cwd: "cwd",
  hook_event_name: "name",
  timestamp: "time",
  agent_id: "agentId",
  agent_type: "agentType",
};
const MODE: DialectFields = { ...COMMON, permission_mode: "permissionMode" };
const CALL: DialectFields = {
  ...MODE,
  effort: "effort",
  tool_name: "tool",
  tool_input: "input",
  tool_use_id: "callId",
};
const STOP: DialectFields = {
  ...MODE,
  effort: "effort",
  stop_hook_active: "stopActive",
  last_assistant_message: "lastMessage",
};

/** The end of a turn, and of a subagent: a no makes it go on. */
const GOES_ON = { exit2: "block", stop: "end", may: ["context"], contextGoesOn: true } as const;

/** Names of moments in Claude Code that this host has. */
export type ClaudeEventName =
  | "SessionStart"
  | "UserPromptSubmit"
  | "PreToolUse"
  | "PostToolUse"
  | "PostToolUseFailure"
  | "StopFailure"
  | "SubagentStart"
  | "SubagentStop"
  | "PreCompact"
  | "PostCompact"
  | "Stop"
  | "SessionEnd";

/** The moments of Claude Code; other agents have taken most of them over. */
export const CLAUDE_EVENTS: Readonly<Record<ClaudeEventName, DialectEvent>> = {
  SessionStart: {
    hook: "SessionStart",
    matches: "source",
    exit2: "show",
    text: "tell",
    may: ["context"],
    fields: { ...COMMON, source: "source", model: "model" },
    env: { CLAUDE_ENV_FILE: "envFile" },
  },
  UserPromptSubmit: {
    hook: "UserPromptSubmitted",
    matches: null,
    exit2: "block",
    text: "tell",
    may: ["context"],
    timeoutMs: 30_000,
    fields: { ...MODE, prompt: "prompt" },
  },
  PreToolUse: {
    hook: "PreToolUse",
    matches: "tool",
    exit2: "block",
    may: ["input", "context", "ask"],
    fields: CALL,
  },
  PostToolUse: {
    hook: "PostToolUse",
    only: ["succeeded"],
    matches: "tool",
    exit2: "tell",
    may: ["output", "context"],
    fields: { ...CALL, tool_response: "output", duration_ms: "durationMs" },
  },
  PostToolUseFailure: {
    hook: "OnError",
    only: ["toolFailed"],
    matches: "tool",
    exit2: "tell",
    may: ["context"],
    fields: { ...CALL, error: "error", duration_ms: "durationMs", is_interrupt: { fixed: false } },
  },
  StopFailure: {
    hook: "OnError",
    only: ["noTool"],
    matches: "errorCode",
    exit2: "ignore",
    stop: "ignore",
    may: [],
    fields: { ...COMMON, error: "errorCode", error_details: "error", last_assistant_message: "error" },
  },
  SubagentStart: {
    hook: "SubagentStart",
    matches: "subagent",
    exit2: "show",
    may: ["context"],
    fields: COMMON,
  },
  SubagentStop: { hook: "SubagentStop", matches: "subagent", ...GOES_ON, fields: STOP },
  PreCompact: {
    hook: "PreCompact",
    matches: "trigger",
    exit2: "block",
    stop: "ignore",
    may: [],
    fields: { ...COMMON, trigger: "trigger", custom_instructions: "instructions" },
  },
  PostCompact: {
    hook: "PostCompact",
    matches: "trigger",
    exit2: "show",
    stop: "ignore",
    may: [],
    fields: { ...COMMON, trigger: "trigger", compact_summary: "summary" },
  },
  Stop: { hook: "SessionEnd", turnEnd: true, matches: null, ...GOES_ON, fields: STOP },
  SessionEnd: {
    hook: "SessionEnd",
    matches: "reason",
    exit2: "show",
    stop: "ignore",
    may: [],
    timeoutMs: 1_500,
    fields: { ...COMMON, reason: "reason" },
  },
};

const SCREEN = "it is about a screen that this host does not have";
const OWN = "only Claude Code has what it is about";

/** Answers of Claude Code, which other agents understand too. */
export const CLAUDE_DECISIONS: DialectSpec["answers"]["decisions"] = [
  {
    key: "permissionDecision",
    deny: ["deny"],
    ask: ["ask", "defer"],
    reason: ["permissionDecisionReason", "reason"],
  },
  { key: "decision", deny: ["block", "deny"], ask: ["ask"], reason: ["reason", "stopReason"] },
];

/** Claude Code. */
export const CLAUDE: DialectSpec = {
  title: "Claude Code",
  places: {
    project: [".claude/settings.json", ".claude/settings.local.json"],
    user: [".claude/settings.json"],
    plugin: ["hooks/hooks.json"],
    userReadable: [".claude/hooks"],
  },
  format: "json",
  version: "none",
  events: CLAUDE_EVENTS,
  leftOut: {
    Setup: "this host has no setup runs",
    InstructionsLoaded: OWN,
    UserPromptExpansion: "this host has no commands that a prompt expands",
    MessageDisplay: SCREEN,
    PermissionRequest: "this host asks by PreToolUse",
    PermissionDenied: "this host asks by PreToolUse",
    PostToolBatch: "this host runs one call at a time",
    Notification: SCREEN,
    TaskCreated: OWN,
    TaskCompleted: OWN,
    TeammateIdle: OWN,
    ConfigChange: OWN,
    CwdChanged: OWN,
    DirectoryAdded: OWN,
    FileChanged: OWN,
    WorktreeCreate: OWN,
    WorktreeRemove: OWN,
    Elicitation: "this host asks people by itself",
    ElicitationResult: "this host asks people by itself",
    PreModelSwitch: "this host does not call the model",
    PostModelSwitch: "this host does not call the model",
  },
  unknownEvent: "error",
  entry: {
    shape: "nested",
    bash: [],
    powershell: [],
    command: ["command"],
    program: [],
    timeout: ["timeout"],
    unitMs: 1_000,
    cwd: "cwd",
    env: "env",
    added: ["cwd", "env"],
    type: null,
    types: { http: "runs", mcp_tool: "runs", prompt: "runs", agent: "runs" },
    idle: ["statusMessage", "once", "description", "continueOnBlock"],
    undone: { asyncRewake: "nothing wakes the model; it runs in the background" },
  },
  timeoutMs: 600_000,
  matcher: { names: /^[\w\-, |]+$/, split: /[|,]/ },
  exits: { json2: "beside", jsonAnyCode: true },
  answers: {
    nested: "hookSpecificOutput",
    decisions: CLAUDE_DECISIONS,
    stopReason: ["stopReason", "reason"],
    input: ["updatedInput"],
    output: ["updatedToolOutput", "updatedMCPToolOutput"],
    context: ["additionalContext"],
    shown: ["systemMessage"],
  },
  env: { CLAUDE_PROJECT_DIR: "dir", CLAUDE_PLUGIN_DATA: "dataDir", PLUGIN_DATA: "dataDir" },
  tools: {
    shell: ["Bash", "PowerShell"],
    read: ["Read", "NotebookRead"],
    write: ["Write"],
    edit: ["Edit", "MultiEdit", "NotebookEdit"],
    glob: ["Glob"],
    grep: ["Grep"],
    list: ["LS"],
    fetch: ["WebFetch"],
    search: ["WebSearch"],
    agent: ["Agent", "Task"],
    ask: ["AskUserQuestion"],
    todo: ["TodoWrite"],
  },
  mcpTool: "mcp__{server}__{tool}",
};
