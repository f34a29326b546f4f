/**
 * Hook files that people have for other agents, and that this host read in another sense, or not at all.
 */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createHost } from "@kaged/plugin-host";
import { agentHooks, createHookEngine, type FiredEvent } from "@kaged/plugin-host/hooks";
import { canCage, type HookRepo, hookRepo } from "../support/hook_repo.ts";
import { until } from "../support/until.ts";
import { emptyGround } from "./support_newcomer.ts";

const CLAUDE = ".claude/settings.json";

/** A file of Claude Code with one command at one moment. */
const claude = (moment: string, command: string, own: object = {}): string =>
  JSON.stringify({ hooks: { [moment]: [{ hooks: [{ type: "command", command, ...own }] }] } });

/** Returns a way to fire events at the hook files of a repository, all of which are trusted. */
async function trusted(repo: HookRepo) {
  await repo.trust();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  engine.add((await repo.open()).registrations);
  return async (hook: string, own: Partial<FiredEvent> = {}) =>
    await engine.fire({ hook, sessionId: "ses_1", agent: "primary", ...own } as FiredEvent);
}

async function repoWith(t: TestContext, files: Readonly<Record<string, string>>) {
  const repo = await hookRepo(t, files);
  return { repo, fire: await trusted(repo) };
}

// A cage's streams were sockets on Node and Bun, which cannot be opened by name: the check failed and the call passed.
test("B-018 a hook that opens /dev/stdin and /dev/stderr reads its event and blocks", async (t) => {
  if (!await canCage(t)) return;
  const script = "cat /dev/stdin > seen; echo no > /dev/stderr; exit 2";
  const { repo, fire } = await repoWith(t, { [CLAUDE]: claude("PreToolUse", script) });
  const { blocked, reason } = await fire("PreToolUse", { tool: { name: "Bash" }, input: { command: "ls" } });
  assert.deepEqual([blocked, reason], [true, "no"]);
  assert.equal(JSON.parse(await readFile(join(repo.dir, "seen"), "utf8")).tool_name, "Bash");
});

// The key was warned of and ignored: the hook blocked every call.
test("B-007 a hook of Claude Code with `if` runs for the calls that fit the rule alone", async (t) => {
  if (!await canCage(t)) return;
  const { fire } = await repoWith(t, { [CLAUDE]: claude("PreToolUse", "exit 2", { if: "Bash(git push *)" }) });
  const isBlocked = async (command: string) =>
    (await fire("PreToolUse", { tool: { name: "Bash" }, input: { command } })).blocked;
  assert.deepEqual([await isBlocked("ls"), await isBlocked("git push origin")], [false, true]);
});

// A script that was not there (`python3 gone.py` ends with 2) kept sessions from starting.
test("B-008 exit code 2 at the start of a session blocks nothing, and its text is shown", async (t) => {
  if (!await canCage(t)) return;
  const { fire } = await repoWith(t, { [CLAUDE]: claude("SessionStart", "echo 'not there' >&2; exit 2") });
  const { blocked, warnings } = await fire("SessionStart");
  assert.deepEqual([blocked, warnings], [false, ["not there"]]);
});

// Every example of VS Code has no version.
test("B-008 a file of .github/hooks without a version is read", async (t) => {
  const entry = { type: "command", command: "./check.sh" };
  const repo = await hookRepo(t, { ".github/hooks/a.json": JSON.stringify({ hooks: { PreToolUse: [entry] } }) });
  const { found } = await repo.open();
  assert.deepEqual([found.errors, found.files.map(({ hooks }) => hooks.length)], [[], [1]]);
});

// Repositories that had hooks for one of these agents alone were said to have none.
test("N-038 hook files of Codex, Cursor, Gemini and Windsurf are read", async (t) => {
  const command = { type: "command", command: "x" };
  const nested = (moment: string): string => JSON.stringify({ hooks: { [moment]: [{ hooks: [command] }] } });
  const flat = (moment: string): string => JSON.stringify({ hooks: { [moment]: [{ command: "x" }] } });
  const repo = await hookRepo(t, {
    ".codex/hooks.json": nested("PreToolUse"),
    ".cursor/hooks.json": flat("beforeShellExecution"),
    ".gemini/settings.json": nested("BeforeTool"),
    ".windsurf/hooks.json": flat("pre_run_command"),
  });
  const { found } = await repo.open();
  const hooks = found.files.map(({ name, hooks }) => [name, hooks.map(({ hook }) => hook)]);
  assert.deepEqual(hooks, [
    [".codex/hooks.json", ["PreToolUse"]],
    [".cursor/hooks.json", ["PreToolUse"]],
    [".gemini/settings.json", ["PreToolUse"]],
    [".windsurf/hooks.json", ["PreToolUse"]],
  ]);
});

// Scripts that read these fields found nothing, and long checks were ended after a minute.
test("B-005 hooks of Claude Code get the fields and variables that are documented there, and its time", async (t) => {
  if (!await canCage(t)) return;
  const { repo, fire } = await repoWith(t, {
    [CLAUDE]: claude("PostToolUse", "cat > seen"),
    ".claude/settings.local.json": claude("SessionStart", 'echo "export A=1" >> "$CLAUDE_ENV_FILE" && echo x > wrote'),
  });
  await fire("SessionStart");
  assert.equal(await readFile(join(repo.dir, "wrote"), "utf8"), "x\n");
  const tool = { name: "Bash", success: true, durationMs: 12 };
  await fire("PostToolUse", { tool, input: {}, output: "ok", details: { permissionMode: "plan" } });
  const seen = JSON.parse(await readFile(join(repo.dir, "seen"), "utf8"));
  assert.deepEqual([typeof seen.tool_use_id, seen.duration_ms, seen.permission_mode], ["string", 12, "plan"]);
  assert.equal(typeof seen.transcript_path, "string");
  const [{ timeoutMs } = assert.fail()] = (await repo.open()).found.files[0]!.hooks;
  assert.equal(timeoutMs, 600_000);
});

// One matcher that nobody could read, or one entry with a slip, and none of the file's checks ran.
test("N-038 a matcher or an entry that cannot be read leaves out its own hook, with the reason", async (t) => {
  const command = { type: "command", command: "x" };
  const groups = [{ matcher: "(", hooks: [command] }, { hooks: [{ type: "command" }, command] }];
  const repo = await hookRepo(t, { [CLAUDE]: JSON.stringify({ hooks: { PreToolUse: groups } }) });
  const { found } = await repo.open();
  assert.deepEqual([found.errors, found.files.map(({ hooks }) => hooks.length)], [[], [1]]);
  const ids = found.leftOut.map(({ id }) => id.replace(`${CLAUDE}:`, "")).filter((id) => id.startsWith("PreToolUse"));
  assert.deepEqual(ids.sort(), ["PreToolUse[0].hooks[0]", "PreToolUse[1].hooks[0]"]);
});

// The model was shown the object around the text.
test("N-038 modifiedResult of Copilot gives the tool's output as a text", async (t) => {
  if (!await canCage(t)) return;
  const answer = { modifiedResult: { resultType: "success", textResultForLlm: "short" } };
  const entry = { type: "command", bash: `echo '${JSON.stringify(answer)}'` };
  const file = JSON.stringify({ version: 1, hooks: { postToolUse: [entry] } });
  const { fire } = await repoWith(t, { ".github/hooks/a.json": file });
  assert.equal((await fire("PostToolUse", { tool: { name: "Bash" }, output: "long" })).output, "short");
});

// A check that crashed let the call pass, which Copilot denies.
test("N-038 a check of Copilot that fails before a call denies the call", async (t) => {
  if (!await canCage(t)) return;
  const file = JSON.stringify({ version: 1, hooks: { preToolUse: [{ type: "command", bash: "./gone.sh" }] } });
  const { fire } = await repoWith(t, { ".github/hooks/a.json": file });
  assert.equal((await fire("PreToolUse", { tool: { name: "Bash" }, input: {} })).blocked, true);
});

// VS Code allows comments in the files of its folder; here the command ended with 1.
test("B-007 a .vscode/mcp.json with comments is read", async (t) => {
  const text =
    `{\n  // Ours\n  "servers": { "memory": { "command": "node" } },\n  "hooks": { "SessionStart": [{ "tool": "memory.load" }] },\n}`;
  const repo = await hookRepo(t, { ".vscode/mcp.json": text });
  const { found } = await repo.open();
  assert.deepEqual([found.errors, found.files.map(({ tools }) => tools.length)], [[], [1]]);
});

// A hook that nobody waits for could say nothing to the model.
test("N-038 what an async hook of Claude Code says comes with the session's next prompt", async (t) => {
  if (!await canCage(t)) return;
  const command = `echo '{"hookSpecificOutput":{"additionalContext":"3 tests fail"}}'`;
  const { repo, fire } = await repoWith(t, { [CLAUDE]: claude("PostToolUse", command, { async: true }) });
  await fire("PostToolUse", { tool: { name: "Bash" }, output: "ok" });
  await until(() => repo.ends.length === 1, "the end of the hook");
  assert.deepEqual((await fire("UserPromptSubmitted", { input: "go on" })).context, ["3 tests fail"]);
});

// The guide read as if a host loaded hook files; it did not.
test("N-038 createHost({ hookFiles }) runs the trusted hook files of its project", async (t) => {
  if (!await canCage(t)) return;
  const { dir, home, kaged } = await emptyGround(t);
  const project = join(dir, "music");
  await mkdir(join(project, ".claude"), { recursive: true });
  await writeFile(join(project, "project.yaml"), JSON.stringify({ id: "music", primary: { plugins: {} } }));
  await writeFile(join(project, CLAUDE), claude("PreToolUse", "echo 'not here' >&2; exit 2"));
  const shown = JSON.parse((await kaged(["hooks", "trust", "--dir", project, "--json"])).stdout);
  await kaged(["hooks", "trust", "--dir", project, "--yes", shown.files[0].hash]);
  const hookFiles = { userHome: null };
  const host = await createHost({ project, home, hookFiles, onLog: () => {}, onWarning: () => {} });
  t.after(() => host.stop());
  await host.start();
  const at = { session: "ses_1", sessionId: "ses_1" }; // Earlier states had the second name.
  const { blocked, reason } = await agentHooks(host.hooks, at).beforeTool("Bash", { command: "ls" });
  assert.deepEqual([blocked, reason], [true, "not here"]);
});
