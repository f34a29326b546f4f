import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import { trustHookFile } from "../../src/hooks/files/trust_store.ts";
import { openHookFiles } from "../../src/hooks/open_hook_files.ts";
import { canCage } from "../support/hook_repo.ts";
import { hosted } from "../support/hosted.ts";

/** Writes a check of every call into a project, and trusts it where asked. */
async function withCheck(dir: string, home: string, { trusted = true, more = [] as unknown[] } = {}): Promise<void> {
  const runtime = await detectRuntime();
  await mkdir(`${dir}/.claude`, { recursive: true });
  const hook = { type: "command", command: "echo x >> ran; echo 'not here' >&2; exit 2" };
  const hooks = { PreToolUse: [{ hooks: [hook, ...more] }] };
  await writeFile(`${dir}/.claude/settings.json`, JSON.stringify({ hooks }));
  if (!trusted) return;
  await using opened = await openHookFiles({ runtime, dir, home, userHome: null });
  for (const { evidence, file } of opened.judged) await trustHookFile({ home, dir: file.root, evidence }, runtime);
}

test("N-038 createHost({ hookFiles: true }) runs the trusted hook files of its project from start to stop", async (t) => {
  if (!await canCage(t)) return;
  await using h = await hosted({ hookFiles: { userHome: null }, start: false });
  await withCheck(h.dir, h.home);
  const loop = agentHooks(h.host.hooks, { session: "ses_1" });
  assert.equal((await loop.beforeTool("Bash", { command: "ls" })).blocked, false, "before the start");
  await h.host.start();
  const { blocked, reason } = await loop.beforeTool("Bash", { command: "ls" });
  assert.deepEqual([blocked, reason], [true, "not here"]);
  assert.equal(await readFile(`${h.dir}/ran`, "utf8"), "x\n");
  await h.host.stop();
  assert.deepEqual(h.host.hooks.list(), []);
  await h.host.start();
  assert.equal((await loop.beforeTool("Bash", {})).blocked, true, "after another start");
});

test("N-038 a host warns of hook files that nobody trusts, and without hookFiles looks at none", async () => {
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  await using h = await hosted({ hookFiles: { userHome: null }, onWarning, start: false });
  await withCheck(h.dir, h.home, { trusted: false });
  await h.host.start();
  assert.deepEqual(warnings, [".claude/settings.json is not trusted, and its hooks do not run: kaged hooks trust"]);
  assert.deepEqual(h.host.hooks.list("PreToolUse"), []);
  await using without = await hosted({ onWarning, start: false });
  await withCheck(without.dir, without.home);
  await without.host.start();
  assert.deepEqual([warnings.length, without.host.hooks.list("PreToolUse")], [1, []]);
});

test("N-038 a host warns of a hook that a mistake leaves out of a trusted file, and runs the others", async () => {
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  await using h = await hosted({ hookFiles: { userHome: null }, onWarning, start: false });
  await withCheck(h.dir, h.home, { more: [{ type: "command", comand: "./check.sh" }] });
  await h.host.start();
  assert.deepEqual(warnings, [
    "The hook .claude/settings.json:PreToolUse[0].hooks[1] does not run: It cannot be read: A hook names no command",
  ]);
  assert.equal(h.host.hooks.list("PreToolUse").length, 1);
});

test("N-038 a host whose list of trusted hooks cannot be read does not start", async () => {
  await using h = await hosted({ hookFiles: { userHome: null }, start: false });
  await writeFile(`${h.home}/trust.json`, "{");
  await assert.rejects(h.host.start(), { code: "hook.trust_unreadable" });
  await rm(`${h.home}/trust.json`);
  await h.host.start();
});
