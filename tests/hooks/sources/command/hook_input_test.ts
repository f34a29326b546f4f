import assert from "node:assert/strict";
import { test } from "node:test";
import { hookInput } from "../../../../src/hooks/sources/command/hook_input.ts";
import { dialectEvent } from "../../../../src/hooks/files/dialects/all.ts";
import type { FileHook } from "../../../../src/hooks/files/types.ts";
import type { HookEvent } from "../../../../src/hooks/engine/types.ts";
import { hookEvent } from "../../../support/hook_repo.ts";

/** Returns the stdin of a command of this dialect at a moment. */
function told(nativeName: string, dialect: FileHook["dialect"], own: Partial<HookEvent> = {}): Record<string, unknown> {
  const { hook } = dialectEvent(dialect, nativeName)!;
  const file = { id: "f", hook, nativeName, dialect, file: "/r/f", line: 1, path: "hooks", commands: { bash: "x" } };
  const rest = { env: {}, timeoutMs: 1_000, background: false, agent: null, advisory: false };
  return JSON.parse(hookInput({ ...file, ...rest }, hookEvent({ hook, ...own }), RUN));
}

/** The facts of a run, but for those that are given. */
const RUN = { cwd: "/r", dir: "/r", transcript: "/t.jsonl", callId: "toolu_1", envFile: null, dataDir: null };

const AT = Date.parse("2026-01-01T00:00:00.000Z");
const SUBAGENT = { name: "researcher", parent: "primary", depth: 1 };

const COPILOT: readonly (readonly [string, Partial<HookEvent>, Record<string, unknown>])[] = [
  ["sessionStart", { input: { prompt: "go" } }, { source: "new", initialPrompt: "go" }],
  ["sessionStart", { input: undefined, details: { source: "resume" } }, { source: "resume", initialPrompt: "" }],
  ["sessionEnd", {}, { reason: "complete" }],
  ["sessionEnd", { details: { reason: "rotated" } }, { reason: "rotated" }],
  ["postToolUse", { output: "done" }, { toolResult: { resultType: "success", textResultForLlm: "done" } }],
  ["postToolUse", { output: { n: 1 } }, { toolResult: { resultType: "success", textResultForLlm: '{"n":1}' } }],
  [
    "postToolUse",
    { tool: { name: "Bash", success: false }, error: { message: "no" } },
    { toolResult: { resultType: "failure", textResultForLlm: "no" } },
  ],
  ["subagentStart", { subagent: SUBAGENT }, { agentName: "researcher" }],
  ["subagentStop", { subagent: SUBAGENT }, { agentName: "researcher" }],
];

test("B-002 B-005 a Copilot command gets each moment with the fields that platform documents", () => {
  for (const [name, own, wanted] of COPILOT) {
    const got = told(name, "copilot", own);
    assert.equal(got.timestamp, AT, name);
    for (const [field, value] of Object.entries(wanted)) assert.deepEqual(got[field], value, `${name} ${field}`);
  }
});

const CLAUDE: readonly (readonly [string, Partial<HookEvent>, Record<string, unknown>])[] = [
  ["SessionStart", {}, { source: "startup" }],
  ["SessionStart", { details: { model: "m" } }, { source: "startup", model: "m" }],
  ["SessionEnd", { details: { reason: "clear" } }, { reason: "clear" }],
  ["SessionEnd", { details: { reason: "rotation" } }, { reason: "other" }],
  [
    "Stop",
    { details: { stopHookActive: true, lastAssistantMessage: "done" } },
    { stop_hook_active: true, last_assistant_message: "done", permission_mode: "default" },
  ],
  ["UserPromptSubmit", { input: { text: "x" } }, { prompt: '{"text":"x"}' }],
  [
    "PreToolUse",
    { details: { permissionMode: "plan" } },
    { tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "toolu_1", permission_mode: "plan" },
  ],
  ["PreToolUse", { tool: { name: "run_shell_command" } }, { tool_name: "Bash" }],
  ["PreToolUse", { tool: { name: "memory.save" } }, { tool_name: "mcp__memory__save" }],
  ["PreToolUse", { agent: "primary.subagents.scout" }, { agent_id: "primary.subagents.scout", agent_type: "scout" }],
  ["PostToolUse", { tool: { name: "Bash", durationMs: 7 }, output: "x" }, { tool_response: "x", duration_ms: 7 }],
  ["PostToolUseFailure", { error: { message: "no" } }, { error: "no", tool_use_id: "toolu_1", is_interrupt: false }],
  ["PostToolUse", { error: { message: "no" } }, { tool_response: { error: "no" } }],
  ["PostToolUse", {}, { tool_response: null }],
  [
    "SubagentStop",
    { subagent: SUBAGENT, output: "found it" },
    {
      agent_id: "primary.researcher",
      agent_type: "researcher",
      stop_hook_active: false,
      last_assistant_message: "found it",
    },
  ],
  ["OnBudgetExceeded", { details: { scope: "session" } }, { scope: "session" }],
];

test("B-002 B-005 a Claude Code command gets each moment with the fields that platform documents", () => {
  for (const [name, own, wanted] of CLAUDE) {
    const got = told(name, "claude", own);
    assert.deepEqual([got.hook_event_name, got.session_id, got.timestamp], [name, "ses_1", "2026-01-01T00:00:00.000Z"]);
    assert.equal(got.transcript_path, "/t.jsonl");
    for (const [field, value] of Object.entries(wanted)) assert.deepEqual(got[field], value, `${name} ${field}`);
  }
});

test("N-038 hooks of VS Code get the names of its first version beside today's", () => {
  const got = told("PostToolUse", "copilot", { output: { n: 1 } });
  assert.deepEqual([got.hookEventName, got.hook_event_name, got.sessionId, got.session_id], [
    "PostToolUse",
    "PostToolUse",
    "ses_1",
    "ses_1",
  ]);
  assert.deepEqual([got.tool_response, got.tool_name], ['{"n":1}', "Bash"]);
});

test("a detail called like a part of every object is not taken for one", () => {
  assert.equal(told("SessionStart", "claude", { details: Object.create({ source: "inherited" }) }).source, "startup");
});
