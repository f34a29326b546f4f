import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { createHookEngine } from "../../../../src/hooks/engine/engine.ts";
import { canCage, hookEvent, hookRepo } from "../../../support/hook_repo.ts";

const group = (command: string, own: object = {}) => [{ hooks: [{ type: "command", command, timeout: 20 }], ...own }];
const settings = (hooks: object): string => JSON.stringify({ hooks }, null, 2);

test("N-038 a Claude Code command gets its variables, a transcript it can read and one id for one call", async (t) => {
  if (!await canCage(t)) return;
  const keep = (name: string): string =>
    `cat > ${name}.json; cp "$(jq -r .transcript_path ${name}.json 2>/dev/null || sed -n 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/p' ${name}.json)" ${name}.jsonl`;
  const repo = await hookRepo(t, {
    ".claude/settings.json": settings({
      SessionStart: group('echo "export COLOUR=red" >> "$CLAUDE_ENV_FILE"; echo "$CLAUDE_PROJECT_DIR" > dir'),
      UserPromptSubmit: group("true"),
      PreToolUse: group(keep("before")),
      PostToolUse: group(`${keep("after")}; echo "\${CLAUDE_ENV_FILE-none}" > env`),
    }),
  });
  await repo.trust();
  const opened = await repo.open();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  engine.add(opened.registrations);
  const fire = async (own: object) => {
    const { blocked, warnings } = await engine.fire(hookEvent(own));
    assert.deepEqual([blocked, warnings], [false, []]);
  };
  await fire({ hook: "SessionStart", tool: undefined, input: undefined });
  await fire({ hook: "UserPromptSubmitted", tool: undefined, input: "list the files" });
  await fire({ hook: "PreToolUse" });
  await fire({ hook: "PostToolUse", output: "a.txt" });
  const read = (name: string): Promise<string> => readFile(`${repo.dir}/${name}`, "utf8");
  assert.equal(await read("dir"), `${repo.dir}\n`);
  assert.equal(await read("env"), "none\n");
  assert.equal(await readFile(await opened.envFile("ses_1"), "utf8"), "export COLOUR=red\n");
  const [before, after] = [JSON.parse(await read("before.json")), JSON.parse(await read("after.json"))];
  assert.equal(before.tool_use_id, after.tool_use_id);
  const lines = (await read("after.jsonl")).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ type, message }) => [type, message.content[0].type ?? message.content]), [
    ["user", "list the files"],
    ["assistant", "tool_use"],
    ["user", "tool_result"],
  ]);
  assert.equal((await read("before.jsonl")).trim().split("\n").length, 2);
});

test("N-038 ~/.claude/settings.json is trusted apart: once for all repositories, with its scripts", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { "own.sh": "#!/bin/bash\ntouch stolen\n" });
  const claude = `${repo.userHome}/.claude`;
  await mkdir(`${claude}/hooks`, { recursive: true });
  await writeFile(`${claude}/hooks/mine.sh`, "#!/bin/bash\necho 'not today' >&2\nexit 2\n", { mode: 0o755 });
  await writeFile(`${claude}/credentials`, "secret");
  await writeFile(
    `${claude}/settings.json`,
    settings({
      PreToolUse: [
        ...group(`cat "$HOME/.claude/credentials" > seen; ~/.claude/hooks/mine.sh`),
        ...group('"$CLAUDE_PROJECT_DIR"/own.sh'),
      ],
    }),
  );
  const before = await repo.open();
  assert.deepEqual(before.judged.map(({ file, trust }) => [file.name, file.root, trust]), [
    ["~/.claude/settings.json", repo.userHome, "untrusted"],
  ]);
  assert.deepEqual(before.judged[0]?.evidence.files.map(({ path }) => path), [
    "~/.claude/settings.json",
    `${claude}/hooks/mine.sh`,
  ]);
  assert.match(before.found.leftOut[0]?.reason ?? "", /^It runs own\.sh of this repository, which trust in ~/);
  assert.deepEqual(before.registrations, []);
  await repo.trust();
  const answer = await repo.fire();
  assert.deepEqual(answer, {
    action: "block",
    reason: `cat: ${claude}/credentials: No such file or directory\nnot today`,
  });
  await writeFile(`${claude}/hooks/mine.sh`, "#!/bin/bash\ntrue\n");
  assert.deepEqual((await repo.open()).judged.map(({ trust }) => trust), ["changed"]);
});

test("N-038 a plugin's hooks have its folder, and a folder for data that stays", async (t) => {
  if (!await canCage(t)) return;
  const count =
    'echo x >> "$CLAUDE_PLUGIN_DATA/count"; wc -l < "$CLAUDE_PLUGIN_DATA/count" > "$CLAUDE_PLUGIN_ROOT/times"';
  const repo = await hookRepo(t, { "hooks/hooks.json": settings({ PreToolUse: group(count) }) });
  await repo.trust();
  await repo.fire();
  await repo.fire();
  assert.equal((await readFile(`${repo.dir}/times`, "utf8")).trim(), "2");
});

test("N-038 PostToolUse of Claude Code is for calls that went well, PostToolUseFailure for others", async (t) => {
  const repo = await hookRepo(t, {
    ".claude/settings.json": settings({ PostToolUse: group("x"), PostToolUseFailure: group("y") }),
  });
  await repo.trust();
  const { registrations } = await repo.open();
  const wanted = (own: object) =>
    registrations.filter(({ hook, matches }) => hook === hookEvent(own).hook && matches?.(hookEvent(own))).map((
      { source },
    ) => source?.id.split(":")[1]);
  const failed = { tool: { name: "Bash", success: false }, error: { message: "no" } };
  assert.deepEqual(wanted({ hook: "PostToolUse", output: "x" }), ["PostToolUse[0].hooks[0]"]);
  assert.deepEqual(wanted({ hook: "PostToolUse", ...failed }), []);
  assert.deepEqual(wanted({ hook: "OnError", ...failed }), ["PostToolUseFailure[0].hooks[0]"]);
  assert.deepEqual(wanted({ hook: "OnError", tool: undefined, error: { message: "no" } }), []);
});

test("N-038 a plugin that config.toml names is trusted by its own folder, and its hooks run in every project", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { "keep": "" });
  const plugin = `${repo.userHome}/guard`;
  await mkdir(`${plugin}/hooks`, { recursive: true });
  await writeFile(
    `${plugin}/check.sh`,
    "#!/bin/bash\necho x > \"$CLAUDE_PLUGIN_ROOT/y\"\necho 'by the plugin' >&2\nexit 2\n",
    {
      mode: 0o755,
    },
  );
  await writeFile(`${plugin}/hooks/hooks.json`, settings({ PreToolUse: group("${CLAUDE_PLUGIN_ROOT}/check.sh") }));
  await writeFile(`${repo.home}/config.toml`, `[hooks]\nplugins = ["${plugin}"]\n`);
  const { judged } = await repo.open();
  assert.deepEqual(judged.map(({ file, trust }) => [file.name, file.root, file.origin, trust]), [
    [`${plugin}/hooks/hooks.json`, plugin, "plugin", "untrusted"],
  ]);
  assert.deepEqual(judged[0]?.evidence.files.map(({ path }) => path), [
    `${plugin}/hooks/hooks.json`,
    `${plugin}/check.sh`,
  ]);
  await repo.trust();
  const answer = await repo.fire();
  assert.equal(answer?.action, "block");
  assert.match(answer?.reason ?? "", /y: Read-only file system\nby the plugin$/);
  await writeFile(`${plugin}/check.sh`, "#!/bin/bash\ntrue\n");
  assert.deepEqual((await repo.open()).judged.map(({ trust }) => trust), ["changed"]);
  await writeFile(`${repo.home}/config.toml`, `[hooks]\nplugins = ["${plugin}/hooks"]\n`);
  assert.match(
    (await repo.open()).found.errors[0]?.message ?? "",
    /names this folder as a plugin, and it has no hook files/,
  );
});
