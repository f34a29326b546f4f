import assert from "node:assert/strict";
import { test } from "node:test";
import { hookInput } from "../../../../src/hooks/sources/command/hook_input.ts";
import { hookAnswer } from "../../../../src/hooks/sources/command/hook_output.ts";
import type { CommandEnd } from "../../../../src/hooks/sources/command/types.ts";
import { nativeEvent } from "../../../../src/hooks/files/event_names.ts";
import type { FileHook } from "../../../../src/hooks/files/types.ts";
import { hookEvent } from "../../../support/hook_repo.ts";

const hookOf = (nativeName: string, dialect: FileHook["dialect"]): FileHook => ({
  id: "f:x[0]",
  hook: nativeEvent(nativeName)!.hook,
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
const end = (stdout: string, own: Partial<CommandEnd> = {}): CommandEnd => ({
  exit: { code: 0, signal: null },
  ended: "exit",
  stdout,
  stderr: "",
  ...own,
});
const said = (name: string, value: unknown, dialect: FileHook["dialect"] = "claude") =>
  hookAnswer(hookOf(name, dialect), end(typeof value === "string" ? value : JSON.stringify(value)));

test("B-018 what Claude Code's hooks print becomes one shape", () => {
  const deny = { permissionDecision: "deny", permissionDecisionReason: "no rm" };
  assert.deepEqual(said("PreToolUse", { hookSpecificOutput: deny }), { action: "block", reason: "no rm" });
  assert.deepEqual(said("PreToolUse", { decision: "block", reason: "old" }), { action: "block", reason: "old" });
  assert.deepEqual(said("PreToolUse", { hookSpecificOutput: { permissionDecision: "allow" } }), null);
  assert.deepEqual(said("Stop", { continue: false, stopReason: "enough" }), { action: "block", reason: "enough" });
  assert.deepEqual(said("PreToolUse", { hookSpecificOutput: { updatedInput: { a: 1 } } }), {
    action: "modify",
    modifiedInput: { a: 1 },
  });
  assert.deepEqual(said("SessionStart", { hookSpecificOutput: { additionalContext: "be kind" } }), {
    action: "injectContext",
    additionalContext: ["be kind"],
  });
  assert.deepEqual(said("PostToolUse", { systemMessage: "slow" }), { action: "passThrough", warnings: ["slow"] });
  assert.deepEqual(said("PostToolUse", { suppressOutput: true }), null);
});

test("B-018 a hook asks for a person's yes in the words of every dialect, and may change the input as it does", () => {
  const ask = { permissionDecision: "ask", permissionDecisionReason: "sure?" };
  const asks = { action: "ask", reason: "sure?" };
  for (const dialect of ["copilot", "claude", "plugin", "agent"] as const) {
    for (const name of ["PreToolUse", "preToolUse"]) {
      assert.deepEqual(said(name, ask, dialect), asks);
      assert.deepEqual(said(name, { hookSpecificOutput: ask }, dialect), asks);
      assert.deepEqual(said(name, { decision: "ask", reason: "sure?" }, dialect), asks);
    }
  }
  const updatedInput = { command: "ls" };
  assert.deepEqual(said("PreToolUse", { systemMessage: "w", hookSpecificOutput: { ...ask, updatedInput } }), {
    ...asks,
    modifiedInput: updatedInput,
    warnings: ["w"],
  });
  assert.deepEqual(said("preToolUse", { ...ask, modifiedArgs: updatedInput, additionalContext: "c" }, "copilot"), {
    ...asks,
    modifiedInput: updatedInput,
    additionalContext: ["c"],
  });
  const envelope = { ...asks, modifiedInput: updatedInput, additionalContext: [], warnings: [] };
  assert.deepEqual(said("PreToolUse", envelope), envelope);
  assert.match(said("PreToolUse", { permissionDecision: "ask" })?.reason ?? "", /gave no reason/);
});

test("B-018 a hook that both asks and says no blocks", () => {
  const ask = { hookSpecificOutput: { permissionDecision: "ask", permissionDecisionReason: "sure?" } };
  for (const no of [{ continue: false }, { decision: "block" }, { decision: "deny" }]) {
    assert.equal(said("PreToolUse", { ...ask, ...no })?.action, "block");
  }
});

test("B-018 what Copilot's hooks print becomes one shape", () => {
  const deny = { permissionDecision: "deny", permissionDecisionReason: "no" };
  assert.deepEqual(said("preToolUse", deny, "copilot"), { action: "block", reason: "no" });
  assert.deepEqual(said("preToolUse", { modifiedArgs: { b: 2 } }, "copilot"), {
    action: "modify",
    modifiedInput: { b: 2 },
  });
  assert.deepEqual(said("postToolUse", { modifiedResult: "short" }, "copilot"), {
    action: "modify",
    modifiedOutput: "short",
  });
});

test("B-018 the portable envelope is taken from any dialect, and only modify may change anything", () => {
  const envelope = {
    action: "modify",
    modifiedOutput: { redacted: true },
    warnings: ["w", 3],
    metadata: { hookId: "r" },
  };
  for (const dialect of ["copilot", "claude"] as const) {
    assert.deepEqual(said("PostToolUse", envelope, dialect), {
      action: "modify",
      modifiedOutput: { redacted: true },
      additionalContext: [],
      warnings: ["w"],
      metadata: { hookId: "r" },
    });
  }
  assert.deepEqual(said("PostToolUse", { ...envelope, action: "passThrough", warnings: [], metadata: 1 }), {
    action: "passThrough",
    additionalContext: [],
    warnings: [],
  });
});

test("B-018 plain text is context at the start of a session and of a prompt for Claude Code, else nothing", () => {
  assert.deepEqual(said("SessionStart", "remember this\n"), {
    action: "injectContext",
    additionalContext: ["remember this"],
  });
  assert.deepEqual(said("UserPromptSubmit", "x"), { action: "injectContext", additionalContext: ["x"] });
  assert.deepEqual(said("PreToolUse", "checking…"), null);
  assert.deepEqual(said("sessionStart", "logged", "copilot"), null);
  assert.deepEqual(said("SessionStart", "  \n"), null);
});

test("B-018 what cannot be read is a failure of the hook, never a decision", () => {
  const hook = hookOf("PreToolUse", "claude");
  const cases: [CommandEnd, string][] = [
    [end('{"decision": "block"'), "hook.answer_invalid"],
    [end('{"a": 1}\n{"decision": "block"}'), "hook.answer_invalid"],
    [end("", { exit: { code: 1, signal: null } }), "hook.command_failed"],
    [end("", { exit: { code: null, signal: "SIGKILL" } }), "hook.command_failed"],
    [end('{"decision": "block"}', { ended: "timeout" }), "hook.command_timeout"],
    [end('{"decision": "block"}', { ended: "flood" }), "hook.output_too_large"],
  ];
  for (const [ended, code] of cases) assert.throws(() => hookAnswer(hook, ended), { code });
  const two = /f:x\[0\] \(\/r\/f:3\): it printed more than one JSON object/;
  assert.throws(() => hookAnswer(hook, end('{"a":"}{"}{}')), { message: two });
  assert.throws(() => hookAnswer(hook, end('{"a":"}{"')), { message: /its JSON is broken/ });
});

test("B-018 a block without words still has a reason", () => {
  const hook = hookOf("PreToolUse", "copilot");
  const silent = hookAnswer(hook, end("", { exit: { code: 2, signal: null } }));
  assert.deepEqual(silent, { action: "block", reason: "The hook f:x[0] gave no reason" });
  assert.match(said("PreToolUse", { decision: "block", reason: " " })?.reason ?? "", /gave no reason/);
});

test("B-005 the event comes in the words of the dialect, with the portable envelope beside them", () => {
  const input = (name: string, dialect: FileHook["dialect"], own = {}) =>
    JSON.parse(hookInput(hookOf(name, dialect), hookEvent({ hook: nativeEvent(name)!.hook, ...own }), "/r"));
  assert.deepEqual(input("preToolUse", "copilot", { budget: { usedTokens: 1, effectiveLimit: 2 } }), {
    hook: "PreToolUse",
    sessionId: "ses_1",
    agent: "primary",
    tool: { name: "Bash" },
    budget: { usedTokens: 1, effectiveLimit: 2 },
    timestamp: 1767225600000,
    cwd: "/r",
    toolName: "Bash",
    toolArgs: '{"command":"ls"}',
  });
  const claude = input("PostToolUse", "claude", { output: { ok: true } });
  assert.deepEqual([claude.hook_event_name, claude.session_id, claude.tool_input, claude.tool_response, claude.cwd], [
    "PostToolUse",
    "ses_1",
    { command: "ls" },
    { ok: true },
    "/r",
  ]);
  assert.equal(input("UserPromptSubmit", "copilot", { input: "hello" }).prompt, "hello");
  assert.equal(input("userPromptSubmitted", "copilot", { input: { prompt: "hi" } }).prompt, "hi");
  assert.equal(input("errorOccurred", "copilot", { error: { message: "no", code: "E1" } }).error.message, "no");
  assert.equal(input("PostToolUseFailure", "claude", { error: { message: "no" } }).error, "no");
  assert.equal(input("SubagentStart", "agent", { subagent: { name: "r", parent: "p", depth: 1 } }).agent_type, "r");
  assert.equal(input("PreCompact", "claude", { details: { trigger: "manual" } }).trigger, "manual");
});
