import assert from "node:assert/strict";
import { test } from "node:test";
import { dialectEvent } from "../../../../src/hooks/files/dialects/all.ts";
import { hookInput, hookVariables } from "../../../../src/hooks/sources/command/hook_input.ts";
import { hookAnswer } from "../../../../src/hooks/sources/command/hook_output.ts";
import type { CommandEnd } from "../../../../src/hooks/sources/command/types.ts";
import type { FileHook } from "../../../../src/hooks/files/types.ts";
import type { HookEvent } from "../../../../src/hooks/engine/types.ts";
import { hookEvent } from "../../../support/hook_repo.ts";

type Dialect = FileHook["dialect"];
const RUN = { cwd: "/r", dir: "/r", transcript: "/t.jsonl", callId: "toolu_1", envFile: null, dataDir: null };

const hookOf = (dialect: Dialect, nativeName: string): FileHook => ({
  id: "f:x[0]",
  hook: dialectEvent(dialect, nativeName)!.hook,
  nativeName,
  dialect,
  file: "/r/f",
  line: 3,
  path: "hooks.x[0]",
  commands: { bash: "x" },
  env: {},
  timeoutMs: 1_000,
  background: false,
  agent: null,
  advisory: false,
});

/** The stdin of a hook. */
const told = (dialect: Dialect, name: string, own: Partial<HookEvent> = {}): Record<string, unknown> => {
  const hook = hookOf(dialect, name);
  return JSON.parse(hookInput(hook, hookEvent({ hook: hook.hook, ...own }), RUN));
};

/** The answer of a hook that printed JSON or text, or ended with a code. */
function said(dialect: Dialect, name: string, output: unknown, end: Partial<CommandEnd> & { code?: number } = {}) {
  const { code = 0, ...rest } = end;
  const stdout = typeof output === "string" ? output : JSON.stringify(output);
  const hook = hookOf(dialect, name);
  const event = hookEvent({ hook: hook.hook, input: { command: "ls", cwd: "/r" } });
  return hookAnswer(hook, { exit: { code, signal: null }, ended: "exit", stdout, stderr: "", ...rest }, event);
}

const refused = (dialect: Dialect, name: string, stderr = "no") => said(dialect, name, "", { code: 2, stderr });

test("N-038 each dialect gets its own fields on stdin", () => {
  const shell = { tool: { name: "shell", durationMs: 7 }, input: { command: "ls" } };
  const mcp = { tool: { name: "memory.save" }, input: { a: 1 } };
  const table: readonly (readonly [Dialect, string, Partial<HookEvent>, Record<string, unknown>])[] = [
    ["cursor", "beforeShellExecution", shell, { command: "ls", cwd: "/r", hook_event_name: "beforeShellExecution" }],
    ["cursor", "afterShellExecution", { ...shell, output: "a" }, { output: "a", duration: 7 }],
    ["cursor", "beforeMCPExecution", mcp, { tool_name: "save", tool_input: '{"a":1}' }],
    ["cursor", "postToolUse", { ...shell, output: { n: 1 } }, { tool_name: "Shell", tool_output: '{"n":1}' }],
    ["cursor", "beforeReadFile", { tool: { name: "Read" }, input: { file_path: "/a" } }, { file_path: "/a" }],
    [
      "cursor",
      "afterFileEdit",
      { tool: { name: "Edit" }, input: { file_path: "/a", old_string: "x", new_string: "y" } },
      { file_path: "/a", edits: [{ old_string: "x", new_string: "y" }] },
    ],
    ["cursor", "stop", {}, { status: "completed", loop_count: 0, workspace_roots: ["/r"], conversation_id: "ses_1" }],
    ["codex", "PreToolUse", shell, { tool_name: "Bash", tool_use_id: "toolu_1", transcript_path: "/t.jsonl" }],
    ["codex", "Stop", { details: { lastAssistantMessage: "done" } }, { last_assistant_message: "done" }],
    ["gemini", "BeforeTool", shell, { tool_name: "run_shell_command", hook_event_name: "BeforeTool" }],
    ["gemini", "BeforeTool", mcp, {
      tool_name: "mcp_memory_save",
      mcp_context: { server_name: "memory", tool_name: "save" },
    }],
    ["gemini", "AfterTool", { ...shell, output: "a" }, { tool_response: { llmContent: "a", returnDisplay: "a" } }],
    ["gemini", "BeforeAgent", { input: "hi" }, { prompt: "hi" }],
    ["windsurf", "pre_run_command", shell, {
      agent_action_name: "pre_run_command",
      trajectory_id: "ses_1",
      tool_info: { command_line: "ls", cwd: "/r" },
    }],
    ["windsurf", "pre_mcp_tool_use", mcp, {
      tool_info: { mcp_server_name: "memory", mcp_tool_name: "save", mcp_tool_arguments: { a: 1 } },
    }],
    ["windsurf", "pre_user_prompt", { input: "hi" }, { tool_info: { user_prompt: "hi" } }],
  ];
  for (const [dialect, name, own, wanted] of table) {
    const got = told(dialect, name, own);
    for (const [field, value] of Object.entries(wanted)) {
      assert.deepEqual(got[field], value, `${dialect} ${name} ${field}`);
    }
  }
});

test("N-038 each dialect gets its own variables", () => {
  const variables = (dialect: Dialect, name: string) =>
    hookVariables(hookOf(dialect, name), hookEvent({ hook: hookOf(dialect, name).hook }), RUN);
  assert.deepEqual(variables("gemini", "BeforeTool"), {
    GEMINI_PROJECT_DIR: "/r",
    GEMINI_CWD: "/r",
    GEMINI_SESSION_ID: "ses_1",
    CLAUDE_PROJECT_DIR: "/r",
  });
  assert.equal(variables("cursor", "stop")["CURSOR_TRANSCRIPT_PATH"], "/t.jsonl");
  assert.deepEqual(variables("codex", "PreToolUse"), {});
});

const BLOCK = { action: "block", reason: "no" };

test("N-038 exit code 2 does in each dialect what it does there", () => {
  const table: readonly (readonly [Dialect, readonly string[], unknown])[] = [
    ["cursor", ["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"], BLOCK],
    ["cursor", ["beforeSubmitPrompt", "subagentStart"], BLOCK],
    ["cursor", ["postToolUse", "afterFileEdit", "stop", "sessionStart", "sessionEnd", "preCompact"], null],
    ["codex", ["PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop"], BLOCK],
    ["codex", ["PostToolUse"], { action: "modify", modifiedOutput: "no" }],
    ["codex", ["SessionStart", "PreCompact", "SessionEnd"], { action: "passThrough", warnings: ["no"] }],
    ["gemini", ["BeforeTool", "BeforeAgent", "AfterAgent"], BLOCK],
    ["gemini", ["AfterTool"], { action: "modify", modifiedOutput: "no" }],
    ["gemini", ["SessionStart", "SessionEnd", "PreCompress"], { action: "passThrough", warnings: ["no"] }],
    ["windsurf", ["pre_user_prompt", "pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use"], BLOCK],
    ["windsurf", ["post_run_command"], { action: "injectContext", additionalContext: ["no"] }],
    ["opencode", ["tool.before", "file_edited"], null],
  ];
  for (const [dialect, names, wanted] of table) {
    for (const name of names) assert.deepEqual(refused(dialect, name), wanted, `${dialect} ${name}`);
  }
});

test("N-038 exit code 2 without a word blocks in Claude Code and Cursor, and nothing in Codex and Gemini", () => {
  for (const [dialect, name] of [["codex", "PreToolUse"], ["gemini", "BeforeTool"]] as const) {
    assert.throws(
      () => refused(dialect, name, ""),
      { code: "hook.command_failed", message: /without a word/ },
      dialect,
    );
  }
  for (const [dialect, name] of [["claude", "PreToolUse"], ["cursor", "preToolUse"]] as const) {
    assert.equal(refused(dialect, name, "")?.action, "block", dialect);
  }
});

test("N-038 other codes fail the hook; of Gemini, those above 2 with a text deny, and JSON decides with any", () => {
  for (
    const [dialect, name] of [["cursor", "preToolUse"], ["codex", "PreToolUse"], [
      "windsurf",
      "pre_run_command",
    ]] as const
  ) {
    assert.throws(() => said(dialect, name, "", { code: 3, stderr: "no" }), { code: "hook.command_failed" }, dialect);
  }
  assert.deepEqual(said("gemini", "BeforeTool", "", { code: 3, stderr: "no" }), BLOCK);
  assert.throws(() => said("gemini", "BeforeTool", "", { code: 1, stderr: "no" }), { code: "hook.command_failed" });
  assert.equal(said("gemini", "BeforeTool", { decision: "allow" }, { code: 2 }), null);
  assert.deepEqual(said("gemini", "BeforeTool", "", { stderr: '{"decision":"deny","reason":"no"}' }), BLOCK);
});

test("N-038 Cursor's answers: permission, messages, a follow-up that makes the agent go on", () => {
  const deny = { permission: "deny", user_message: "for you", agent_message: "for it" };
  assert.deepEqual(said("cursor", "beforeShellExecution", deny), {
    action: "block",
    reason: "for it",
    warnings: ["for you"],
  });
  assert.deepEqual(said("cursor", "beforeShellExecution", { permission: "ask", agent_message: "sure?" }), {
    action: "ask",
    reason: "sure?",
  });
  // Before a tool of any kind Cursor takes the word and asks nobody.
  assert.equal(said("cursor", "preToolUse", { permission: "ask" })?.action, "passThrough");
  assert.equal(said("cursor", "subagentStart", { permission: "ask" })?.action, "block");
  assert.deepEqual(said("cursor", "preToolUse", { permission: "allow", updated_input: { command: "pwd" } }), {
    action: "modify",
    modifiedInput: { command: "pwd" },
  });
  assert.deepEqual(said("cursor", "beforeSubmitPrompt", { continue: false, user_message: "no" }), {
    ...BLOCK,
    warnings: ["no"],
  });
  assert.deepEqual(said("cursor", "stop", { followup_message: "go on" }), { action: "block", reason: "go on" });
  assert.deepEqual(said("cursor", "postToolUse", { additional_context: "c", updated_mcp_tool_output: "x" }), {
    action: "injectContext",
    additionalContext: ["c"],
  });
  const claude = {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" },
  };
  assert.deepEqual(said("cursor", "preToolUse", claude), BLOCK);
});

test("N-038 Codex's answers: an ask, or a key it does not know, fails the hook", () => {
  const specific = (own: object) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...own } });
  const deny = specific({ permissionDecision: "deny", permissionDecisionReason: "no" });
  assert.deepEqual(said("codex", "PreToolUse", deny), BLOCK);
  const allow = specific({ permissionDecision: "allow", updatedInput: { command: "pwd" } });
  assert.deepEqual(said("codex", "PreToolUse", allow), { action: "modify", modifiedInput: { command: "pwd" } });
  for (const bad of [specific({ permissionDecision: "ask" }), { decision: "approve" }, { odd: 1 }]) {
    assert.throws(() => said("codex", "PreToolUse", bad), { code: "hook.answer_invalid" }, JSON.stringify(bad));
  }
  assert.throws(() => said("codex", "Stop", "some text"), { code: "hook.answer_invalid" });
  assert.deepEqual(said("codex", "SubagentStart", "be brief"), {
    action: "injectContext",
    additionalContext: ["be brief"],
  });
});

test("N-038 Gemini's answers: deny, ask, an input that is laid over the old one, text that is shown", () => {
  assert.deepEqual(said("gemini", "BeforeTool", { decision: "deny", reason: "no" }), BLOCK);
  assert.deepEqual(said("gemini", "BeforeTool", { decision: "ask", reason: "sure?" }), {
    action: "ask",
    reason: "sure?",
  });
  assert.deepEqual(said("gemini", "BeforeTool", { hookSpecificOutput: { tool_input: { command: "pwd" } } }), {
    action: "modify",
    modifiedInput: { command: "pwd", cwd: "/r" },
  });
  assert.deepEqual(said("gemini", "AfterTool", { decision: "deny", reason: "hidden" }), {
    action: "modify",
    modifiedOutput: "hidden",
  });
  assert.deepEqual(said("gemini", "BeforeTool", "looking"), { action: "passThrough", warnings: ["looking"] });
  assert.deepEqual(said("gemini", "AfterAgent", { continue: false, stopReason: "enough" }), {
    action: "passThrough",
    warnings: ["enough"],
  });
});

test("N-038 what hooks of Windsurf and opencode print means nothing", () => {
  assert.equal(said("windsurf", "pre_run_command", { decision: "block", reason: "no" }), null);
  assert.equal(said("opencode", "tool.before", { decision: "block" }, { code: 1 }), null);
});
