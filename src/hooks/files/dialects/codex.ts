/**
 * Hook files of Codex: Claude Code's, read more strictly.
 *
 * @module
 */
import { CLAUDE, CLAUDE_EVENTS } from "./claude.ts";
import type { DialectEvent, DialectSpec } from "./types.ts";

const codex = (event: DialectEvent, own: Partial<DialectEvent> = {}): DialectEvent => ({
  ...event,
  ...own,
  env: {},
  fields: { ...event.fields, transcript_path: "transcriptOrNull", model: "model", turn_id: "turnId", ...own.fields },
});

const SHELL_CALL = { fields: { tool_name: "tool" } } as const;

/** The hook files of Codex, in JSON and in TOML. */
export const CODEX: DialectSpec = {
  ...CLAUDE,
  title: "Codex",
  places: {
    project: [".codex/hooks.json", ".codex/config.toml"],
    user: [".codex/hooks.json", ".codex/config.toml"],
    plugin: ["hooks/hooks.json", ".codex-plugin/hooks/hooks.json"],
    managed: ["/etc/codex/requirements.toml", "/etc/codex/config.toml"],
    userReadable: [".codex/hooks"],
  },
  version: "forbidden",
  topLevel: ["description", "hooks"],
  events: {
    SessionStart: codex(CLAUDE_EVENTS.SessionStart),
    SessionEnd: codex(CLAUDE_EVENTS.SessionEnd, { timeoutMs: 1_000, maxTimeoutMs: 3_000, waits: true }),
    UserPromptSubmit: codex(CLAUDE_EVENTS.UserPromptSubmit, { timeoutMs: 600_000 }),
    PreToolUse: codex(CLAUDE_EVENTS.PreToolUse, { stop: "ignore", ...SHELL_CALL }),
    PostToolUse: codex(CLAUDE_EVENTS.PostToolUse, { exit2: "replace", may: ["context"] }),
    PreCompact: codex(CLAUDE_EVENTS.PreCompact, { exit2: "show", deny: "show", stop: "block" }),
    PostCompact: codex(CLAUDE_EVENTS.PostCompact, { stop: "block" }),
    SubagentStart: codex(CLAUDE_EVENTS.SubagentStart, { text: "tell", stop: "ignore" }),
    SubagentStop: codex(CLAUDE_EVENTS.SubagentStop, { text: "fail", may: [] }),
    Stop: codex(CLAUDE_EVENTS.Stop, { text: "fail", may: [] }),
  },
  leftOut: {
    PermissionRequest: "this host asks by PreToolUse",
    Interrupt: "this host has no key that interrupts",
  },
  unknownEvent: "warn",
  badEntry: "file",
  entry: {
    ...CLAUDE.entry,
    powershell: ["commandWindows", "command_windows"],
    types: { mcp_tool: "runs", prompt: "Codex does not run it either", agent: "Codex does not run it either" },
    idle: ["statusMessage", "additionalContextLimit"],
    undone: {},
  },
  matcher: { names: /^[\w|]+$/, split: /\|/ },
  exits: { needsText: true, later: { exit2: "fails" } },
  answers: {
    ...CLAUDE.answers,
    decisions: [
      { key: "permissionDecision", deny: ["deny"], fails: ["ask"], reason: ["permissionDecisionReason"] },
      { key: "decision", deny: ["block"], fails: ["approve"], reason: ["reason"] },
    ],
    output: [],
    known: ["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"],
  },
  env: {},
  isOneTool: true,
  tools: {
    ...CLAUDE.tools,
    shell: ["Bash"],
    edit: ["apply_patch", "Edit", "Write"],
    write: ["apply_patch", "Write", "Edit"],
  },
};
