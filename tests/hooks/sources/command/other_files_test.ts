import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { test } from "node:test";
import { createHookEngine } from "../../../../src/hooks/engine/engine.ts";
import { canCage, hookEvent, hookRepo } from "../../../support/hook_repo.ts";

const nested = (command: string) => [{ matcher: ".*", hooks: [{ type: "command", command }] }];
const flat = (command: string) => [{ command }];
const json = (hooks: object): string => JSON.stringify({ hooks });

/** A repository with one check for each agent: each keeps its stdin, and says no with its own name. */
const CHECK = '#!/bin/bash\ncat > seen.$1\necho "no, says $1" >&2\nexit 2\n';
const FILES: Readonly<Record<string, string>> = {
  ".claude/settings.json": json({ PreToolUse: nested('"$CLAUDE_PROJECT_DIR"/check.sh claude') }),
  ".codex/hooks.json": json({ PreToolUse: nested('"$(git rev-parse --show-toplevel)/check.sh" codex') }),
  ".cursor/hooks.json": json({ beforeShellExecution: flat("./check.sh cursor") }),
  ".gemini/settings.json": json({ BeforeTool: nested("$GEMINI_PROJECT_DIR/check.sh gemini") }),
  ".github/hooks/a.json": json({ PreToolUse: [{ type: "command", command: "./check.sh copilot" }] }),
  ".windsurf/hooks.json": json({ pre_run_command: flat("bash check.sh windsurf") }),
};

test("N-038 files of every agent are trusted with their scripts, run caged on their own fields, and block as there", async (t) => {
  if (!await canCage(t)) return;
  for (const [file, text] of Object.entries(FILES)) {
    const repo = await hookRepo(t, { [file]: text, "check.sh": CHECK });
    const [before] = (await repo.open()).judged;
    assert.deepEqual([before?.file.name, before?.trust], [file, "untrusted"]);
    assert.deepEqual(before?.evidence.files.map(({ path }) => path), [file, "check.sh"], file);
    const dialect = before!.file.dialect;
    // Codex asks git for the folder: the check is covered all the same, and runs where there is a repository.
    if (dialect === "codex") continue;
    await repo.trust();
    assert.deepEqual(
      await repo.fire({ tool: { name: "shell" } }),
      { action: "block", reason: `no, says ${dialect}` },
      file,
    );
    const seen = JSON.parse(await readFile(`${repo.dir}/seen.${dialect}`, "utf8"));
    const command = seen.command ?? seen.tool_info?.command_line ?? seen.tool_input?.command;
    assert.equal(command, "ls", file);
    await repo.write("check.sh", "#!/bin/bash\ntrue\n");
    assert.deepEqual((await repo.open()).judged.map(({ trust }) => trust), ["changed"], file);
  }
});

test("N-038 an opencode hook runs after an edit with the file in its words, in the background, and decides nothing", async (t) => {
  if (!await canCage(t)) return;
  const hook = { file_edited: { ".ts": [{ command: ["cp", "$FILE", "kept file"] }] } };
  const repo = await hookRepo(t, { "opencode.jsonc": JSON.stringify({ experimental: { hook } }), "a b.ts": "text\n" });
  await repo.trust();
  const opened = await repo.open();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  engine.add(opened.registrations);
  const input = { file_path: `${repo.dir}/a b.ts` };
  const result = await engine.fire(hookEvent({ hook: "PostToolUse", tool: { name: "edit" }, input, output: "ok" }));
  assert.deepEqual([result.blocked, result.warnings], [false, []]);
  await opened.close();
  assert.equal(await readFile(`${repo.dir}/kept file`, "utf8"), "text\n");
});

test("N-038 user files of every agent are found in their places, and Cursor's run in its folder", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t);
  const places: Record<string, string> = {
    ".codex/hooks.json": json({ PreToolUse: nested("true") }),
    ".cursor/hooks.json": json({ preToolUse: flat("./hooks/mine.sh") }),
    ".gemini/settings.json": json({ BeforeTool: nested("true") }),
    ".codeium/windsurf/hooks.json": json({ pre_run_command: flat("true") }),
    ".config/opencode/opencode.json": JSON.stringify({
      experimental: { hook: { session_completed: [{ command: ["true"] }] } },
    }),
    ".cursor/hooks/mine.sh": `#!/bin/bash\npwd > ${repo.dir}/place\n`,
  };
  for (const [name, text] of Object.entries(places)) {
    await mkdir(dirname(`${repo.userHome}/${name}`), { recursive: true });
    await writeFile(`${repo.userHome}/${name}`, text, { mode: name.endsWith(".sh") ? 0o755 : 0o644 });
  }
  const opened = await repo.open();
  assert.deepEqual(opened.judged.map(({ file, trust }) => [file.name, file.dialect, trust]), [
    ["~/.codex/hooks.json", "codex", "untrusted"],
    ["~/.cursor/hooks.json", "cursor", "untrusted"],
    ["~/.gemini/settings.json", "gemini", "untrusted"],
    ["~/.codeium/windsurf/hooks.json", "windsurf", "untrusted"],
    ["~/.config/opencode/opencode.json", "opencode", "untrusted"],
  ]);
  await repo.trust();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  engine.add((await repo.open()).registrations);
  const { warnings, trace } = await engine.fire(hookEvent({ tool: { name: "shell" } }));
  assert.deepEqual(warnings, []);
  assert.deepEqual(trace.map(({ outcome }) => outcome), ["quiet", "quiet", "quiet", "quiet"]);
  assert.equal(await readFile(`${repo.dir}/place`, "utf8"), `${repo.userHome}/.cursor\n`);
});

test("N-038 a plugin's manifest says where its hooks are", async (t) => {
  const group = json({ PreToolUse: nested("true") });
  const repo = await hookRepo(t, {
    ".claude-plugin/plugin.json": JSON.stringify({ name: "p", hooks: ["./config/a.json", "../outside.json"] }),
    ".cursor-plugin/plugin.json": JSON.stringify({ name: "p", version: "1.2.0", hooks: { preToolUse: flat("true") } }),
    "config/a.json": group,
    "hooks/hooks.json": group,
    "hooks.json": group,
  });
  const { found } = await repo.open();
  assert.deepEqual(found.files.map(({ name, dialect }) => [name, dialect]), [
    ["config/a.json", "plugin"],
    [".cursor-plugin/plugin.json", "cursor"],
    ["hooks.json", "plugin"],
    ["hooks/hooks.json", "plugin"],
  ]);
  assert.deepEqual(found.errors.map(({ code, file, message }) => [code, file, message]), [
    ["hook.unreadable", `${repo.dir}/outside.json`, "The plugin names this file, and it is not there"],
  ]);
});

test("N-038 a hook that stands in two settings files of Claude Code runs once", async (t) => {
  const settings = json({ PreToolUse: nested("true") });
  const repo = await hookRepo(t, { ".claude/settings.json": settings, ".claude/settings.local.json": settings });
  await repo.trust();
  const { registrations } = await repo.open();
  assert.deepEqual(registrations.map(({ source }) => source?.id), [".claude/settings.json:PreToolUse[0].hooks[0]"]);
});

test("N-038 a Cursor hook sees a file of the project before it is read, and none beyond it", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    ".cursor/hooks.json": json({ beforeReadFile: flat("cat > seen.json") }),
    "notes.txt": "inside",
  });
  await writeFile(`${repo.userHome}/secret.txt`, "outside");
  await symlink(`${repo.userHome}/secret.txt`, `${repo.dir}/link.txt`);
  await repo.trust();
  const shown = async (file_path: string): Promise<unknown> => {
    await repo.fire({ tool: { name: "Read" }, input: { file_path } });
    return JSON.parse(await readFile(`${repo.dir}/seen.json`, "utf8")).content;
  };
  assert.equal(await shown(`${repo.dir}/notes.txt`), "inside");
  assert.equal(await shown("notes.txt"), "inside");
  for (const path of [`${repo.userHome}/secret.txt`, "link.txt", "../user/secret.txt", "none.txt", repo.dir]) {
    assert.equal(await shown(path), "", path);
  }
});
