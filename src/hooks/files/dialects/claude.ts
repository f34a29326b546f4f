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

/** A moment that has no say, and whose texts the user sees, but for what is given. */
const at = (
  hook: DialectEvent["hook"],
  matches: DialectEvent["matches"],
  fields: DialectFields,
  own: Partial<DialectEvent> = {},
): DialectEvent => ({ hook, matches, exit2: "show", may: [], fields, ...own });

/** The end of a turn, and of a subagent: a no makes it go on. */
const GOES_ON: Partial<DialectEvent> = { exit2: "block", stop: "end", may: ["context"], contextGoesOn: true };
const QUIET: Partial<DialectEvent> = { stop: "ignore" };
const RESULT: DialectFields = { ...CALL, tool_response: "output", duration_ms: "durationMs" };
const FAILURE: DialectFields = { ...CALL, error: "error", duration_ms: "durationMs", is_interrupt: { fixed: false } };
const API_FAILURE: DialectFields = { error: "errorCode", error_details: "error", last_assistant_message: "error" };
const WINDOW: DialectFields = { ...COMMON, trigger: "trigger" };

/** The moments of Claude Code; other agents have taken most of them over. */
export const CLAUDE_EVENTS: Readonly<Record<ClaudeEventName, DialectEvent>> = {
  SessionStart: at("SessionStart", "source", { ...COMMON, source: "source", model: "model" }, {
    text: "tell",
    may: ["context"],
    env: { CLAUDE_ENV_FILE: "envFile" },
  }),
  UserPromptSubmit: at("UserPromptSubmitted", null, { ...MODE, prompt: "prompt" }, {
    exit2: "block",
    text: "tell",
    may: ["context"],
    timeoutMs: 30_000,
  }),
  PreToolUse: at("PreToolUse", "tool", CALL, { exit2: "block", may: ["input", "context", "ask"] }),
  PostToolUse: at("PostToolUse", "tool", RESULT, { only: ["succeeded"], exit2: "tell", may: ["output", "context"] }),
  PostToolUseFailure: at("OnError", "tool", FAILURE, { only: ["toolFailed"], exit2: "tell", may: ["context"] }),
  StopFailure: at("OnError", "errorCode", { ...COMMON, ...API_FAILURE }, {
    only: ["noTool"],
    exit2: "ignore",
    ...QUIET,
  }),
  SubagentStart: at("SubagentStart", "subagent", COMMON, { may: ["context"] }),
  SubagentStop: at("SubagentStop", "subagent", STOP, GOES_ON),
  PreCompact: at("PreCompact", "trigger", { ...WINDOW, custom_instructions: "instructions" }, {
    exit2: "block",
    ...QUIET,
  }),
  PostCompact: at("PostCompact", "trigger", { ...WINDOW, compact_summary: "summary" }, QUIET),
  Stop: at("SessionEnd", null, STOP, { turnEnd: true, ...GOES_ON }),
  SessionEnd: at("SessionEnd", "reason", { ...COMMON, reason: "reason" }, { ...QUIET, timeoutMs: 1_500 }),
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

/** The hook files of Claude Code, and of plugins made for it. */
export const CLAUDE: DialectSpec = {
  title: "Claude Code",
  places: {
    project: [".claude/settings.json", ".claude/settings.local.json"],
    user: [".claude/settings.json"],
    plugin: ["hooks/hooks.json"],
    managed: ["/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d/*.json"],
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
  badEntry: "entry",
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
    undone: {
      asyncRewake: "nothing wakes the model; it runs in the background, and its text waits for the next prompt or call",
    },
  },
  timeoutMs: 600_000,
  matcher: { names: /^[\w\-, |]+$/, split: /[|,]/ },
  exits: { json2: "beside", jsonAnyCode: true, later: { exit2: "ignore" } },
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
