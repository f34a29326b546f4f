/**
 * The engine, the loop's calls and the built-in handlers, as people found them broken.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  agentHooks,
  budgetGuard,
  createHookEngine,
  errorKnowledge,
  handoff,
  type HookEngine,
} from "@kaged/plugin-host/hooks";
import { loopDetector, memoryNotes, redactJson, redactText, secretRedactor } from "@kaged/plugin-host/hooks";
import { detectRuntime } from "../../src/adapters/default.ts";
import { runScript } from "../support/run_script.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** Earlier states had the second name. */
const at = { session: "ses_1", sessionId: "ses_1" };
const { clock } = await detectRuntime();
/** Earlier states wanted the clock. */
const newEngine = (): HookEngine => createHookEngine({ clock });

// The only timer was one that keeps no process alive: the program ended, with exit code 0, before the gate had spoken.
test("N-003 a hung handler is given up at its deadline with nothing else to keep the process alive", async (t) => {
  const program = join(await scratchDir(t), "hung.ts");
  await writeFile(
    program,
    `import { createHookEngine } from "${import.meta.resolve("@kaged/plugin-host/hooks")}";
    import { detectRuntime } from "${new URL("../../src/adapters/default.ts", import.meta.url)}";
    const { clock } = await detectRuntime();
    const engine = createHookEngine({ clock });
    engine.register("PreToolUse", () => new Promise(() => {}), { timeoutMs: 100, onFailure: "block" });
    async function main() {
      const { blocked } = await engine.fire({ hook: "PreToolUse", sessionId: "s", agent: "primary" });
      console.log("blocked", blocked);
    }
    void main();\n`,
  );
  const child = runScript(pathToFileURL(program), []);
  child.stdin!.end();
  const [output] = await Promise.all([text(child.stdout!), once(child, "exit")]);
  assert.equal(output, "blocked true\n");
});

// The loop died with hooks.event_invalid whenever a tool failed.
test("N-004 errors and values of any type go through the loop's calls", async () => {
  const engine = newEngine();
  const seen: unknown[] = [];
  for (const hook of ["PostToolUse", "OnError"]) {
    engine.register(hook, ({ output, error }) => void seen.push(output ?? error?.message));
  }
  const hooks = agentHooks(engine, at);
  await hooks.afterTool({ name: "t", error: new Error("exit 1") });
  await hooks.onError(new Error("offline"));
  await hooks.afterTool({ name: "t", output: { at: new Date(0), n: 1n, map: new Map([["a", NaN]]) } });
  assert.deepEqual(seen, ["exit 1", "exit 1", "offline", {
    at: "1970-01-01T00:00:00.000Z",
    n: "1",
    map: { a: null },
  }]);
});

// Changes at these moments were dropped without a word.
test("N-004 what a handler modifies at OnError, compaction and the start of a session reaches the loop", async () => {
  const engine = newEngine();
  for (const hook of ["SessionStart", "PreCompact"]) {
    engine.register(hook, () => ({ action: "modify", modifiedInput: "new" }));
  }
  for (const hook of ["OnError", "PostCompact"]) {
    engine.register(hook, () => ({ action: "modify", modifiedOutput: "new" }));
  }
  const hooks = agentHooks(engine, at);
  const window = { trigger: "threshold", window: ["m"] };
  const results = [
    (await hooks.onStart({}, "old")).input,
    (await hooks.beforeCompact(window)).input,
    (await hooks.onError({ message: "e" })).output,
    (await hooks.afterCompact(window)).output,
  ];
  assert.deepEqual(results, ["new", "new", "new", "new"]);
});

// Stop and SessionEnd were one chain, and a handler that wanted another round kept the others from cleaning up.
test("X-17 a block of Stop keeps no handler of the session's end from running", async () => {
  const engine = newEngine();
  const cleaned: string[] = [];
  engine.register("Stop", () => ({ action: "block", reason: "go on" }), { priority: 1 });
  engine.register("SessionEnd", () => void cleaned.push("cleaned"));
  const { blocked, reason } = await agentHooks(engine, at).onEnd();
  assert.deepEqual([cleaned, blocked, reason], [["cleaned"], true, "go on"]);
});

// It was saved for the reason "rotation" alone.
test("B-014 handoff() saves at every end of a session", async () => {
  const engine = newEngine();
  engine.add(handoff({ notes: memoryNotes(), summarize: () => "Next: the tests" }));
  await agentHooks(engine, at).onEnd();
  const { context } = await agentHooks(engine, { ...at, session: "ses_2", ...{ sessionId: "ses_2" } }).onStart({
    rotatedFrom: "ses_1",
  });
  assert.match(context.join(), /Next: the tests/);
});

// One registration was no list, and nothing was added.
test("B-018 engine.add() takes one registration as well as a list", async () => {
  const engine = newEngine();
  engine.add({ hook: "PreToolUse", handler: () => ({ action: "block", reason: "no" }) } as never);
  assert.equal((await agentHooks(engine, at).beforeTool("t", {})).blocked, true);
});

// It was true once, and a loop that looked one call later never rotated.
test("B-019 rotate stays true until the session has rotated", async () => {
  const engine = newEngine();
  engine.add(budgetGuard());
  const hooks = agentHooks(engine, at);
  const rotate = async (usedTokens: number) => (await hooks.onBudget({ usedTokens, effectiveLimit: 100 })).rotate;
  assert.deepEqual([await rotate(82), await rotate(83), await rotate(90)], [true, true, true]);
});

// A fix could be told for an error only, and came after the command had failed once more.
test("B-012 a fix that is learned with its command is injected before that command", async () => {
  const engine = newEngine();
  const knowledge = errorKnowledge({ notes: memoryNotes() });
  engine.add(knowledge.registrations);
  const command = { command: "npm pack" };
  await knowledge.learn({ tool: "shell", error: "EEXIST: dist", fix: "Delete dist/ first", ...{ command } });
  const { context } = await agentHooks(engine, at).beforeTool("shell", command);
  assert.match(context.join(), /Delete dist\/ first/);
});

// Keys of storage accounts, tokens of Hugging Face, secrets as keys of maps and in errors went through.
test("B-018 the redactor knows Azure's keys and Hugging Face's tokens, in texts, keys of maps and errors", async () => {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  const token = `hf_${letters.slice(0, 34)}`;
  assert.equal(redactText(`AccountKey=${letters}==`).text, "AccountKey=[redacted: accountkey]");
  assert.equal(redactText(token).text, "[redacted: Hugging Face token]");
  assert.deepEqual(redactJson({ [token]: 1 }).value, { "[redacted: Hugging Face token]": 1 });
  const engine = newEngine();
  engine.add(secretRedactor());
  const { output } = await agentHooks(engine, at).afterTool({ name: "t", error: { message: `no: ${token}` } });
  assert.equal(output, "no: [redacted: Hugging Face token]");
});

// The same call with its arguments in another order was another call.
test("B-013 the loop detector knows a call whatever the order of its arguments", async () => {
  const engine = newEngine();
  engine.add(loopDetector());
  const hooks = agentHooks(engine, at);
  const fail = async (input: unknown) => (await hooks.afterTool({ name: "t", input, error: { message: "x" } })).blocked;
  assert.deepEqual([await fail({ a: 1, b: 2 }), await fail({ b: 2, a: 1 }), await fail({ a: 1, b: 2 })], [
    false,
    false,
    true,
  ]);
});
