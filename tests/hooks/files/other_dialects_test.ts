import assert from "node:assert/strict";
import { test } from "node:test";
import { eventFilter } from "../../../src/hooks/files/matcher.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import type { ParsedHookFile } from "../../../src/hooks/files/types.ts";
import { hookEvent } from "../../support/hook_repo.ts";

const parse = (file: string, content: unknown): Promise<ParsedHookFile> =>
  parseHookFile(typeof content === "string" ? content : JSON.stringify(content, null, 2), {
    file: `/r/${file}`,
    name: file,
  });
const gist = ({ hooks }: ParsedHookFile) =>
  hooks.map(({ hook, nativeName, commands, timeoutMs, line }) => [
    line,
    hook,
    nativeName,
    commands.bash ?? commands.command,
    timeoutMs,
  ]);

async function codesOf(parsing: Promise<unknown>): Promise<string[]> {
  const error = await parsing.then(() => null, (thrown) => thrown);
  assert.ok(error instanceof HostError, String(error));
  return (error.data as { issues: { code: string; path: string }[] }).issues.map(({ code, path }) => `${code} ${path}`);
}

/** The ids of hooks that want an event. */
async function wanting(parsed: ParsedHookFile, own: Parameters<typeof hookEvent>[0]): Promise<string[]> {
  const event = hookEvent(own);
  const wants = await eventFilter(parsed.hooks);
  return parsed.hooks.filter((hook) => hook.hook === event.hook && wants(hook, event)).map(({ commands }) =>
    commands.bash ?? commands.command ?? ""
  );
}

const run = (command: string, own: object = {}) => ({ type: "command", command, ...own });

test("N-038 Cursor: entries stand alone, a type is not needed, failClosed is a gate, moments of tools are for those tools", async () => {
  const parsed = await parse(".cursor/hooks.json", {
    version: 1,
    hooks: {
      beforeShellExecution: [{ command: "shell", matcher: "curl|wget" }],
      beforeReadFile: [{ command: "read", failClosed: true, timeout: 5 }],
      beforeMCPExecution: [{ command: "mcp" }],
      afterFileEdit: [{ command: "edit" }],
      preToolUse: [{ command: "any", matcher: "Shell|Write" }],
      stop: [{ command: "stop", loop_limit: 3 }],
      beforeTabFileRead: [{ command: "tab" }],
      nobodyKnowsThis: [{ command: "x" }],
    },
  });
  assert.deepEqual(gist(parsed).slice(0, 2), [
    [5, "PreToolUse", "beforeShellExecution", "shell", 60_000],
    [11, "PreToolUse", "beforeReadFile", "read", 5_000],
  ]);
  assert.deepEqual(parsed.hooks.map(({ onFailure }) => onFailure).filter((one) => one !== undefined), ["block"]);
  assert.deepEqual(parsed.unused?.map(({ id }) => id), [
    ".cursor/hooks.json:beforeTabFileRead",
    ".cursor/hooks.json:nobodyKnowsThis",
  ]);
  assert.deepEqual(parsed.warnings.map(({ code }) => code), [
    "hook.unknown_key",
    "hook.event_elsewhere",
    "hook.event_elsewhere",
  ]);
  const shell = (command: string) => wanting(parsed, { tool: { name: "Bash" }, input: { command } });
  assert.deepEqual(await shell("curl x"), ["shell", "any"]);
  assert.deepEqual(await shell("ls"), ["any"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "read_file" } }), ["read"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "memory.save" } }), ["mcp"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "Edit" } }), ["any"]);
  assert.deepEqual(await wanting(parsed, { hook: "PostToolUse", tool: { name: "write" } }), ["edit"]);
});

test("N-038 Codex: strict keys at the top, JSON or TOML, seconds, and SessionEnd for at most 3", async () => {
  const hooks = {
    PreToolUse: [{ matcher: "^Bash$", hooks: [run("a")] }],
    SessionEnd: [{ hooks: [run("b"), run("c", { timeout: 60 })] }],
    UserPromptSubmit: [{ hooks: [run("d", { statusMessage: "…" }), { type: "prompt", prompt: "x" }] }],
    Whatever: [],
  };
  const parsed = await parse(".codex/hooks.json", { description: "ours", hooks });
  assert.deepEqual(gist(parsed).map(([, , name, , ms]) => [name, ms]), [
    ["PreToolUse", 600_000],
    ["SessionEnd", 1_000],
    ["SessionEnd", 3_000],
    ["UserPromptSubmit", 600_000],
  ]);
  assert.deepEqual(parsed.unused?.length, 2);
  for (const key of ["version", "$schema"]) {
    assert.deepEqual(
      (await codesOf(parse(".codex/hooks.json", { [key]: 1, hooks })))[0]?.split(" ")[0],
      "hook.unknown_key",
    );
  }
  const toml = `model = "x"

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "./check.sh"
timeout = 5
`;
  const fromToml = await parse(".codex/config.toml", toml);
  assert.deepEqual(gist(fromToml).map(([, ...rest]) => rest), [["PreToolUse", "PreToolUse", "./check.sh", 5_000]]);
  assert.deepEqual((await parse(".codex/config.toml", 'model = "x"\n')).hooks, []);
});

test("N-038 Codex: names with a hyphen are a pattern, and edits are its one tool for files", async () => {
  const parsed = await parse(".codex/hooks.json", {
    hooks: {
      PreToolUse: [
        { matcher: "apply_patch", hooks: [run("patch")] },
        { matcher: "mcp__my-server", hooks: [run("mcp")] },
      ],
    },
  });
  assert.deepEqual(await wanting(parsed, { tool: { name: "replace" } }), ["patch"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "mcp__my-server__push" } }), ["mcp"]);
});

test("N-038 Gemini: comments, milliseconds, causes compared whole, and its switch for all hooks", async () => {
  const settings = `{
  // Ours
  "hooks": {
    "enabled": true,
    "BeforeTool": [{ "matcher": "write_.*|replace", "sequential": true, "hooks": [{ "type": "command", "command": "a", "timeout": 5000 }] }],
    "SessionStart": [{ "matcher": "start", "hooks": [{ "type": "command", "command": "b" }] }],
    "BeforeModel": [{ "hooks": [{ "type": "command", "command": "c" }] }],
  },
}`;
  const parsed = await parse(".gemini/settings.json", settings);
  assert.deepEqual(gist(parsed), [
    [5, "PreToolUse", "BeforeTool", "a", 5_000],
    [6, "SessionStart", "SessionStart", "b", 60_000],
  ]);
  assert.deepEqual(parsed.unused?.map(({ id }) => id), [".gemini/settings.json:BeforeModel"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "Edit" } }), ["a"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "Bash" } }), []);
  assert.deepEqual(await wanting(parsed, { hook: "SessionStart", details: { source: "startup" } }), []);
  assert.deepEqual(await wanting(parsed, { hook: "SessionStart", details: { source: "start" } }), ["b"]);
  const off = await parse(".gemini/settings.json", settings.replace("{", '{ "hooksConfig": { "enabled": false },'));
  assert.deepEqual([off.hooks, off.warnings.some(({ code }) => code === "hook.all_disabled")], [[], true]);
});

test("N-038 Gemini: a matcher that is no pattern is compared as it is", async () => {
  const parsed = await parse(".gemini/settings.json", {
    hooks: { BeforeTool: [{ matcher: "odd(", hooks: [run("a")] }] },
  });
  assert.deepEqual(await wanting(parsed, { tool: { name: "odd(" } }), ["a"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "odd" } }), []);
});

test("N-038 Windsurf: moments are for kinds of tools, without matchers and timeouts", async () => {
  const parsed = await parse(".windsurf/hooks.json", {
    hooks: {
      pre_run_command: [{ command: "shell", show_output: true, working_directory: "sub" }],
      pre_write_code: [{ command: "write" }],
      pre_mcp_tool_use: [{ command: "mcp" }],
      post_cascade_response: [{ command: "end" }],
      post_setup_worktree: [{ command: "tree" }],
    },
  });
  assert.deepEqual(parsed.hooks.map(({ cwd }) => cwd), ["sub", undefined, undefined, undefined]);
  assert.deepEqual(parsed.warnings.map(({ code }) => code), ["hook.event_elsewhere"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "shell" } }), ["shell"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "Edit" } }), ["write"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "memory.save" } }), ["mcp"]);
  assert.deepEqual(await wanting(parsed, { tool: { name: "Read" } }), []);
});

test("N-038 opencode: the old hooks of opencode.json and those of command-hooks.jsonc, with what they cannot do here", async () => {
  const old = await parse("opencode.json", {
    experimental: {
      hook: {
        file_edited: { ".ts": [{ command: ["prettier", "--write", "$FILE"], environment: { A: "1" } }] },
        session_completed: [{ command: ["notify", "all done"] }],
      },
    },
  });
  assert.deepEqual(old.hooks.map(({ commands, background, env }) => [commands.bash, background, env]), [
    ['prettier --write "$FILE"', true, { A: "1" }],
    ["notify 'all done'", true, {}],
  ]);
  const edit = (file_path: string) =>
    wanting(old, { hook: "PostToolUse", tool: { name: "Edit" }, input: { file_path } });
  assert.deepEqual(await edit("/r/a.ts"), ['prettier --write "$FILE"']);
  assert.deepEqual(await edit("/r/a.tsx"), []);
  assert.deepEqual((await parse("opencode.json", { model: "x" })).hooks, []);
  const own = await parse(
    ".opencode/command-hooks.jsonc",
    `{
  // Ours
  "tool": [
    { "id": "a", "when": { "phase": "after", "tool": ["edit", "write"] }, "run": ["fmt", "lint"], "inject": "{stdout}" },
    { "id": "b", "when": { "phase": "before", "tool": "bash", "toolArgs": { "command": "rm" } }, "run": "x" },
    { "id": "c", "when": { "phase": "after" }, "toast": { "message": "hi" } },
  ],
  "session": [{ "id": "d", "when": { "event": "session.idle" }, "run": "idle" }, { "id": "e", "when": { "event": "session.end" }, "run": "x" }],
}`,
  );
  assert.deepEqual(own.hooks.map(({ line, commands }) => [line, commands.bash]), [[4, "fmt\nlint"], [8, "idle"]]);
  assert.deepEqual(own.unused?.map(({ id }) => id.split(":")[1]), [
    "tool[0].inject",
    "tool[1]",
    "tool[2]",
    "session[1]",
  ]);
  assert.match(own.unused?.[0]?.reason ?? "", /^Its "inject" is not read, though its commands run: /);
  assert.deepEqual(own.warnings, []);
  assert.deepEqual(await wanting(own, { hook: "PostToolUse", tool: { name: "replace" } }), ["fmt\nlint"]);
  assert.deepEqual(
    await codesOf(parse(".opencode/command-hooks.jsonc", { tool: [{ when: { phase: "during" }, run: "x" }] })),
    [
      "hook.unknown_event tool[0].when",
    ],
  );
});

test("N-038 hooks/hooks.json belongs to the agent whose moments it has", async () => {
  const group = [{ hooks: [run("x")] }];
  const dialectOf = async (content: unknown) => (await parse("hooks/hooks.json", content)).dialect;
  assert.equal(await dialectOf({ hooks: { PreToolUse: group } }), "plugin");
  assert.equal(await dialectOf({ hooks: { SessionStart: group, BeforeTool: group } }), "gemini");
  assert.equal(await dialectOf({ version: 1, hooks: { sessionStart: [{ command: "x" }] } }), "cursor");
  assert.equal(await dialectOf({ version: 1, hooks: { sessionStart: [{ bash: "x" }] } }), "copilot");
  assert.equal(await dialectOf({ version: 1, hooks: { agentStop: [{ command: "x" }] } }), "copilot");
  assert.equal(await dialectOf({ hooks: { pre_run_command: [{ command: "x" }] } }), "windsurf");
});
