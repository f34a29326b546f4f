import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import process from "node:process";
import { test } from "node:test";
import { HostError } from "../../../../src/core/errors/host_error.ts";
import { createHookEngine } from "../../../../src/hooks/mod.ts";
import type { HookEvent } from "../../../../src/hooks/engine/types.ts";
import { openHookFiles } from "../../../../src/hooks/open_hook_files.ts";
import { canCage, guard, hookEvent, hookRepo } from "../../../support/hook_repo.ts";
import { processesIn } from "../../../support/processes_in.ts";
import { until } from "../../../support/until.ts";

const FILE = ".github/hooks/guard.json";
const failsWith = (code: string, message: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof HostError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

/** Nothing of a hook is left: no process works in its repository, no file of its cage lies around. */
async function nothingRemains(dir: string, home: string): Promise<void> {
  assert.deepEqual(await processesIn(dir), []);
  assert.deepEqual((await readdir(`${home}/run`)).filter((name) => name.startsWith("cage-")), []);
}

test("B-008 a command hook gets the event on stdin and its folder as its place", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("cat > seen.json; pwd > place", { cwd: "sub", env: { A: "1" } }) });
  await repo.write("sub/keep", "");
  await repo.trust();
  assert.equal(await repo.fire(), null);
  const seen = JSON.parse(await readFile(`${repo.dir}/sub/seen.json`, "utf8"));
  assert.deepEqual([seen.toolName, seen.toolArgs, seen.cwd], ["bash", '{"command":"ls"}', `${repo.dir}/sub`]);
  assert.equal(await readFile(`${repo.dir}/sub/place`, "utf8"), `${repo.dir}/sub\n`);
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook may change its project and nothing else of the host, and not the project's .git", async (t) => {
  if (!await canCage(t)) return;
  const probe = (path: string) => `if (echo x > ${path}) 2>/dev/null; then echo "wrote ${path}" >> seen; fi`;
  const script = ["in_project", ".git/config", "/etc/x", "/usr/bin/x", "$HOME/../../x"].map(probe).join("\n");
  const repo = await hookRepo(t, { [FILE]: guard(`${script}; ls / >> seen; echo x > ../outside; mv .git away; true`) });
  await repo.write(".git/config", "[core]\n");
  await repo.trust();
  await repo.fire();
  const seen = (await readFile(`${repo.dir}/seen`, "utf8")).trim().split("\n");
  assert.deepEqual(seen.filter((line) => line.startsWith("wrote")), ["wrote in_project"]);
  assert.ok(!seen.includes("root") && !seen.includes("home"), seen.join(" "));
  assert.equal(await readFile(`${repo.dir}/.git/config`, "utf8"), "[core]\n");
  // The folder around the project is the cage's own: what is written there is gone with it.
  assert.deepEqual((await readdir(`${repo.dir}/..`)).sort(), ["home", "repo", "user"]);
});

test("B-018 a hook has no network, and neither the host's environment nor its files", async (t) => {
  if (!await canCage(t)) return;
  const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const connect =
    `(cat < /dev/tcp/127.0.0.1/${port}) > net 2>/dev/null; env > variables; cat ${"$1"} /etc/shadow > files 2>/dev/null; true`;
  const repo = await hookRepo(t, { [FILE]: guard(connect) });
  await repo.trust();
  await repo.fire();
  assert.equal(await readFile(`${repo.dir}/net`, "utf8"), "");
  assert.equal(await readFile(`${repo.dir}/files`, "utf8"), "");
  const names = (await readFile(`${repo.dir}/variables`, "utf8")).split("\n").map((line) => line.split("=")[0]!);
  assert.deepEqual(names.filter((name) => /^(USER|KAGED_HOME|SSH|XDG|TERM)/.test(name)), []);
});

test("B-018 the operator widens the cage in config.toml: paths, .git and variables", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t);
  await repo.write(FILE, guard(`cat ${repo.userHome}/note > seen; echo x > .git/HEAD; echo "$HOME" > handed; true`));
  await repo.write(".git/HEAD", "ref\n");
  await writeFile(`${repo.userHome}/note`, "from outside");
  await repo.trust();
  const after = async (): Promise<string[]> => {
    await repo.fire();
    return await Promise.all(["seen", ".git/HEAD", "handed"].map((name) => readFile(`${repo.dir}/${name}`, "utf8")));
  };
  assert.deepEqual(await after(), ["", "ref\n", "/tmp\n"]);
  const config = `[hooks]\nreadable = ["${repo.userHome}"]\ngit_writable = true\nenv = ["HOME"]\n`;
  await writeFile(`${repo.home}/config.toml`, config);
  assert.deepEqual(await after(), ["from outside", "x\n", `${process.env.HOME}\n`]);
});

test("B-008 exit code 2 blocks with stderr as the reason; any other denies before a call, as Copilot does, or is a failure", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    [FILE]: guard("./check.sh"),
    "check.sh": "#!/bin/bash\necho 'rm is not for you' >&2\nexit 2\n",
  });
  await repo.trust();
  assert.deepEqual(await repo.fire(), { action: "block", reason: "rm is not for you" });
  await repo.write("check.sh", "#!/bin/bash\necho oops >&2\nexit 3\n");
  await repo.trust();
  const id = ".github/hooks/guard.json:preToolUse[0]";
  assert.deepEqual(await repo.fire(), {
    action: "block",
    reason: `The check ${id} failed: it ended with exit code 3: oops`,
  });
  await repo.write(FILE, guard("./check.sh", { onFailure: "pass" }));
  await repo.trust();
  await assert.rejects(
    repo.fire(),
    failsWith("hook.command_failed", /guard\.json:5\): it ended with exit code 3: oops/),
  );
});

test("B-018 a hook that hangs is ended at its own timeout and leaves no process", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("sleep 1000 & wait", { timeoutSec: 1 }) });
  await repo.trust();
  await assert.rejects(repo.fire(), failsWith("hook.command_timeout", /longer than 1 s/));
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that ignores every signal it can is ended all the same", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    [FILE]: guard("trap '' TERM INT HUP QUIT; while :; do sleep 1; done", { timeoutSec: 1 }),
  });
  await repo.trust();
  await assert.rejects(repo.fire(), failsWith("hook.command_timeout", /longer than 1 s/));
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that prints 50 MB is ended, and what it printed is no answer", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("head -c 50000000 /dev/zero | tr '\\0' x") });
  await repo.trust();
  await assert.rejects(repo.fire(), failsWith("hook.output_too_large", /printed too much/));
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that writes 50 MB to stderr is heard to its end, and its beginning is kept", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("echo no >&2; head -c 50000000 /dev/zero | tr '\\0' x >&2; exit 2") });
  await repo.trust();
  const answer = await repo.fire();
  assert.equal(answer?.action, "block");
  assert.match(answer?.reason ?? "", /^no\nxxx/);
  assert.ok((answer?.reason ?? "").length <= 2_000);
});

test("B-018 a hook that prints two JSON objects has failed: neither is taken for a decision", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    [FILE]: guard(`echo '{"permissionDecision":"allow"}{"permissionDecision":"deny"}'`),
  });
  await repo.trust();
  await assert.rejects(repo.fire(), failsWith("hook.answer_invalid", /more than one JSON object/));
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that ends by a signal has failed, and the error names the signal", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("kill -SEGV $$", { onFailure: "pass" }) });
  await repo.trust();
  await assert.rejects(repo.fire(), failsWith("hook.command_failed", /by SIGSEGV/));
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that never reads a large stdin answers nevertheless", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, {
    [FILE]: guard(`echo '{"permissionDecision":"deny","permissionDecisionReason":"no"}'`),
  });
  await repo.trust();
  const input = { text: "x".repeat(5_000_000) };
  assert.deepEqual(await repo.fire({ input }), { action: "block", reason: "no" });
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that reads stdin forever is ended at its timeout", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("while :; do read -r line; done", { timeoutSec: 1 }) });
  await repo.trust();
  await assert.rejects(repo.fire(), failsWith("hook.command_timeout", /longer than 1 s/));
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that forks a daemon answers, and the daemon ends with it", async (t) => {
  if (!await canCage(t)) return;
  const daemon =
    "setsid bash -c 'sleep 1000' >/dev/null 2>&1 </dev/null & (setsid sleep 1000 &) ; disown -a; echo done > ran";
  const repo = await hookRepo(t, { [FILE]: guard(daemon) });
  await repo.trust();
  assert.equal(await repo.fire(), null);
  assert.equal(await readFile(`${repo.dir}/ran`, "utf8"), "done\n");
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a daemon that holds on to stdout does not hold up the answer", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard(`sleep 1000 & echo '{"continue":false,"stopReason":"enough"}'`) });
  await repo.trust();
  assert.deepEqual(await repo.fire(), { action: "block", reason: "enough" });
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 a hook that is given up is ended", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { [FILE]: guard("sleep 1000") });
  await repo.trust();
  await assert.rejects(
    repo.fire({}, { signal: AbortSignal.abort() }),
    failsWith("hook.command_failed", /nobody waits/),
  );
  await nothingRemains(repo.dir, repo.home);
});

test("B-018 an async hook that breaks blocks nobody and is reported", async (t) => {
  if (!await canCage(t)) return;
  const entry = { type: "command", command: "echo oops >&2; exit 3", async: true };
  const settings = JSON.stringify({ hooks: { PreToolUse: [{ hooks: [entry] }] } });
  const repo = await hookRepo(t, { ".claude/settings.json": settings });
  await repo.trust();
  const broken: string[] = [];
  const { runtime, dir, home } = repo;
  const opened = await openHookFiles({ runtime, dir, home, onBroken: (_, { code }) => void broken.push(code) });
  const { handler } = opened.registrations[0]!;
  assert.equal(await handler(hookEvent(), { signal: new AbortController().signal } as never), null);
  await opened.close();
  assert.deepEqual(broken, ["hook.command_failed"]);
});

test("N-038 what an async hook says comes with the next prompt or call of its session, once", async (t) => {
  if (!await canCage(t)) return;
  const command = `echo '{"hookSpecificOutput":{"additionalContext":"3 tests fail"},"systemMessage":"tested"}'`;
  const settings = { hooks: { PostToolUse: [{ hooks: [{ type: "command", command, async: true }] }] } };
  const repo = await hookRepo(t, { ".claude/settings.json": JSON.stringify(settings) });
  await repo.trust();
  const engine = createHookEngine();
  engine.add((await repo.open()).registrations);
  const fire = async (own: Pick<HookEvent, "hook"> & Partial<HookEvent>) => {
    const { context, warnings } = await engine.fire({ sessionId: "ses_1", agent: "primary", ...own });
    return [context, warnings];
  };
  assert.deepEqual(
    await fire({ hook: "PostToolUse", tool: { name: "Bash" }, output: "ok" }),
    [[], []],
    "nobody waits for it",
  );
  await until(() => repo.ends.length === 1, "the end of the hook");
  const prompt = { hook: "UserPromptSubmitted", input: { prompt: "go on" } } as const;
  assert.deepEqual(await fire({ ...prompt, sessionId: "ses_2" }), [[], []], "another session");
  assert.deepEqual(await fire(prompt), [["3 tests fail"], ["tested"]]);
  assert.deepEqual(await fire(prompt), [[], []], "once");
});

test("B-008 nobody waits for an async hook, and closing waits for its end", async (t) => {
  if (!await canCage(t)) return;
  const entry = { type: "command", command: "cat > seen", async: true };
  const repo = await hookRepo(t, {
    ".claude/settings.json": JSON.stringify({ hooks: { PreToolUse: [{ hooks: [entry] }] } }),
  });
  await repo.trust();
  const opened = await repo.open();
  const { handler } = opened.registrations[0]!;
  const context = { signal: new AbortController().signal } as Parameters<typeof handler>[1];
  assert.equal(await handler(hookEvent(), context), null);
  await opened.close();
  const seen = JSON.parse(await readFile(`${repo.dir}/seen`, "utf8"));
  assert.deepEqual([seen.hook_event_name, seen.tool_name, seen.tool_input, seen.session_id], [
    "PreToolUse",
    "Bash",
    { command: "ls" },
    "ses_1",
  ]);
});

test("N-038 a hook opens its standard streams by name, and what it leaves running keeps nobody waiting", async (t) => {
  if (!await canCage(t)) return;
  const script =
    "cat /dev/stdin > seen.json; sleep 1000 & echo heard > /dev/stdout; echo no >/dev/stderr; echo more >&2; exit 2";
  const repo = await hookRepo(t, { [FILE]: guard(script) });
  await repo.trust();
  assert.deepEqual(await repo.fire(), { action: "block", reason: "no\nmore" });
  assert.equal(JSON.parse(await readFile(`${repo.dir}/seen.json`, "utf8")).toolName, "bash");
  assert.equal(repo.ends[0]?.stdout, "heard\n");
  await nothingRemains(repo.dir, repo.home);
});

test("N-038 a hook that does not read its stdin, and one that prints much, end as they would outside", async (t) => {
  if (!await canCage(t)) return;
  const script = "exec <&-; head -c 300000 /dev/zero | tr '\\0' x; kill -TERM $$";
  const repo = await hookRepo(t, { [FILE]: guard(script, { onFailure: "pass" }) });
  await repo.trust();
  await assert.rejects(repo.fire(), { code: "hook.command_failed", message: /SIGTERM/ });
  assert.equal(repo.ends[0]?.stdout.length, 300_000);
});
