import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { nativeEvent, nativeName } from "../../../src/hooks/files/event_names.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import type { FileHook, ParsedHookFile } from "../../../src/hooks/files/types.ts";
import type { Issue } from "../../../src/core/project/types.ts";
import { PORTABLE_HOOKS } from "../../../src/hooks/engine/names.ts";

const COPILOT = "/repo/.github/hooks/guard.json";
const CLAUDE = "/repo/.claude/settings.json";

const copilot = (hooks: unknown): Promise<ParsedHookFile> =>
  parseHookFile(JSON.stringify({ version: 1, hooks }, null, 2), { file: COPILOT, name: ".github/hooks/guard.json" });
const claude = (hooks: unknown, more: object = {}): Promise<ParsedHookFile> =>
  parseHookFile(JSON.stringify({ ...more, hooks }, null, 2), { file: CLAUDE });

async function issuesOf(parsing: Promise<unknown>): Promise<string[]> {
  const error = await parsing.then(() => null, (thrown) => thrown);
  assert.ok(error instanceof HostError, String(error));
  assert.equal(error.code, "hook.invalid");
  return (error.data as { issues: Issue[] }).issues.map(({ line, code, path }) => `${line} ${code} ${path}`);
}

const warningsOf = async (parsing: Promise<ParsedHookFile>): Promise<string[]> =>
  (await parsing).warnings.map(({ line, code, path }) => `${line} ${code} ${path}`);

const run = (own: object): unknown => ({ type: "command", bash: "./x.sh", ...own });

test("B-003 the native names of the platforms mean the portable moments", () => {
  const means = (name: string) => nativeEvent(name)?.hook;
  assert.equal(means("Stop"), "SessionEnd");
  assert.equal(means("UserPromptSubmit"), "UserPromptSubmitted");
  assert.equal(means("preToolUse"), "PreToolUse");
  assert.equal(means("postToolUse"), "PostToolUse");
  assert.equal(means("errorOccurred"), "OnError");
  for (const hook of PORTABLE_HOOKS) assert.equal(means(hook), hook);
  assert.equal(means("constructor"), undefined);
});

test("B-003 nativeName() goes back, and has no name for what platforms do not fire", () => {
  const names = PORTABLE_HOOKS.map((hook) => nativeName(hook, "copilot"));
  assert.deepEqual(names.filter((name) => name === null).length, 2);
  for (const hook of PORTABLE_HOOKS) {
    for (const host of ["copilot", "claude"] as const) {
      const name = nativeName(hook, host);
      if (name !== null) assert.equal(nativeEvent(name)?.hook, hook);
    }
  }
  assert.equal(nativeName("OnBudgetExceeded", "copilot"), null);
  assert.equal(nativeName("PostCompact", "copilot"), null);
});

test("B-007 a .github/hooks file gives its commands with file, line and seconds as milliseconds", async () => {
  const entry = {
    type: "command",
    bash: "./scripts/validate-tool.sh",
    powershell: "./scripts/validate-tool.ps1",
    cwd: ".",
    env: { MODE: "block" },
    timeoutSec: 10,
  };
  const { dialect, hooks } = await copilot({ preToolUse: [entry] });
  assert.equal(dialect, "copilot");
  assert.deepEqual(hooks, [
    {
      id: ".github/hooks/guard.json:preToolUse[0]",
      hook: "PreToolUse",
      nativeName: "preToolUse",
      dialect: "copilot",
      file: COPILOT,
      line: 5,
      path: "hooks.preToolUse[0]",
      commands: { bash: entry.bash, powershell: entry.powershell },
      cwd: ".",
      env: { MODE: "block" },
      timeoutMs: 10_000,
      background: false,
      agent: null,
      advisory: false,
    } satisfies FileHook,
  ]);
});

test("B-008 .claude/settings.json gives the commands of its matcher groups, and its other settings are left alone", async () => {
  const group = { matcher: "Edit|Write", hooks: [{ type: "command", command: "./fmt.sh", timeout: 5, async: true }] };
  const { dialect, hooks } = await claude({ PostToolUse: [group] }, { permissions: { allow: ["Bash"] } });
  assert.equal(dialect, "claude");
  const [hook] = hooks;
  assert.deepEqual([hook?.commands, hook?.matcher, hook?.timeoutMs, hook?.background, hook?.path], [
    { bash: "./fmt.sh" },
    "Edit|Write",
    5_000,
    true,
    "hooks.PostToolUse[0].hooks[0]",
  ]);
  assert.deepEqual((await parseHookFile('{ "model": "x" }', { file: CLAUDE })).hooks, []);
});

test("B-008 words of a command that no shell is to take apart are quoted", async () => {
  const words = { type: "command", command: "node", args: ["a b.js", "it's", "$HOME", "${CLAUDE_PLUGIN_ROOT}/x y.js"] };
  const { hooks } = await claude({ PreToolUse: [{ hooks: [words] }] });
  const root = '"${CLAUDE_PLUGIN_ROOT}"';
  assert.equal(hooks[0]?.commands.bash, String.raw`node 'a b.js' 'it'\''s' '$HOME' ${root}'/x y.js'`);
});

test("B-008 disableAllHooks switches the hooks of its file off and says so", async () => {
  const parsed = await claude({ Stop: [{ hooks: [{ type: "command", command: "x" }] }] }, { disableAllHooks: true });
  assert.deepEqual(parsed.hooks, []);
  assert.ok(parsed.warnings.some(({ code }) => code === "hook.all_disabled"));
});

test("B-009 hooks in the front matter of an .agent.md are for that agent, with their lines", async () => {
  const text = `---
name: guardrail
description: "Validates"
hooks:
  PostToolUse:
    - type: command
      command: "./scripts/validate-output.sh"
  Stop:
    - type: command
      command: ./scripts/cleanup.sh
---
# Guardrail
hooks: { this: is, prose }
`;
  const { dialect, hooks } = await parseHookFile(text, { file: "/repo/.github/agents/guard.agent.md" });
  assert.equal(dialect, "agent");
  assert.deepEqual(hooks.map(({ hook, agent, line, commands }) => [hook, agent, line, commands.command]), [
    ["PostToolUse", "guardrail", 6, "./scripts/validate-output.sh"],
    ["SessionEnd", "guardrail", 9, "./scripts/cleanup.sh"],
  ]);
  const unnamed = await parseHookFile(text.replace("name: guardrail\n", ""), {
    file: "/r/.github/agents/deploy.agent.md",
  });
  assert.equal(unnamed.hooks[0]?.agent, "deploy");
  assert.deepEqual((await parseHookFile("# No front matter\n", { file: "/r/x.agent.md" })).hooks, []);
});

test("B-007 files of VS Code's own folder may hold comments, as VS Code reads them; others may not", async () => {
  const text = `{
  // Memory of the team.
  "servers": { "memory": { "command": "memory-server", "args": ["--quiet",], } },
  "hooks": { "SessionStart": [{ "tool": "memory.load" /* first */ }] },
}
`;
  const { tools, servers } = await parseHookFile(text, { file: "/repo/.vscode/mcp.json" });
  assert.deepEqual(tools.map(({ tool, line }) => `${line} ${tool}`), ["4 memory.load"]);
  assert.deepEqual(servers?.map(({ name, command }) => [name, command]), [["memory", ["memory-server", "--quiet"]]]);
  assert.deepEqual(await issuesOf(parseHookFile(text, { file: "/repo/.mcp.json" })), ["2 hook.json_comment "]);
});

test("B-007 the hook map of an mcp.json gives tools with their priority", async () => {
  const map = { SessionStart: [{ tool: "memory.load", priority: 10 }], PostToolUse: [{ tool: "errors.capture" }] };
  const text = JSON.stringify({ mcpServers: {}, hooks: map }, null, 1);
  assert.deepEqual(await parseHookFile(text, { file: "/repo/.mcp.json" }), {
    file: "/repo/.mcp.json",
    dialect: "mcp",
    hooks: [],
    tools: [
      {
        tool: "memory.load",
        priority: 10,
        hook: "SessionStart",
        nativeName: "SessionStart",
        file: "/repo/.mcp.json",
        line: 5,
        path: "hooks.SessionStart[0]",
      },
      {
        tool: "errors.capture",
        priority: 50,
        hook: "PostToolUse",
        nativeName: "PostToolUse",
        file: "/repo/.mcp.json",
        line: 11,
        path: "hooks.PostToolUse[0]",
      },
    ],
    warnings: [],
  });
  assert.deepEqual(
    await issuesOf(
      parseHookFile('{"hooks": {"Stop": [{}, {"tool": 1}, 2, {"tool": "a.b", "priority": 1e999}]}}', {
        file: "/r/mcp.json",
      }),
    ),
    [
      "1 hook.missing_field hooks.Stop[0].tool",
      "1 hook.wrong_type hooks.Stop[1].tool",
      "1 hook.wrong_type hooks.Stop[2]",
      "1 hook.wrong_type hooks.Stop[3].priority",
    ],
  );
});

test("X-17 Stop means the end of the session and warns; native sessionEnd does not", async () => {
  const { hooks, warnings } = await copilot({ Stop: [run({})], sessionEnd: [run({})] });
  assert.deepEqual(hooks.map(({ hook }) => hook), ["SessionEnd", "SessionEnd"]);
  assert.deepEqual(warnings.map(({ code, path }) => [code, path]), [["hook.stop_is_session_end", "hooks.Stop"]]);
});

test("X-16 absurd timeouts are linted and bounded, and what is no time is refused", async () => {
  const { hooks, warnings } = await copilot({ preToolUse: [run({ timeoutSec: 5000 }), run({ timeoutSec: 0.01 })] });
  assert.deepEqual(hooks.map(({ timeoutMs }) => timeoutMs), [600_000, 10]);
  assert.deepEqual(warnings.map(({ code, line }) => [code, line]), [
    ["hook.timeout_absurd", 8],
    ["hook.timeout_absurd", 13],
  ]);
  assert.match(warnings[0]?.hint ?? "", /5000 ms would be 5/);
  const none = copilot({ preToolUse: [run({ timeoutSec: 0 }), run({ timeoutSec: "10" })] });
  assert.deepEqual((await none).hooks, []);
  assert.deepEqual(await warningsOf(none), [
    "8 hook.timeout_invalid hooks.preToolUse[0].timeoutSec",
    "13 hook.timeout_invalid hooks.preToolUse[1].timeoutSec",
  ]);
});

test("X-16 each dialect has its documented default", async () => {
  assert.equal((await copilot({ preToolUse: [run({})] })).hooks[0]?.timeoutMs, 30_000);
  const group = { hooks: [{ type: "command", command: "x" }] };
  const { hooks } = await claude({ PreToolUse: [group], UserPromptSubmit: [group], SessionEnd: [group] });
  assert.deepEqual(hooks.map(({ timeoutMs }) => timeoutMs), [600_000, 30_000, 1_500]);
});

test("B-007 everything wrong with a file is reported at once, each with line, path and hint", async () => {
  const hooks = {
    preTooluse: [],
    beforeShellExecution: [],
    postToolUse: [
      { type: 3, bash: "x" },
      run({ type: "script" }),
      { type: "command" },
      run({ bash: 1 }),
      run({ env: { LD_PRELOAD: "x", OK: 1 } }),
      run({ cwd: [] }),
      "x",
    ],
    sessionStart: {},
  };
  assert.deepEqual(await issuesOf(copilot(hooks)), [
    "4 hook.unknown_event hooks.preTooluse",
    "5 hook.unknown_event hooks.beforeShellExecution",
    "8 hook.type_unknown hooks.postToolUse[0].type",
    "12 hook.type_unknown hooks.postToolUse[1].type",
    "15 hook.no_command hooks.postToolUse[2]",
    "18 hook.no_command hooks.postToolUse[3]",
    "20 hook.wrong_type hooks.postToolUse[3].bash",
    "26 hook.env_invalid hooks.postToolUse[4].env.LD_PRELOAD",
    "27 hook.wrong_type hooks.postToolUse[4].env.OK",
    "33 hook.wrong_type hooks.postToolUse[5].cwd",
    "35 hook.wrong_type hooks.postToolUse[6]",
    "37 hook.wrong_type hooks.sessionStart",
  ]);
});

test("N-038 a .github/hooks file needs no version, and one other than 1 is refused", async () => {
  const parse = (text: string) => parseHookFile(text, { file: COPILOT });
  const hooks = { SessionStart: [run({})] };
  assert.equal((await parse(JSON.stringify({ hooks }))).hooks.length, 1);
  assert.deepEqual(await issuesOf(parse('{ "version": 2, "hooks": {} }')), ["1 hook.version_unknown version"]);
});

test("B-007 JSON with comments is refused with a message that says so where its agent reads none", async () => {
  for (const text of ['{\n // no\n "hooks": {}}', '{\n /* no */ "hooks": {}}', '{\n # no\n "hooks": {}}']) {
    assert.deepEqual(await issuesOf(parseHookFile(text, { file: CLAUDE })), ["2 hook.json_comment "]);
  }
});

test("N-038 comments and last commas stand in .github/hooks files, as VS Code reads them", async () => {
  const text = `{ // Ours
    "hooks": { "PreToolUse": [{ "type": "command", "command": "./x.sh", },], /* no more */ },
  }`;
  assert.deepEqual((await parseHookFile(text, { file: COPILOT })).hooks.map(({ nativeName }) => nativeName), [
    "PreToolUse",
  ]);
});

test("B-007 JSON that cannot be read is refused at its place", async () => {
  const texts: [string, string][] = [
    ["", "1 hook.json_syntax "],
    ["{", "1 hook.json_syntax "],
    ['{"a": 1,\n}', "2 hook.json_syntax "],
    ['{"a": 1}\n{"b": 2}', "2 hook.json_syntax "],
    ['{"a": "\n"}', "1 hook.json_syntax "],
    ['{"a": "\\x"}', "1 hook.json_syntax "],
    ["{'a': 1}", "1 hook.json_syntax "],
    ['{"a": 01}', "1 hook.json_syntax "],
    ['{"a": 1,\n"a": 2}', "2 hook.duplicate_key "],
    ['{"__proto__": {}}', "1 hook.forbidden_key "],
    ["[".repeat(100_000), "1 hook.too_deep "],
  ];
  for (const [text, issue] of texts) {
    assert.deepEqual(await issuesOf(parseHookFile(text, { file: CLAUDE })), [issue], text.slice(0, 40));
  }
});

test("N-038 moments, types and keys that do nothing here are left out, each with the reason", async () => {
  const group = {
    hooks: [
      { type: "command", command: "x", retries: 3 },
      { type: "command", command: "x", asyncRewake: true },
    ],
  };
  const parsed = await claude({ Notification: [], PreToolUse: [group] });
  assert.deepEqual(parsed.hooks.map(({ background }) => background), [false, true]);
  assert.deepEqual(parsed.warnings.map(({ line, code, path }) => `${line} ${code} ${path}`), [
    "3 hook.event_elsewhere hooks.Notification",
    "10 hook.unknown_key hooks.PreToolUse[0].hooks[0].retries",
    "15 hook.unknown_key hooks.PreToolUse[0].hooks[1].asyncRewake",
  ]);
  assert.deepEqual(parsed.unused?.map(({ id, line }) => [id, line]), [[`${CLAUDE}:Notification`, 3]]);
  const prompt = await copilot({ preToolUse: [{ type: "prompt", prompt: "Is it safe?" }] });
  assert.deepEqual([prompt.hooks, prompt.unused?.length], [[], 1]);
  assert.match(prompt.unused?.[0]?.reason ?? "", /^A hook of type "prompt" is left out: it would be submitted/);
});

test("N-038 a hook of Claude Code with an if is for calls of tools: at another moment it never runs, and that is said", async () => {
  const group = { hooks: [{ type: "command", command: "x", if: "Bash(rm *)" }] };
  const { hooks, unused, warnings } = await claude({ PreToolUse: [group], Stop: [group], SessionStart: [group] });
  assert.deepEqual(hooks.map(({ nativeName, condition }) => [nativeName, condition]), [["PreToolUse", "Bash(rm *)"]]);
  assert.deepEqual(unused?.map(({ id }) => id.split(":")[1]), ["Stop[0].hooks[0]", "SessionStart[0].hooks[0]"]);
  assert.match(unused?.[0]?.reason ?? "", /"if".*calls of tools/);
  assert.deepEqual(warnings.map(({ code }) => code), ["hook.stop_is_session_end"]);
});

test("B-003 moments that only this host fires are taken, with a warning", async () => {
  assert.deepEqual(await warningsOf(copilot({ OnBudgetExceeded: [run({})], PostCompact: [run({})] })), [
    "4 hook.extension_event hooks.OnBudgetExceeded",
    "10 hook.extension_event hooks.PostCompact",
  ]);
});

test("B-018 a hook says whether it enforces or advises, what its failure means and when its turn is", async () => {
  const { hooks } = await copilot({ preToolUse: [run({ advisory: true }), run({ onFailure: "block", priority: 10 })] });
  assert.deepEqual(hooks.map(({ advisory, onFailure, priority }) => [advisory, onFailure, priority]), [
    [true, undefined, undefined],
    [false, "block", 10],
  ]);
  assert.deepEqual(await issuesOf(copilot({ preToolUse: [run({ onFailure: "no" }), run({ priority: "1" })] })), [
    "8 hook.wrong_type hooks.preToolUse[0].onFailure",
    "13 hook.wrong_type hooks.preToolUse[1].priority",
  ]);
});

test("N-038 a matcher that could stall or cannot be read voids its hook and no other, unless the hook is a gate", async () => {
  const group = (matcher: string, own: object = {}) => ({
    matcher,
    hooks: [{ type: "command", command: "x", ...own }],
  });
  assert.deepEqual((await claude({ PreToolUse: [group("(a+)+$")] })).hooks.length, 1);
  for (const matcher of ["(", "(a)\\1", "(?=x)"]) {
    const { hooks, unused, warnings } = await claude({ PreToolUse: [group(matcher), group("Bash")] });
    assert.deepEqual(hooks.map((hook) => hook.matcher), ["Bash"], matcher);
    assert.match(unused?.[0]?.reason ?? "", /^Its matcher .* cannot be used: /, matcher);
    assert.deepEqual(warnings.map(({ code, line }) => [code, line]), [["hook.matcher_invalid", 7]], matcher);
    const gate = claude({ PreToolUse: [group(matcher, { onFailure: "block" })] });
    assert.match((await issuesOf(gate))[0] ?? "", /hook\.matcher_invalid/, matcher);
  }
});

test("N-038 a hook that cannot be read is left out alone where its agent does so, with the reason and its place", async () => {
  const good = run({ bash: "./good.sh" });
  const { hooks, unused, warnings } = await copilot({ preToolUse: [run({ type: "script" }), "x", good, { cwd: [] }] });
  assert.deepEqual(hooks.map(({ path }) => path), ["hooks.preToolUse[2]"]);
  assert.deepEqual(
    unused,
    [
      { id: "preToolUse[0]", line: 5, reason: '"script" is no type of hook' },
      { id: "preToolUse[1]", line: 9, reason: "Expected a map, got a text" },
      {
        id: "preToolUse[3]",
        line: 14,
        reason: "A hook names no command; Expected a text, got a list",
      },
    ].map(({ id, line, reason }) => ({
      id: `.github/hooks/guard.json:${id}`,
      line,
      reason: `It cannot be read: ${reason}`,
      isMistake: true,
    })),
  );
  assert.deepEqual(warnings.map(({ line, code }) => `${line} ${code}`), [
    "6 hook.type_unknown",
    "9 hook.wrong_type",
    "14 hook.no_command",
    "15 hook.wrong_type",
  ]);
  const command = { type: "command", command: "x" };
  const inClaude = await claude({
    Stop: [{ matcher: 3, hooks: [command] }, { hooks: [{ type: "command" }, command] }],
  });
  assert.deepEqual(inClaude.hooks.map(({ path }) => path), ["hooks.Stop[1].hooks[1]"]);
  assert.deepEqual(inClaude.unused?.map(({ line }) => line), [4, 15]);
  const gemini = { hooks: { BeforeTool: [{ hooks: [{ type: "command" }, command] }] } };
  const inGemini = await parseHookFile(JSON.stringify(gemini), { file: "/repo/.gemini/settings.json" });
  assert.deepEqual([inGemini.hooks.length, inGemini.unused?.length], [1, 1]);
});

test("N-038 a hook that cannot be read makes its file useless where it may be a gate, and where its agent reads no such file", async () => {
  const command = { type: "command", command: "x" };
  const gates = [{ type: "command", onFailure: "block" }, { ...command, onFailure: "Block" }];
  for (const gate of gates) {
    assert.match((await issuesOf(claude({ PreToolUse: [{ hooks: [gate, command] }] })))[0] ?? "", /PreToolUse\[0\]/);
  }
  const behind = { matcher: 3, hooks: [{ ...command, onFailure: "block" }] };
  assert.deepEqual((await issuesOf(claude({ PreToolUse: [behind] }))).length, 1, "a gate in a group");
  const advises = { hooks: [{ type: "command", onFailure: "block", advisory: true }, command] };
  assert.equal((await claude({ PreToolUse: [advises] })).hooks.length, 1, "one that only advises is no gate");
  const nested = { hooks: { PreToolUse: [{ hooks: [{ type: "command" }, command] }] } };
  const flat = (event: string) => ({ hooks: { [event]: [{ command: 1 }, { command: "x" }] } });
  const strict: [string, unknown][] = [
    ["/repo/.codex/hooks.json", nested],
    ["/repo/.cursor/hooks.json", flat("preToolUse")],
    ["/repo/.windsurf/hooks.json", flat("pre_run_command")],
    ["/repo/.github/copilot/settings.json", flat("preToolUse")],
  ];
  for (const [file, content] of strict) {
    assert.ok((await issuesOf(parseHookFile(JSON.stringify(content), { file }))).length > 0, file);
  }
});
