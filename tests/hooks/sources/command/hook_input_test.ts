import assert from "node:assert/strict";
import { test } from "node:test";
import { hookInput } from "../../../../src/hooks/sources/command/hook_input.ts";
import { nativeEvent } from "../../../../src/hooks/files/event_names.ts";
import type { FileHook } from "../../../../src/hooks/files/types.ts";
import type { HookEvent } from "../../../../src/hooks/engine/types.ts";
import { hookEvent } from "../../../support/hook_repo.ts";

/** Returns the stdin of a command of this dialect at a moment. */
function told(nativeName: string, dialect: FileHook["dialect"], own: Partial<HookEvent> = {}): Record<string, unknown> {
  const { hook } = nativeEvent(nativeName)!;
  const file = { id: "f", hook, nativeName, dialect, file: "/r/f", line: 1, path: "hooks", commands: { bash: "x" } };
  const rest = { env: {}, timeoutMs: 1_000, background: false, agent: null, advisory: false };
  return JSON.parse(hookInput({ ...file, ...rest }, hookEvent({ hook, ...own }), "/r"));
}

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
  ["SessionEnd", { details: { reason: "clear" } }, { reason: "clear", stop_hook_active: false }],
  ["UserPromptSubmit", { input: { text: "x" } }, { prompt: '{"text":"x"}' }],
  ["PreToolUse", {}, { tool_name: "Bash", tool_input: { command: "ls" } }],
  ["PostToolUse", { error: { message: "no" } }, { tool_response: { error: "no" } }],
  ["PostToolUse", {}, { tool_response: null }],
  ["SubagentStop", { subagent: SUBAGENT }, { agent_type: "researcher", stop_hook_active: false }],
  ["OnBudgetExceeded", { details: { scope: "session" } }, { scope: "session" }],
];

test("B-002 B-005 a Claude Code command gets each moment with the fields that platform documents", () => {
  for (const [name, own, wanted] of CLAUDE) {
    const got = told(name, "claude", own);
    assert.deepEqual([got.hook_event_name, got.session_id, got.timestamp], [name, "ses_1", "2026-01-01T00:00:00.000Z"]);
    for (const [field, value] of Object.entries(wanted)) assert.deepEqual(got[field], value, `${name} ${field}`);
  }
});

test("a detail called like a part of every object is not taken for one", () => {
  assert.equal(told("SessionStart", "claude", { details: Object.create({ source: "inherited" }) }).source, "startup");
});
