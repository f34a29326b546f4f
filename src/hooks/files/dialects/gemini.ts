/**
 * Hook files of Gemini CLI.
 *
 * @module
 */
import type { DialectEvent, DialectFields, DialectSpec } from "./types.ts";

const COMMON: DialectFields = {
  session_id: "session",
  transcript_path: "transcript",
  cwd: "cwd",
  hook_event_name: "name",
  timestamp: "time",
};
const CALL: DialectFields = { ...COMMON, tool_name: "tool", tool_input: "input", mcp_context: "geminiMcp" };
const NO_MODEL = "this host does not call the model";
/** Moments at which a hook only advises. */
const ADVISES = { exit2: "show", stop: "ignore", text: "show" } as const;

const EVENTS: Readonly<Record<string, DialectEvent>> = {
  SessionStart: {
    hook: "SessionStart",
    matches: "source",
    ...ADVISES,
    may: ["context"],
    fields: { ...COMMON, source: "source" },
  },
  SessionEnd: { hook: "SessionEnd", matches: "reason", ...ADVISES, may: [], fields: { ...COMMON, reason: "reason" } },
  BeforeAgent: {
    hook: "UserPromptSubmitted",
    matches: null,
    exit2: "block",
    text: "show",
    may: ["context"],
    fields: { ...COMMON, prompt: "prompt" },
  },
  AfterAgent: {
    hook: "SessionEnd",
    turnEnd: true,
    matches: null,
    exit2: "block",
    stop: "end",
    text: "show",
    may: [],
    fields: { ...COMMON, prompt: "prompt", prompt_response: "lastMessage", stop_hook_active: "stopActive" },
  },
  BeforeTool: {
    hook: "PreToolUse",
    matches: "tool",
    exit2: "block",
    text: "show",
    may: ["input", "ask"],
    fields: CALL,
  },
  AfterTool: {
    hook: "PostToolUse",
    matches: "tool",
    exit2: "replace",
    text: "show",
    may: ["context"],
    fields: { ...CALL, tool_response: "geminiResult" },
  },
  PreCompress: {
    hook: "PreCompact",
    matches: "trigger",
    ...ADVISES,
    may: [],
    fields: { ...COMMON, trigger: "trigger" },
  },
};

/** The hook files of Gemini CLI. */
export const GEMINI: DialectSpec = {
  title: "Gemini CLI",
  places: {
    project: [".gemini/settings.json"],
    user: [".gemini/settings.json"],
    plugin: ["hooks/hooks.json"],
    managed: ["/etc/gemini-cli/settings.json"],
    userReadable: [".gemini/hooks"],
  },
  format: "jsonc",
  version: "none",
  events: EVENTS,
  leftOut: {
    BeforeModel: NO_MODEL,
    AfterModel: NO_MODEL,
    BeforeToolSelection: NO_MODEL,
    Notification: "it is about a screen that this host does not have",
  },
  unknownEvent: "warn",
  badEntry: "entry",
  entry: {
    shape: "nested",
    bash: [],
    powershell: [],
    command: ["command"],
    program: [],
    timeout: ["timeout"],
    unitMs: 1,
    env: "env",
    type: null,
    types: { runtime: "it is for code only" },
    idle: ["name", "description", "comment"],
  },
  timeoutMs: 60_000,
  matcher: { names: null, split: /\|/, literalIfBad: true, causesExact: true },
  exits: { needsText: true, json2: "instead", jsonAnyCode: true, aboveTwo: true, anyStream: true },
  answers: {
    nested: "hookSpecificOutput",
    decisions: [{ key: "decision", deny: ["deny", "block"], ask: ["ask"], reason: ["reason", "stopReason"] }],
    stopReason: ["stopReason", "reason"],
    input: ["tool_input"],
    inputMerges: true,
    output: [],
    context: ["additionalContext"],
    shown: ["systemMessage"],
  },
  env: {
    GEMINI_PROJECT_DIR: "dir",
    GEMINI_CWD: "cwd",
    GEMINI_SESSION_ID: "session",
    CLAUDE_PROJECT_DIR: "dir",
  },
  tools: {
    shell: ["run_shell_command"],
    read: ["read_file", "read_many_files"],
    write: ["write_file"],
    edit: ["replace"],
    glob: ["glob"],
    grep: ["grep_search", "search_file_content"],
    list: ["list_directory"],
    fetch: ["web_fetch"],
    search: ["google_web_search"],
    agent: ["invoke_agent"],
    ask: ["ask_user"],
    todo: ["write_todos"],
  },
  mcpTool: "mcp_{server}_{tool}",
};
