import assert from "node:assert/strict";
import { test } from "node:test";
import { convertHooks, type ConvertTarget } from "../../../src/hooks/files/convert_hooks.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import type { ParsedHookFile } from "../../../src/hooks/files/types.ts";

const COPILOT = "/r/.github/hooks/a.json";
const CLAUDE = "/r/.claude/settings.json";

const parse = (file: string, data: object): Promise<ParsedHookFile> => parseHookFile(JSON.stringify(data), { file });

async function converted(parsed: ParsedHookFile, to: ConvertTarget, file: string) {
  const conversion = await convertHooks(parsed, to);
  return { ...conversion, back: await parseHookFile(conversion.text, { file }) };
}

/** What a hook does, without how it is written. */
const gist = ({ hooks }: ParsedHookFile) =>
  hooks.map(({ hook, matcher, timeoutMs, commands }) => [hook, matcher, timeoutMs, commands.bash ?? commands.command]);

test("B-007 a converted file is a file of its dialect with the same hooks, and every difference is reported", async () => {
  const entry = {
    type: "command",
    bash: "./a.sh",
    powershell: "./a.ps1",
    cwd: "sub dir",
    env: { MODE: "it's" },
    timeoutSec: 7,
  };
  const parsed = await parse(COPILOT, {
    version: 1,
    hooks: { preToolUse: [entry], OnBudgetExceeded: [{ type: "command", bash: "x" }] },
  });
  const { back, carried, notes } = await converted(parsed, "claude", CLAUDE);
  assert.deepEqual(gist(back), [
    ["PreToolUse", undefined, 7_000, String.raw`cd 'sub dir' || exit 1; export MODE='it'\''s'; ./a.sh`],
  ]);
  assert.equal(carried, 1);
  assert.deepEqual(notes.map(({ kind, path, text }) => [kind, path, text.split(":")[0]]), [
    ["changed", "hooks.preToolUse[0]", '"cwd"'],
    ["changed", "hooks.preToolUse[0]", '"env"'],
    ["lost", "hooks.preToolUse[0]", '"powershell"'],
    ["changed", "hooks.preToolUse[0]", "Fields on stdin have other names at PreToolUse than at preToolUse"],
    [
      "changed",
      "hooks.preToolUse[0]",
      "A check that fails, with another exit code than 0 and 2, lets the step pass there",
    ],
    ["lost", "hooks.OnBudgetExceeded[0]", "claude has no moment for OnBudgetExceeded"],
  ]);
});

test("B-007 hooks of Claude Code become hooks of Copilot, and what that changes is reported", async () => {
  const hooks = {
    PreToolUse: [{
      matcher: "Bash",
      hooks: [{ type: "command", command: '"$CLAUDE_PROJECT_DIR"/a.sh', timeout: 9, async: true }],
    }],
    SessionEnd: [{ hooks: [{ type: "command", command: "bye" }] }],
  };
  const { back, notes } = await converted(await parse(CLAUDE, { hooks }), "copilot", COPILOT);
  assert.ok(notes.every(({ text }) => !text.includes("check that fails")), "PreToolUse keeps its name, and its effect");
  assert.deepEqual(gist(back), [
    ["PreToolUse", "Bash", 9_000, '"$CLAUDE_PROJECT_DIR"/a.sh'],
    ["SessionEnd", undefined, 1_500, "bye"],
  ]);
  assert.deepEqual(notes.map(({ kind, text }) => `${kind} ${text.slice(0, 28)}`), [
    'lost "async": the agent waits for',
    "changed The command uses CLAUDE_PROJ",
    'changed "matcher": hosts that do not',
  ]);
});

test("B-009 a conversion notes where a hook of one agent becomes one of all, and the other way round", async () => {
  const text = "---\nname: guard\nhooks:\n  PreToolUse: [{ type: command, command: x }]\n---\n";
  const agent = await parseHookFile(text, { file: "/r/a.agent.md" });
  assert.deepEqual((await convertHooks(agent, "copilot")).notes.map(({ text }) => text), [
    'It is for every agent there, not for "guard"',
  ]);
  const { back, notes } = await converted(
    await parse(COPILOT, { version: 1, hooks: { preToolUse: [{ type: "command", bash: "x" }] } }),
    "agent",
    "/r/b.agent.md",
  );
  assert.deepEqual([back.hooks[0]?.agent, notes.length], ["agent", 1]);
  assert.match((await convertHooks(agent, "agent")).text, /^---\nname: guard\n/);
  assert.match((await convertHooks(agent, "agent", { agent: "other" })).text, /^---\nname: other\n/);
});

test("B-007 an MCP tool is no command: it is reported as lost", async () => {
  const parsed = await parse("/r/mcp.json", { hooks: { SessionStart: [{ tool: "memory.load" }] } });
  const { carried, notes } = await convertHooks(parsed, "copilot");
  assert.deepEqual([carried, notes.map(({ kind }) => kind)], [0, ["lost"]]);
});

test("B-007 converting to its own dialect changes nothing", async () => {
  const data = {
    version: 1,
    hooks: { Stop: [{ type: "command", bash: "x", env: { A: "1" }, cwd: "s", timeoutSec: 3 }] },
  };
  const parsed = await parse(COPILOT, data);
  const { text, notes } = await convertHooks(parsed, "copilot");
  assert.deepEqual([JSON.parse(text), notes], [data, []]);
});

const PLACES: Readonly<Partial<Record<ConvertTarget, string>>> = {
  claude: CLAUDE,
  copilot: COPILOT,
  codex: "/r/.codex/hooks.json",
  cursor: "/r/.cursor/hooks.json",
  gemini: "/r/.gemini/settings.json",
  windsurf: "/r/.windsurf/hooks.json",
};

test("N-038 a check of commands is one in every dialect, at the moments and by the names that are used there", async () => {
  const group = { matcher: "Bash", hooks: [{ type: "command", command: "./a.sh", timeout: 9 }] };
  const parsed = await parse(CLAUDE, { hooks: { PreToolUse: [group], Stop: [{ hooks: group.hooks }] } });
  const wanted: Partial<Record<ConvertTarget, unknown[]>> = {
    claude: [["PreToolUse", "Bash", 9_000], ["Stop", undefined, 9_000]],
    copilot: [["PreToolUse", "Bash", 9_000], ["Stop", undefined, 9_000]],
    codex: [["PreToolUse", "Bash", 9_000], ["Stop", undefined, 9_000]],
    cursor: [["preToolUse", "Shell", 9_000], ["stop", undefined, 9_000]],
    gemini: [["BeforeTool", "run_shell_command", 9_000], ["AfterAgent", undefined, 9_000]],
    windsurf: [["pre_run_command", undefined, 60_000], ["post_cascade_response", undefined, 60_000]],
  };
  for (const [to, file] of Object.entries(PLACES)) {
    const { back, carried } = await converted(parsed, to as ConvertTarget, file);
    const got = back.hooks.map(({ nativeName, matcher, timeoutMs }) => [nativeName, matcher, timeoutMs]);
    assert.deepEqual([carried, got], [2, wanted[to as ConvertTarget]], to);
    assert.ok(back.hooks.every(({ commands }) => (commands.bash ?? commands.command) === "./a.sh"), to);
  }
});

test("N-038 hooks of every dialect become hooks of Claude Code, for the same tools", async () => {
  const sources: readonly (readonly [string, object, readonly unknown[]])[] = [
    ["/r/.cursor/hooks.json", { beforeShellExecution: [{ command: "x", failClosed: true }] }, ["PreToolUse", "Bash"]],
    ["/r/.cursor/hooks.json", { afterFileEdit: [{ command: "x" }] }, ["PostToolUse", "Write|Edit"]],
    ["/r/.cursor/hooks.json", { beforeMCPExecution: [{ command: "x" }] }, ["PreToolUse", "mcp__.*__.*"]],
    ["/r/.windsurf/hooks.json", { pre_read_code: [{ command: "x" }] }, ["PreToolUse", "Read"]],
    ["/r/.gemini/settings.json", {
      BeforeTool: [{ matcher: "write_file|replace", hooks: [{ type: "command", command: "x" }] }],
    }, [
      "PreToolUse",
      "Write|Edit",
    ]],
    ["/r/.gemini/settings.json", { AfterAgent: [{ hooks: [{ type: "command", command: "x" }] }] }, ["Stop", undefined]],
    ["/r/.codex/hooks.json", { SessionStart: [{ matcher: "startup", hooks: [{ type: "command", command: "x" }] }] }, [
      "SessionStart",
      "startup",
    ]],
  ];
  for (const [file, hooks, wanted] of sources) {
    const { back } = await converted(await parse(file, { hooks }), "claude", CLAUDE);
    assert.deepEqual(
      back.hooks.map(({ nativeName, matcher }) => [nativeName, matcher]),
      [wanted],
      JSON.stringify(hooks),
    );
  }
  const gate = await parse("/r/.cursor/hooks.json", {
    hooks: { beforeShellExecution: [{ command: "x", failClosed: true }] },
  });
  const { back } = await converted(gate, "claude", CLAUDE);
  assert.equal(back.hooks[0]?.onFailure, "block");
  const again = await converted(back, "cursor", "/r/.cursor/hooks.json");
  assert.equal(again.back.hooks[0]?.onFailure, "block");
});

test("N-038 what a dialect has and another has not is reported as lost or changed", async () => {
  const hook = { type: "command", command: "x", if: "Bash(rm *)", async: true };
  const parsed = await parse(CLAUDE, {
    hooks: {
      PreToolUse: [{ matcher: "Bash", hooks: [hook, { type: "http", url: "https://example.com/x" }] }],
      SubagentStop: [{ hooks: [{ type: "command", command: "x" }] }],
      Notification: [{ hooks: [{ type: "command", command: "x" }] }],
    },
  });
  const { notes, carried } = await convertHooks(parsed, "windsurf");
  assert.equal(carried, 1);
  const texts = notes.map(({ kind, text }) => `${kind} ${text}`);
  for (
    const wanted of [
      'changed "if": it runs there at every call, not only at Bash(rm *)',
      'lost "async": the agent waits for it there',
      'lost "timeout": Windsurf has none',
      'lost Windsurf has no hooks of type "http"',
      "lost windsurf has no moment for SubagentStop",
    ]
  ) assert.ok(texts.includes(wanted), `${wanted}\n${texts.join("\n")}`);
  assert.ok(texts.some((text) => text.startsWith('lost Hooks at "Notification" are left out')), texts.join("\n"));
});
