import assert from "node:assert/strict";
import { test } from "node:test";
import { hookInput } from "../../../../src/hooks/sources/command/hook_input.ts";
import { hookAnswer, lateAnswer } from "../../../../src/hooks/sources/command/hook_output.ts";
import type { CommandEnd } from "../../../../src/hooks/sources/command/types.ts";
import { dialectEvent } from "../../../../src/hooks/files/dialects/all.ts";
import type { FileHook } from "../../../../src/hooks/files/types.ts";
import { hookEvent } from "../../../support/hook_repo.ts";

const hookOf = (nativeName: string, dialect: FileHook["dialect"]): FileHook => ({
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
const RUN = { cwd: "/r", dir: "/r", transcript: null, callId: "toolu_1", envFile: null, dataDir: null };
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
  // At the end of a turn a block means to go on, and this means the opposite.
  const stop = { continue: false, stopReason: "enough", decision: "block" };
  assert.deepEqual(said("Stop", stop), { action: "passThrough", warnings: ["enough"] });
  assert.deepEqual(said("PostToolUse", stop), { action: "block", reason: "enough" });
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
  const short = { action: "modify", modifiedOutput: "short" };
  assert.deepEqual(said("postToolUse", { modifiedResult: "short" }, "copilot"), short);
  const modifiedResult = { resultType: "success", textResultForLlm: "short" };
  assert.deepEqual(said("postToolUse", { modifiedResult }, "copilot"), short);
});

test("N-038 a Copilot hook's lines of progress are no part of its answer", () => {
  const progress = '{"type":"progress","message":"half way"}';
  const deny = JSON.stringify({ permissionDecision: "deny", permissionDecisionReason: "no" });
  assert.deepEqual(said("preToolUse", `${progress}\n${deny}\n`, "copilot"), { action: "block", reason: "no" });
  assert.deepEqual(said("preToolUse", progress, "copilot"), null);
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

/** The answer of a hook that ended with exit code 2. */
const refused = (name: string, dialect: FileHook["dialect"], stderr = "no rm", stdout = "") =>
  hookAnswer(hookOf(name, dialect), end(stdout, { exit: { code: 2, signal: null }, stderr }));

test("N-038 exit code 2 of a Claude Code hook blocks only at the moments at which it does there", () => {
  const block = { action: "block", reason: "no rm" };
  const tell = { action: "injectContext", additionalContext: ["no rm"] };
  const show = { action: "passThrough", warnings: ["no rm"] };
  const wanted: Record<string, unknown> = {
    ...Object.fromEntries(
      ["PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact"].map((n) => [n, block]),
    ),
    ...Object.fromEntries(["PostToolUse", "PostToolUseFailure"].map((name) => [name, tell])),
    ...Object.fromEntries(["SessionStart", "SessionEnd", "SubagentStart", "PostCompact"].map((name) => [name, show])),
    StopFailure: null,
  };
  for (const [name, answer] of Object.entries(wanted)) assert.deepEqual(refused(name, "claude"), answer, name);
});

test("N-038 exit code 2 of a Copilot hook denies a call, and is shown to the user elsewhere; VS Code's names are Claude Code's", () => {
  assert.deepEqual(refused("preToolUse", "copilot"), { action: "block", reason: "no rm" });
  const show = { action: "passThrough", warnings: ["no rm"] };
  for (
    const name of ["sessionStart", "userPromptSubmitted", "postToolUse", "agentStop", "subagentStop", "preCompact"]
  ) {
    assert.deepEqual(refused(name, "copilot"), show, name);
  }
  assert.deepEqual(refused("postToolUseFailure", "copilot", "log", "try again"), {
    action: "injectContext",
    additionalContext: ["try again"],
  });
  assert.deepEqual(refused("Stop", "copilot"), { action: "block", reason: "no rm" });
  assert.deepEqual(refused("PostToolUse", "copilot")?.action, "injectContext");
  assert.deepEqual(refused("SessionStart", "copilot"), null);
});

test("N-038 JSON beside exit code 2 gives the reason and adds to it, and cannot take the block back", () => {
  const allow = { hookSpecificOutput: { permissionDecision: "allow", additionalContext: "mind" }, systemMessage: "w" };
  assert.deepEqual(refused("PreToolUse", "claude", "no rm", JSON.stringify(allow)), {
    action: "block",
    reason: "no rm",
    warnings: ["w"],
    additionalContext: ["mind"],
  });
  const deny = JSON.stringify({ decision: "block", reason: "by the book" });
  assert.deepEqual(refused("PreToolUse", "claude", "no rm", deny), { action: "block", reason: "by the book" });
});

test("N-038 JSON of a Claude Code hook decides whatever other exit code it ends with", () => {
  const ended = { exit: { code: 3, signal: null }, stderr: "oops" };
  const deny = JSON.stringify({ decision: "block", reason: "no" });
  assert.deepEqual(hookAnswer(hookOf("PreToolUse", "claude"), end(deny, ended)), { action: "block", reason: "no" });
  assert.throws(() => hookAnswer(hookOf("PreToolUse", "claude"), end("{", ended)), { code: "hook.command_failed" });
});

test("N-038 an answer of Claude Code changes what it may change at its moment, and nothing else", () => {
  const all = { updatedInput: { a: 1 }, updatedToolOutput: "out", additionalContext: "c" };
  const at = (name: string) => said(name, { hookSpecificOutput: { hookEventName: name, ...all } });
  assert.deepEqual(at("PreToolUse"), { action: "modify", modifiedInput: { a: 1 }, additionalContext: ["c"] });
  assert.deepEqual(at("PostToolUse"), { action: "modify", modifiedOutput: "out", additionalContext: ["c"] });
  assert.deepEqual(at("UserPromptSubmit"), { action: "injectContext", additionalContext: ["c"] });
  assert.deepEqual(at("SubagentStart"), { action: "injectContext", additionalContext: ["c"] });
  // Feedback at the end of a turn makes the agent go on.
  assert.deepEqual(at("Stop"), { action: "block", reason: "c" });
  for (const name of ["PreCompact", "PostCompact", "SessionEnd"]) assert.deepEqual(at(name), null, name);
  assert.deepEqual(said("PostToolUse", { decision: "block", reason: "untested" }), {
    action: "injectContext",
    additionalContext: ["untested"],
  });
  assert.deepEqual(said("SessionEnd", { continue: false, stopReason: "x" }), null);
});

test("N-038 the part of an answer that names another moment is left out, with a warning", () => {
  const nested = { hookSpecificOutput: { hookEventName: "PostToolUse", permissionDecision: "deny" } };
  for (const dialect of ["claude", "copilot"] as const) {
    const answer = said("PreToolUse", nested, dialect);
    assert.equal(answer?.action, "passThrough", dialect);
    assert.match(answer?.warnings?.[0] ?? "", /is for "PostToolUse", and not for PreToolUse/, dialect);
  }
  const stop = { hookSpecificOutput: { hookEventName: "Stop", additionalContext: "more" } };
  assert.deepEqual(said("SubagentStop", stop), { action: "block", reason: "more" });
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

test("N-038 Copilot's preToolUse denies a call when its check ends with any code but 0; a timeout lets it pass", () => {
  const failed = (exit: CommandEnd["exit"], own: Partial<CommandEnd> = {}) => end("", { exit, stderr: "boom", ...own });
  const hook = hookOf("preToolUse", "copilot");
  const one = { code: 1, signal: null };
  assert.deepEqual(hookAnswer(hook, failed(one)), {
    action: "block",
    reason: "The check f:x[0] failed: it ended with exit code 1: boom",
  });
  // A script that is not there, and one that crashed.
  assert.equal(hookAnswer(hook, failed({ code: 127, signal: null }))?.action, "block");
  assert.equal(hookAnswer(hook, failed({ code: null, signal: "SIGSEGV" }))?.action, "block");
  assert.throws(() => hookAnswer(hook, failed(one, { ended: "timeout" })), { code: "hook.command_timeout" });
  // VS Code's name of the moment, other moments, and a file that says itself what a failure does.
  const others = [hookOf("PreToolUse", "copilot"), hookOf("postToolUse", "copilot"), { ...hook, onFailure: "pass" }];
  for (const other of others as FileHook[]) {
    assert.throws(() => hookAnswer(other, failed(one)), { code: "hook.command_failed" }, other.nativeName);
  }
});

test("N-038 a hook in the background says something to the model and the user, and decides nothing", () => {
  const late = (name: string, value: unknown, dialect: FileHook["dialect"] = "claude", own: Partial<CommandEnd> = {}) =>
    lateAnswer(hookOf(name, dialect), end(typeof value === "string" ? value : JSON.stringify(value), own), hookEvent());
  const two = { exit: { code: 2, signal: null }, stderr: "stop" };
  const answer = {
    continue: false,
    decision: "block",
    reason: "no",
    systemMessage: "seen",
    hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "3 tests fail", updatedToolOutput: "x" },
  };
  const texts = { action: "injectContext", additionalContext: ["3 tests fail"], warnings: ["seen"] };
  assert.deepEqual(late("PostToolUse", answer), texts);
  const stop = { decision: "block", reason: "go on", hookSpecificOutput: { additionalContext: "more" } };
  assert.deepEqual(late("Stop", stop), { action: "injectContext", additionalContext: ["more"] });
  assert.equal(late("PreToolUse", { hookSpecificOutput: { permissionDecision: "deny" } }), null);
  assert.deepEqual(late("SessionStart", "be kind"), { action: "injectContext", additionalContext: ["be kind"] });
  const portable = { action: "block", reason: "no", additionalContext: ["c"] };
  assert.deepEqual(late("PreToolUse", portable), { action: "injectContext", additionalContext: ["c"] });
  // Exit code 2 blocks nothing; in Codex it is a failure, and with asyncRewake its text is for the model.
  assert.equal(late("PostToolUse", "", "claude", two), null);
  assert.throws(() => late("PostToolUse", "", "codex", two), { code: "hook.command_failed" });
  const rewakes = { ...hookOf("Stop", "claude"), rewakes: true } as const;
  assert.deepEqual(lateAnswer(rewakes, end("", two), hookEvent()), {
    action: "injectContext",
    additionalContext: ["stop"],
  });
  // Agents that document no such hooks hear nothing of them.
  assert.equal(late("postToolUse", { additionalContext: "x" }, "copilot"), null);
});

test("B-018 a block without words still has a reason", () => {
  const hook = hookOf("PreToolUse", "copilot");
  const silent = hookAnswer(hook, end("", { exit: { code: 2, signal: null } }));
  assert.deepEqual(silent, { action: "block", reason: "The hook f:x[0] gave no reason" });
  assert.match(said("PreToolUse", { decision: "block", reason: " " })?.reason ?? "", /gave no reason/);
});

test("B-005 the event comes in the words of the dialect, with the portable envelope beside them", () => {
  const input = (name: string, dialect: FileHook["dialect"], own = {}) =>
    JSON.parse(hookInput(hookOf(name, dialect), hookEvent({ hook: dialectEvent(dialect, name)!.hook, ...own }), RUN));
  assert.deepEqual(input("preToolUse", "copilot", { budget: { usedTokens: 1, effectiveLimit: 2 } }), {
    hook: "PreToolUse",
    sessionId: "ses_1",
    agent: "primary",
    tool: { name: "Bash" },
    budget: { usedTokens: 1, effectiveLimit: 2 },
    timestamp: 1767225600000,
    cwd: "/r",
    toolName: "bash",
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
