import assert from "node:assert/strict";
import { test } from "node:test";
import { eventFilter } from "../../../src/hooks/files/matcher.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import type { HookEvent } from "../../../src/hooks/engine/types.ts";

const event = (own: Partial<HookEvent>): HookEvent => ({
  hook: "PreToolUse",
  timestamp: "2026-01-01T00:00:00Z",
  sessionId: "ses_1",
  agent: "primary",
  ...own,
});

async function wants(native: string, matcher: string, own: Partial<HookEvent>): Promise<boolean> {
  const hooks = { [native]: [{ matcher, hooks: [{ type: "command", command: "x" }] }] };
  const parsed = await parseHookFile(JSON.stringify({ hooks }), { file: "/r/.claude/settings.json" });
  return (await eventFilter(parsed.hooks))(parsed.hooks[0]!, event(own));
}

test("B-008 a matcher of plain names is compared whole, any other is found anywhere", async () => {
  const tool = (name: string) => ({ tool: { name } });
  assert.equal(await wants("PreToolUse", "Edit|Write", tool("Write")), true);
  assert.equal(await wants("PreToolUse", "Edit|Write", tool("MultiEdit")), false);
  assert.equal(await wants("PreToolUse", "Edit|Write", tool("Edi")), false);
  assert.equal(await wants("PreToolUse", "mcp__.*", tool("mcp__memory__save")), true);
  assert.equal(await wants("PreToolUse", "^Notebook", tool("MyNotebook")), false);
  for (const all of ["", "*", ".*"]) assert.equal(await wants("PreToolUse", all, tool("anything")), true);
});

test("B-008 a matcher is about the tool, the subagent, or the cause of the moment", async () => {
  assert.equal(await wants("SessionStart", "startup|resume", { hook: "SessionStart" }), true);
  assert.equal(await wants("SessionStart", "clear", { hook: "SessionStart" }), false);
  assert.equal(await wants("PreCompact", "manual", { hook: "PreCompact", details: { trigger: "manual" } }), true);
  const subagent = { name: "researcher", parent: "primary", depth: 1 };
  assert.equal(await wants("SubagentStop", "researcher", { hook: "SubagentStop", subagent }), true);
  assert.equal(await wants("UserPromptSubmit", "nothing", { hook: "UserPromptSubmitted" }), true);
});

test("B-008 PostToolUseFailure is OnError, and its matcher is about the tool that failed", async () => {
  const failed = { hook: "OnError" as const, tool: { name: "Bash", success: false }, error: { message: "no" } };
  assert.equal(await wants("PostToolUseFailure", "Bash", failed), true);
  assert.equal(await wants("PostToolUseFailure", "Edit", failed), false);
});

test("B-009 a hook of an agent wants the events of that agent alone, known by its path or its name", async () => {
  const text = "---\nname: guard\nhooks:\n  PreToolUse: [{ type: command, command: x }]\n---\n";
  const { hooks } = await parseHookFile(text, { file: "/r/guard.agent.md" });
  const filter = await eventFilter(hooks);
  const agents = ["guard", "primary.subagents.guard", "primary", "primary.subagents.bodyguard"];
  assert.deepEqual(agents.map((agent) => filter(hooks[0]!, event({ agent }))), [true, true, false, false]);
});
