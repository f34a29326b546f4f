/**
 * Hook files of Windsurf's Cascade, which is Devin Desktop now.
 *
 * @module
 */
import type { DialectEvent, DialectFields, DialectSpec } from "./types.ts";
import type { FactName } from "./facts.ts";

const COMMON: DialectFields = {
  agent_action_name: "name",
  trajectory_id: "session",
  execution_id: "turnId",
  timestamp: "time",
  model_name: "model",
};

type Part = Readonly<Record<string, FactName>>;
const FILE: Part = { file_path: "filePath" };
const EDIT: Part = { ...FILE, edits: "edits" };
const COMMAND: Part = { command_line: "command", cwd: "cwd" };
const MCP: Part = { mcp_server_name: "mcpServer", mcp_tool_name: "mcpTool", mcp_tool_arguments: "input" };

/** Fields with a dot stand in a map: `tool_info.cwd` is `cwd` of `tool_info`. */
const info = (part: Part): DialectFields => ({
  ...COMMON,
  ...Object.fromEntries(Object.entries(part).map(([name, fact]) => [`tool_info.${name}`, fact])),
});
const before = (only: DialectEvent["only"], part: Part): DialectEvent => ({
  hook: "PreToolUse",
  ...(only && { only }),
  matches: null,
  exit2: "block",
  may: [],
  fields: info(part),
});
const after = (only: DialectEvent["only"], part: Part): DialectEvent => ({
  ...before(only, part),
  hook: "PostToolUse",
  exit2: "tell",
});
const turnEnd = (part: Part): DialectEvent => ({
  ...before(undefined, part),
  hook: "SessionEnd",
  turnEnd: true,
  exit2: "tell",
});

/** The hook files of Windsurf. */
export const WINDSURF: DialectSpec = {
  title: "Windsurf",
  places: {
    project: [".devin/hooks.json", ".windsurf/hooks.json"],
    user: [".codeium/windsurf/hooks.json", ".codeium/hooks.json"],
    plugin: [],
    managed: ["/etc/devin/hooks.json", "/etc/windsurf/hooks.json"],
    userReadable: [".codeium/windsurf/hooks", ".codeium/hooks"],
  },
  format: "json",
  version: "none",
  events: {
    pre_user_prompt: { ...before(undefined, { user_prompt: "prompt" }), hook: "UserPromptSubmitted" },
    pre_read_code: before(["read"], FILE),
    post_read_code: after(["read"], FILE),
    pre_write_code: before(["write", "edit"], EDIT),
    post_write_code: after(["write", "edit"], EDIT),
    pre_run_command: before(["shell"], COMMAND),
    post_run_command: after(["shell"], COMMAND),
    pre_mcp_tool_use: before(["mcp"], MCP),
    post_mcp_tool_use: after(["mcp"], { ...MCP, mcp_result: "outputText" }),
    post_cascade_response: turnEnd({ response: "lastMessage" }),
    post_cascade_response_with_transcript: turnEnd({ transcript_path: "transcript" }),
  },
  leftOut: { post_setup_worktree: "this host makes no worktrees" },
  unknownEvent: "warn",
  badEntry: "file",
  entry: {
    shape: "flat",
    bash: [],
    powershell: ["powershell"],
    command: ["command"],
    program: [],
    timeout: [],
    unitMs: 1_000,
    cwd: "working_directory",
    type: "command",
    types: {},
    idle: ["show_output", "description", "name"],
  },
  timeoutMs: 60_000,
  matcher: { names: null, split: /\|/ },
  exits: {},
  answers: { decisions: [], input: [], output: [], context: [], shown: [] },
  env: {},
  tools: {},
  mcpTool: "{tool}",
};
