import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { loadHookFiles, selectCommand } from "../../../src/hooks/files/load_hook_files.ts";
import { DEFAULT_HOOK_SETTINGS, type HookSettings } from "../../../src/core/project/hook_settings.ts";
import { guard, type HookRepo, hookRepo } from "../../support/hook_repo.ts";

const load = ({ dir, userHome, runtime }: HookRepo, own: Partial<HookSettings> = {}) =>
  loadHookFiles({ dir, userHome, files: runtime.files, settings: { ...DEFAULT_HOOK_SETTINGS, ...own } });

const claude = JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "x" }] }] } });
const agent = "---\nname: guard\nhooks:\n  PreToolUse: [{ type: command, command: x }]\n---\n";

test("B-008 hooks are found in each documented place, the operator's first", async (t) => {
  const repo = await hookRepo(t, {
    ".github/hooks/b.json": guard("b"),
    ".github/hooks/a.json": guard("a"),
    ".github/hooks/notes.txt": "no hooks",
    ".github/agents/guard.agent.md": agent,
    ".claude/settings.json": claude,
    ".claude/settings.local.json": claude,
    "hooks/hooks.json": claude,
    ".mcp.json": JSON.stringify({ hooks: { SessionStart: [{ tool: "memory.load" }] } }),
  });
  await mkdir(`${repo.userHome}/.copilot/hooks`, { recursive: true });
  await writeFile(`${repo.userHome}/.copilot/hooks/mine.json`, guard("mine"));
  const { files, errors } = await load(repo);
  assert.deepEqual(errors, []);
  assert.deepEqual(files.map(({ name, dialect, origin }) => [name, dialect, origin]), [
    ["~/.copilot/hooks/mine.json", "copilot", "user"],
    [".github/hooks/a.json", "copilot", "repository"],
    [".github/hooks/b.json", "copilot", "repository"],
    [".claude/settings.json", "claude", "repository"],
    [".claude/settings.local.json", "claude", "repository"],
    ["hooks/hooks.json", "plugin", "repository"],
    [".mcp.json", "mcp", "repository"],
  ]);
});

test("B-009 hooks of an agent's file are used when the operator switches them on, beside the workspace's", async (t) => {
  const repo = await hookRepo(t, { ".github/hooks/a.json": guard("a"), ".github/agents/guard.agent.md": agent });
  const names = async (own: Partial<HookSettings>) => (await load(repo, own)).files.map(({ name }) => name);
  assert.deepEqual(await names({}), [".github/hooks/a.json"]);
  assert.deepEqual(await names({ agent_hooks: true }), [".github/hooks/a.json", ".github/agents/guard.agent.md"]);
});

test("B-008 bash comes before command, PowerShell is for Windows", () => {
  const commands = { bash: "b", powershell: "p", command: "c" };
  assert.equal(selectCommand({ commands }, "linux"), "b");
  assert.equal(selectCommand({ commands }, "win32"), "p");
  assert.equal(selectCommand({ commands: { powershell: "p", command: "c" } }, "linux"), "c");
  assert.equal(selectCommand({ commands: { powershell: "p" } }, "linux"), null);
});

test("B-008 the cloud has no user-level hooks, no PowerShell and fewer moments", async (t) => {
  const entry = (own: object) => [{ type: "command", ...own }];
  const hooks = {
    preToolUse: entry({ powershell: "p" }),
    SubagentStop: entry({ bash: "b" }),
    sessionEnd: entry({ bash: "b" }),
  };
  const repo = await hookRepo(t, { ".github/hooks/a.json": JSON.stringify({ version: 1, hooks }) });
  await mkdir(`${repo.userHome}/.copilot/hooks`, { recursive: true });
  await writeFile(`${repo.userHome}/.copilot/hooks/mine.json`, guard("mine"));
  const { files, leftOut } = await load(repo, { surface: "cloud" });
  assert.deepEqual(files.map(({ name, hooks }) => [name, hooks.map(({ hook }) => hook)]), [
    [".github/hooks/a.json", ["SessionEnd"]],
  ]);
  assert.deepEqual(leftOut.map(({ id }) => id), [
    ".github/hooks/a.json:preToolUse[0]",
    ".github/hooks/a.json:SubagentStop[0]",
  ]);
  assert.equal((await load(repo)).files.length, 2);
});

test("B-018 each hook and each file can be switched off by the operator alone", async (t) => {
  const repo = await hookRepo(t, { ".github/hooks/a.json": guard("a"), ".github/hooks/b.json": guard("b") });
  const running = async (disable: string[]) =>
    (await load(repo, { disable })).files.flatMap(({ hooks }) => hooks.map(({ script }) => script));
  assert.deepEqual(await running([".github/hooks/a.json"]), ["b"]);
  assert.deepEqual(await running([".github/hooks/b.json:preToolUse[0]"]), ["a"]);
});

test("B-018 a broken file is reported with its place, and the others go on", async (t) => {
  const repo = await hookRepo(t, {
    ".github/hooks/a.json": guard("a"),
    ".github/hooks/b.json": "{\n // broken\n",
    ".github/hooks/c.json": '{"version": 1, "hooks": {"preTooluse": []}}',
  });
  await symlink("/etc/hostname", `${repo.dir}/.github/hooks/d.json`);
  await mkdir(`${repo.dir}/.github/hooks/e.json`);
  await writeFile(`${repo.dir}/.github/hooks/f.json`, new Uint8Array([0xff]));
  await writeFile(`${repo.dir}/.github/hooks/g.json`, " ".repeat(1024 * 1024 + 1));
  const { files, errors } = await load(repo);
  assert.deepEqual(files.map(({ name }) => name), [".github/hooks/a.json"]);
  assert.deepEqual(errors.map(({ code, file, line }) => [code, file.slice(-6), line]), [
    ["hook.json_syntax", "b.json", 3],
    ["hook.unknown_event", "c.json", 1],
    ["hook.outside", "d.json", 1],
    ["hook.unreadable", "e.json", 1],
    ["hook.not_utf8", "f.json", 1],
    ["hook.too_large", "g.json", 1],
  ]);
});

test("B-008 no hook file is left out without a word: a folder with too many, one that cannot be listed", async (t) => {
  const repo = await hookRepo(t);
  await mkdir(`${repo.dir}/.github/hooks`, { recursive: true });
  const name = (at: number): string => `${repo.dir}/.github/hooks/${String(at).padStart(3, "0")}.json`;
  await Promise.all(Array.from({ length: 201 }, (_, at) => writeFile(name(at), guard("true"))));
  const { files, errors } = await load(repo);
  assert.deepEqual([files.length, files[199]?.name], [200, ".github/hooks/199.json"]);
  assert.deepEqual(errors.map(({ code, file }) => [code, file]), [[
    "hook.too_many_files",
    `${repo.dir}/.github/hooks`,
  ]]);
  const list = (): Promise<string[]> => Promise.reject(new Error("EACCES: permission denied"));
  const closed = await load({ ...repo, runtime: { ...repo.runtime, files: { ...repo.runtime.files, list } } });
  assert.deepEqual(closed.errors.map(({ code, message }) => [code, message]), [[
    "hook.unreadable",
    "EACCES: permission denied",
  ]]);
});

test("B-008 a folder without hooks gives none, and what is no folder is refused", async (t) => {
  const repo = await hookRepo(t);
  assert.deepEqual((await load(repo)).files, []);
  await assert.rejects(load({ ...repo, dir: `${repo.dir}/none` }), { code: "host.misuse" });
});

test("N-038 files of an administrator are not read, and those that are there are listed", async (t) => {
  const { dir, runtime: { files } } = await hookRepo(t);
  const folder = "/etc/github-copilot/policy.d";
  const there = ["/etc/claude-code/managed-settings.json", folder, "/etc/cursor/hooks.json"];
  const machine: typeof files = {
    ...files,
    target: async (path) => await files.target(there.includes(path) ? dir : path),
    list: async (path) => path === folder ? ["a.json", "notes.txt"] : await files.list(path),
  };
  const { leftOut, errors } = await loadHookFiles({ dir, files: machine });
  assert.deepEqual(leftOut.map(({ id }) => id).filter((id) => id.startsWith("/etc/")), [
    `${folder}/a.json`,
    "/etc/claude-code/managed-settings.json",
    "/etc/cursor/hooks.json",
  ]);
  assert.match(
    leftOut[0]?.reason ?? "",
    /^Files that an administrator has for GitHub Copilot and VS Code are not read/,
  );
  assert.deepEqual(errors, []);
});
