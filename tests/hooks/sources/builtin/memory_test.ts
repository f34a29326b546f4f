import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { agentHooks } from "../../../../src/hooks/agent/agent_hooks.ts";
import { rotateSession } from "../../../../src/hooks/agent/rotate_session.ts";
import { anchorCheck } from "../../../../src/hooks/sources/builtin/anchor_check.ts";
import { budgetGuard } from "../../../../src/hooks/sources/builtin/budget_guard.ts";
import { type ErrorAlert, errorAlerts } from "../../../../src/hooks/sources/builtin/error_alerts.ts";
import { errorKnowledge } from "../../../../src/hooks/sources/builtin/error_knowledge.ts";
import { handoff } from "../../../../src/hooks/sources/builtin/handoff.ts";
import { fileNotes, memoryNotes } from "../../../../src/hooks/sources/builtin/notes.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";
import { stage } from "../../engine/stage.ts";

const runtime = await detectRuntime();
const TOKEN = `ghp_${"a1".repeat(18)}`;

test("B-012 a failure is kept by its signature, and its fix is injected before the command runs again", async (t) => {
  const dir = join(await scratchDir(t), "notes");
  const open = () => errorKnowledge({ notes: fileNotes({ dir, files: runtime.files, ids: runtime.ids }) });
  const first = open();
  const s = stage();
  s.engine.add(first.registrations);
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const command = { cmd: "npm pack --pack-destination /tmp/a1/b" };
  const error = { message: `EEXIST: stale archive /tmp/a1/dist.tgz, token ${TOKEN}` };
  assert.deepEqual((await hooks.beforeTool("shell", command)).context, []);
  assert.deepEqual((await hooks.afterTool({ name: "shell", input: command, error })).context, []);
  await first.learn({ tool: "shell", error: error.message, fix: "Delete dist/ first" });
  const known = 'Known fix for "eexist: stale archive <path>, token [redacted: github token]": Delete dist/ first';
  const later = { cmd: "npm pack --pack-destination /tmp/a2/b" };
  assert.deepEqual((await hooks.beforeTool("shell", later)).context, [known]);
  assert.deepEqual((await hooks.beforeTool("shell", { cmd: "ls" })).context, []);
  assert.deepEqual((await hooks.beforeTool("other", later)).context, []);

  // A fresh program knows it too, and finds signatures in the file, never what was said.
  const fresh = stage();
  fresh.engine.add(open().registrations);
  const again = agentHooks(fresh.engine, { session: "ses_2" });
  assert.deepEqual((await again.beforeTool("shell", later)).context, [known]);
  assert.deepEqual((await again.afterTool({ name: "shell", input: later, error })).context, [known]);
  const [file] = await readdir(dir);
  const text = await readFile(join(dir, file!), "utf8");
  assert.doesNotMatch(text, /ghp_|npm pack|\/tmp\//);
  assert.equal(JSON.parse(text).errors[0].count, 2);
  assert.equal((await stat(join(dir, file!))).mode & 0o777, 0o600);
});

test("B-012 B-010 knowledge that cannot be read stops nothing and is not written over", async (t) => {
  const dir = await scratchDir(t);
  const notes = fileNotes({ dir, files: runtime.files, ids: runtime.ids });
  await notes.write("error-knowledge", "{ broken");
  const s = stage();
  s.engine.add(errorKnowledge({ notes }).registrations);
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const { blocked, warnings } = await hooks.afterTool({ name: "shell", error: { message: "x" } });
  assert.equal(blocked, false);
  assert.equal(warnings[0], "Hook failed: The error knowledge cannot be read");
  assert.equal(await notes.read("error-knowledge"), "{ broken");
  await notes.write("error-knowledge", JSON.stringify({ version: 1, errors: [] }));
  assert.deepEqual((await hooks.afterTool({ name: "shell", error: { message: "x" } })).warnings, []);
});

test("B-012 many failures at once are all kept, and the one not seen longest is forgotten", async () => {
  const knowledge = errorKnowledge({ notes: memoryNotes(), maxErrors: 3 });
  const s = stage();
  s.engine.add(knowledge.registrations);
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const fail = (message: string) => hooks.afterTool({ name: "shell", error: { message } });
  await Promise.all(["a", "b", "c"].map(fail));
  await fail("a");
  await fail("d");
  assert.deepEqual((await knowledge.known()).map(({ signature, count }) => [signature, count]), [["c", 1], ["a", 2], [
    "d",
    1,
  ]]);
});

test("B-017 the same failure within a minute is one alert, and the next one counts the failures in between", async () => {
  const alerts: ErrorAlert[] = [];
  const s = stage();
  s.engine.add(errorAlerts({ onAlert: (alert) => void alerts.push(alert) }));
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const fail = async (message: string) => {
    await hooks.afterTool({ name: "shell", error: { message } });
    s.clock.advance(20_000);
  };
  for (const at of [1, 2, 3, 4]) await fail(`exit code ${at}`);
  await fail("another");
  assert.deepEqual(alerts, [
    { tool: "shell", signature: "exit code <n>", count: 1, session: "ses_1" },
    { tool: "shell", signature: "exit code <n>", count: 3, session: "ses_1" },
    { tool: "shell", signature: "another", count: 1, session: "ses_1" },
  ]);
});

test("B-012 B-014 B-017 a handoff goes over to the session that follows, without secrets, and to no other", async (t) => {
  const notes = fileNotes({ dir: await scratchDir(t), files: runtime.files, ids: runtime.ids });
  const s = stage();
  s.engine.add(handoff({ notes, summarize: () => `Goal: ship. Key ${TOKEN}. ${"é".repeat(100)}`, maxBytes: 60 }));
  const hooks = agentHooks(s.engine, { session: "ses_1", repository: "o/r", branch: "main" });
  const fresh = (session: string) => agentHooks(s.engine, { ...hooks.at, session });
  assert.deepEqual((await fresh("ses_x").onStart({ rotatedFrom: "ses_1" })).context, []);
  const { context } = await rotateSession(s.engine, hooks, { session: "ses_2" });
  assert.deepEqual(context, [
    `Handoff from session ses_1:\nGoal: ship. Key [redacted: GitHub token]. ${"é".repeat(9)}`,
  ]);
  const other = agentHooks(s.engine, { ...hooks.at, session: "ses_3" });
  assert.deepEqual((await other.onStart()).context, []);
  assert.deepEqual((await other.onStart({ rotatedFrom: "ses_9" })).context, []);
  const elsewhere = agentHooks(s.engine, { ...hooks.at, branch: "dev", session: "ses_4" });
  assert.deepEqual((await elsewhere.onStart({ rotatedFrom: "ses_1" })).context, []);
});

test("B-012 a handoff is saved at every end of a session, and sessions that end together keep theirs", async (t) => {
  const notes = fileNotes({ dir: await scratchDir(t), files: runtime.files, ids: runtime.ids });
  const s = stage();
  s.engine.add(handoff({ notes, summarize: ({ sessionId, details }) => `${sessionId} ${details?.["reason"]}` }));
  const at = (session: string) => agentHooks(s.engine, { session });
  await Promise.all([at("ses_1").onEnd(), at("ses_2").onEnd("logout"), at("ses_3").onEnd("rotation")]);
  for (const [session, reason] of [["ses_1", "end"], ["ses_2", "logout"], ["ses_3", "rotation"]] as const) {
    const { context } = await at("next").onStart({ rotatedFrom: session });
    assert.deepEqual(context, [`Handoff from session ${session}:\n${session} ${reason}`]);
  }
  for (let count = 0; count < 20; count++) await at(`later_${count}`).onEnd();
  assert.deepEqual((await at("next").onStart({ rotatedFrom: "ses_1" })).context, [], "the latest 20 are kept");
});

test("B-014 B-017 anchors that a compaction lost are put back; those it kept are not", async () => {
  const s = stage();
  const anchors = () => [{ name: "issue", text: "#145" }, { name: "blocker", text: 'needs "key"' }];
  s.engine.add(anchorCheck({ anchors }));
  const hooks = agentHooks(s.engine, { session: "ses_1", branch: "feat/145" });
  const after = (window: unknown) => hooks.afterCompact({ trigger: "threshold", window });
  const kept = [{ role: "user", content: 'On feat/145 for #145: needs "key"' }];
  assert.deepEqual((await after(kept)).context, []);
  const { context, warnings } = await after([{ role: "user", content: [{ text: "We work on #145" }] }]);
  assert.deepEqual(context, ['Still true:\n- branch: feat/145\n- blocker: needs "key"']);
  assert.deepEqual(warnings, ["Lost in the compaction, and put back: branch, blocker"]);
});

test("B-019 a budget is warned of at 70 % and asks to rotate at 80 %", async () => {
  const s = stage();
  s.engine.add(budgetGuard());
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const at = async (usedTokens: number) => {
    const { rotate, blocked, warnings } = await hooks.onBudget({ usedTokens, effectiveLimit: 100 });
    return [rotate, blocked, warnings.length];
  };
  assert.deepEqual([await at(69), await at(70), await at(79), await at(80)], [
    [false, false, 0],
    [false, false, 1],
    [false, false, 0],
    [true, true, 0],
  ]);
});

test("notes in a folder are told apart by their whole key, and a folder that cannot be written is an error", async (t) => {
  const dir = await scratchDir(t);
  const notes = fileNotes({ dir, files: runtime.files, ids: runtime.ids });
  await notes.write("a/../b", "1");
  await notes.write("a b", "2");
  assert.deepEqual([await notes.read("a/../b"), await notes.read("a b"), await notes.read("none")], ["1", "2", null]);
  assert.equal((await readdir(dir)).length, 2);
  await writeFile(join(dir, "file"), "");
  const impossible = fileNotes({ dir: join(dir, "file"), files: runtime.files, ids: runtime.ids });
  await assert.rejects(impossible.write("a", "1"), { code: "host.file_unreadable" });
});

test("B-012 a fix that is learned with its command is injected before that command, which nobody has seen fail", async () => {
  const notes = memoryNotes();
  const knowledge = errorKnowledge({ notes });
  const s = stage();
  s.engine.add(knowledge.registrations);
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const fix = { tool: "shell", error: "EEXIST: dist/app.tgz", fix: "Delete dist/ first" };
  await knowledge.learn({ ...fix, command: { command: "npm pack", cwd: "/r/a1" } });
  // Paths and numbers, and the order of arguments, make no other command.
  const { context } = await hooks.beforeTool("shell", { cwd: "/r/b22", command: "npm pack" });
  assert.deepEqual(context, ['Known fix for "eexist: dist/app.tgz": Delete dist/ first']);
  for (const [tool, command] of [["shell", "npm test"], ["other", "npm pack"]] as const) {
    assert.deepEqual((await hooks.beforeTool(tool, { command, cwd: "/r/a1" })).context, []);
  }
  await knowledge.learn(fix);
  assert.equal((await knowledge.known())[0]?.commands.length, 1, "learned again without one, it keeps its commands");
  assert.doesNotMatch(await notes.read("error-knowledge") ?? "", /npm pack/);
});
