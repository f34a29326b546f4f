/**
 * Hook files of Cursor.
 *
 * @module
 */
import { CLAUDE_DECISIONS } from "./claude.ts";
import type { DialectEvent, DialectFields, DialectSpec } from "./types.ts";

const COMMON: DialectFields = {
  conversation_id: "session",
  generation_id: "turnId",
  model: "model",
  hook_event_name: "name",
  cursor_version: { fixed: "0" },
  workspace_roots: "dirs",
  user_email: { fixed: null },
  transcript_path: "transcriptOrNull",
};
const CALL: DialectFields = { tool_name: "tool", tool_input: "input", tool_use_id: "callId", cwd: "cwd" };
const SESSION: DialectFields = { session_id: "session", is_background_agent: { fixed: false } };
const GONE = "it is about inline completion, which this host does not have";

/** A moment at which exit code 2 and `continue` mean nothing, but for what is given. */
const at = (
  hook: DialectEvent["hook"],
  fields: DialectFields,
  own: Partial<DialectEvent> = {},
): DialectEvent => ({
  hook,
  matches: null,
  exit2: "ignore",
  stop: "ignore",
  may: [],
  ...own,
  fields: { ...COMMON, ...fields },
});

const EDIT: DialectFields = { file_path: "filePath", edits: "edits" };
const READ: DialectFields = { file_path: "filePath", content: "content", attachments: { fixed: [] } };
const FAILURE: DialectFields = { error_message: "error", failure_type: "failureType", is_interrupt: { fixed: false } };
const SHELL: DialectFields = { command: "command", sandbox: { fixed: false } };
const MCP: DialectFields = { tool_name: "mcpTool", tool_input: "inputText" };
const TIME: DialectFields = { duration: "durationMs" };
const DONE: DialectFields = { status: { fixed: "completed" }, loop_count: "loopCount" };
const AGENT: DialectFields = { subagent_type: "subagent", task: "task" };
const STARTED: DialectFields = { subagent_id: "agentId", parent_conversation_id: "session", tool_call_id: "callId" };
const ENDED: DialectFields = { reason: "reason", final_status: { fixed: "completed" } };
const PROMPT: DialectFields = { prompt: "prompt", attachments: { fixed: [] } };
/** A tool of any kind, or of one; an exit code of 2 blocks it. */
const before = (fields: DialectFields, own: Partial<DialectEvent>): DialectEvent =>
  at("PreToolUse", fields, { matches: "tool", exit2: "block", ...own });
const after = (fields: DialectFields, own: Partial<DialectEvent>): DialectEvent =>
  at("PostToolUse", fields, { matches: "tool", ...own });

const EVENTS: Readonly<Record<string, DialectEvent>> = {
  sessionStart: at("SessionStart", SESSION, { may: ["context"] }),
  sessionEnd: at("SessionEnd", { ...SESSION, ...ENDED }),
  beforeSubmitPrompt: at("UserPromptSubmitted", PROMPT, { exit2: "block", stop: "block" }),
  preToolUse: before(CALL, { may: ["input"] }),
  postToolUse: after({ ...CALL, tool_output: "outputJson", ...TIME }, {
    only: ["succeeded"],
    may: ["output", "context"],
  }),
  postToolUseFailure: at("OnError", { ...CALL, ...FAILURE, ...TIME }, { only: ["toolFailed"], matches: "tool" }),
  beforeShellExecution: before({ ...SHELL, cwd: "cwd" }, { only: ["shell"], matches: "command", may: ["ask"] }),
  afterShellExecution: after({ ...SHELL, output: "outputText", ...TIME }, { only: ["shell"], matches: "command" }),
  beforeMCPExecution: before({ ...MCP, command: "mcpServer" }, { only: ["mcp"], may: ["ask"] }),
  afterMCPExecution: after({ ...MCP, result_json: "outputJson", ...TIME }, { only: ["mcp"] }),
  beforeReadFile: before(READ, { only: ["read"] }),
  afterFileEdit: after(EDIT, { only: ["write", "edit"] }),
  subagentStart: at("SubagentStart", { ...AGENT, ...STARTED }, {
    matches: "subagent",
    exit2: "block",
    askDenies: true,
  }),
  subagentStop: at("SubagentStop", { ...AGENT, ...DONE, summary: "lastMessage" }, {
    matches: "subagent",
    deny: "block",
  }),
  preCompact: at("PreCompact", { trigger: "trigger" }),
  stop: at("SessionEnd", DONE, { turnEnd: true, deny: "block" }),
};

/** The hook files of Cursor. */
export const CURSOR: DialectSpec = {
  title: "Cursor",
  places: {
    project: [".cursor/hooks.json"],
    user: [".cursor/hooks.json"],
    plugin: ["hooks/hooks.json", "hooks/hooks-cursor.json"],
    managed: ["/etc/cursor/hooks.json"],
    userReadable: [".cursor/hooks"],
  },
  format: "json",
  version: "optional",
  events: EVENTS,
  leftOut: {
    afterAgentResponse: "this host does not call the model",
    afterAgentThought: "this host does not call the model",
    beforeTabFileRead: GONE,
    afterTabFileEdit: GONE,
    workspaceOpen: "this host opens no workspaces",
  },
  unknownEvent: "warn",
  badEntry: "file",
  entry: {
    shape: "flat",
    bash: [],
    powershell: [],
    command: ["command"],
    program: [],
    timeout: ["timeout", "timeoutSec"],
    unitMs: 1_000,
    type: "command",
    types: { prompt: "runs" },
    idle: ["failClosed", "name", "description", "statusMessage", "comment", "id", "enabled"],
    undone: { loop_limit: "the loop that calls onStop() decides how often it goes on" },
  },
  timeoutMs: 60_000,
  matcher: { names: null, split: /\|/ },
  exits: { json2: "beside" },
  answers: {
    nested: "hookSpecificOutput",
    decisions: [
      {
        key: "permission",
        deny: ["deny"],
        ask: ["ask"],
        reason: ["agent_message", "user_message", "agentMessage", "userMessage"],
      },
      ...CLAUDE_DECISIONS,
    ],
    stopReason: ["user_message", "userMessage", "stopReason"],
    input: ["updated_input", "updatedInput"],
    output: ["updated_mcp_tool_output"],
    context: ["additional_context", "additionalContext"],
    shown: ["user_message", "userMessage", "systemMessage"],
    goOn: ["followup_message"],
  },
  env: {
    CURSOR_PROJECT_DIR: "dir",
    CURSOR_VERSION: { fixed: "0" },
    CURSOR_TRANSCRIPT_PATH: "transcriptOrNull",
    CLAUDE_PROJECT_DIR: "dir",
  },
  userCwd: ".cursor",
  isOneTool: true,
  tools: {
    shell: ["Shell"],
    read: ["Read", "TabRead"],
    write: ["Write", "TabWrite"],
    edit: ["Write", "StrReplace", "Edit"],
    grep: ["Grep"],
    agent: ["Task"],
    fetch: ["WebFetch"],
    search: ["WebSearch"],
  },
  mcpTool: "MCP:{tool}",
};
