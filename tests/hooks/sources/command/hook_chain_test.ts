import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import { readHookRun, saveHookRun } from "../../../../src/hooks/sources/command/last_run.ts";
import { createHookEngine } from "../../../../src/hooks/engine/engine.ts";
import { canCage, guard, hookEvent, hookRepo } from "../../../support/hook_repo.ts";
import { processesIn } from "../../../support/processes_in.ts";

const says = (answer: object): string => `echo '${JSON.stringify(answer)}'`;

test("B-018 hooks of two files and of code are one chain: modify feeds the next, inject adds up, block ends it", async (t) => {
  if (!await canCage(t)) return;
  const claude = {
    hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "cat > seen.json; ./tell.sh" }] }] },
  };
  const repo = await hookRepo(t, {
    ".github/hooks/a.json": guard(says({ action: "modify", modifiedInput: { command: "ls -l" } }), { priority: 10 }),
    ".claude/settings.json": JSON.stringify(claude),
    "tell.sh": `#!/bin/bash\n${says({ hookSpecificOutput: { additionalContext: "mind the gap" } })}\n`,
    ".github/hooks/z.json": guard("echo 'not on a Monday' >&2; exit 2", { priority: 90 }),
  });
  await repo.trust();
  const opened = await repo.open();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  let after: unknown = "not asked";
  engine.register("PreToolUse", ({ input }) => void (after = input), { priority: 60 });
  engine.register("PreToolUse", () => assert.fail("comes after the block"), { priority: 95 });
  engine.add(opened.registrations);
  const result = await engine.fire(hookEvent());
  assert.deepEqual([result.blocked, result.blockedBy, result.reason], [
    true,
    ".github/hooks/z.json:preToolUse[0]",
    "not on a Monday",
  ]);
  assert.deepEqual(after, { command: "ls -l" });
  assert.deepEqual(JSON.parse(await readFile(`${repo.dir}/seen.json`, "utf8")).tool_input, { command: "ls -l" });
  assert.deepEqual(result.context, ["mind the gap"]);
  assert.deepEqual(result.trace.map(({ outcome, source }) => [outcome, source.kind]), [
    ["ran", "file"],
    ["ran", "file"],
    ["quiet", "code"],
    ["ran", "file"],
    ["blocked by .github/hooks/z.json:preToolUse[0]", "code"],
  ]);
});

test("B-018 a hook that hangs costs the agent its own timeout and one warning, and the rest goes on", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    ".github/hooks/a.json": guard("sleep 1000", { timeoutSec: 1 }),
    ".github/hooks/b.json": guard("echo b > ran"),
  });
  await repo.trust();
  const opened = await repo.open();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  engine.add(opened.registrations);
  const result = await engine.fire(hookEvent());
  assert.deepEqual(result.trace.map(({ outcome }) => outcome), ["broke", "quiet"]);
  assert.equal(result.blocked, false);
  assert.match(result.warnings[0] ?? "", /^Hook failed: /);
  assert.equal(await readFile(`${repo.dir}/ran`, "utf8"), "b\n");
  await opened.close();
  assert.deepEqual(await processesIn(repo.dir), []);
});

test("B-018 a gate that breaks blocks where its file asks for that", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { ".github/hooks/a.json": guard("exit 7", { onFailure: "block" }) });
  await repo.trust();
  const engine = createHookEngine({ clock: repo.runtime.clock });
  engine.add((await repo.open()).registrations);
  const result = await engine.fire(hookEvent());
  assert.deepEqual([result.blocked, result.trace[0]?.outcome], [true, "broke"]);
});

test("B-018 a hook reaches the host that config.toml names, and no other", async (t) => {
  if (!await canCage(t)) return;
  const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as { port: number };
  const ask = (host: string) =>
    `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://${host}/ HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3`;
  const script = `(${ask(`127.0.0.1:${port}`)}) > named; (${ask("127.0.0.1:9")}) > other; true`;
  const repo = await hookRepo(t, { ".github/hooks/a.json": guard(script) });
  await writeFile(`${repo.home}/config.toml`, `[hooks]\nnetwork = ["127.0.0.1:${port}"]\n`);
  await repo.trust();
  await repo.fire();
  assert.match(await readFile(`${repo.dir}/named`, "utf8"), /200 OK[^]*hello/);
  assert.match(await readFile(`${repo.dir}/other`, "utf8"), /^HTTP\/1\.1 403/);
});

test("B-018 a run that is kept holds who said what, and no secret", async (t) => {
  const repo = await hookRepo(t);
  const engine = createHookEngine({ clock: repo.runtime.clock });
  const token = `ghp_${"a1B2".repeat(9)}`;
  engine.register("PreToolUse", () => ({ action: "block", reason: `Found ${token}` }));
  engine.register("PreToolUse", ({ ask }) => ask({ reason: `Saw ${token}` }), { priority: 10 });
  const result = await engine.fire(hookEvent({ input: { secret: "the prompt" } }));
  await assert.rejects(readHookRun(repo.home, repo.runtime), { code: "hook.no_run" });
  await saveHookRun(repo.home, { dir: repo.dir, result }, repo.runtime);
  const kept = await readHookRun(repo.home, repo.runtime);
  assert.equal(kept.blocked, true);
  assert.match(kept.reason ?? "", /^Found \[redacted/);
  assert.match(kept.asked[0]?.reason ?? "", /^Saw \[redacted/);
  const text = await readFile(`${repo.home}/hooks/last_run.json`, "utf8");
  assert.ok(!text.includes(token) && !text.includes("the prompt"));
  await writeFile(`${repo.home}/hooks/last_run.json`, "{");
  await assert.rejects(readHookRun(repo.home, repo.runtime), { code: "hook.no_run" });
});
