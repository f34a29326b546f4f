import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { createHookEngine } from "../../../../src/hooks/engine/engine.ts";
import type { HookTrace } from "../../../../src/hooks/engine/result.ts";
import { openHookFiles } from "../../../../src/hooks/open_hook_files.ts";
import { createFakeClock } from "../../../support/fake_clock.ts";
import { canCage, hookEvent, type HookRepo, hookRepo } from "../../../support/hook_repo.ts";
import { processesIn } from "../../../support/processes_in.ts";
import { runtimeName } from "../../../support/require_or_skip.ts";
import { until } from "../../../support/until.ts";

const SERVER: string = await readFile(
  fileURLToPath(new URL("../../../fixtures/mcp/hook_server.mjs", import.meta.url)),
  "utf8",
);
const script = "${workspaceFolder}/tools/server.mjs";
const guard = {
  command: runtimeName,
  args: runtimeName === "deno" ? ["run", "-A", "--quiet", script] : [script],
  env: { WHO: "the guard" },
};

/** A repository whose mcp.json maps moments to tools of one server. */
async function mcpRepo(
  t: TestContext,
  hooks: Record<string, object[]>,
  servers: object = { guard },
): Promise<HookRepo> {
  const text = JSON.stringify({ mcpServers: servers, hooks }, null, 2);
  return await hookRepo(t, { ".mcp.json": text, "tools/server.mjs": SERVER });
}

/** One firing of the engine with the trusted hooks of a repository. */
async function fire(repo: HookRepo, event: Parameters<typeof hookEvent>[0]) {
  await using opened = await repo.open();
  const traces: HookTrace[] = [];
  const engine = createHookEngine({ clock: repo.runtime.clock, onTrace: (trace) => traces.push(trace) });
  for (const { hook, handler, ...options } of opened.registrations) {
    engine.register(hook, handler, { ...options, timeoutMs: 20_000 });
  }
  return { result: await engine.fire(hookEvent(event)), traces };
}

test("B-007 tools of an mcp.json answer moments by priority: text, envelope as data, envelope as text", async (t) => {
  if (!await canCage(t)) return;
  const repo = await mcpRepo(t, {
    PreToolUse: [
      { tool: "guard.judge", priority: 90 },
      { tool: "guard.rewrite", priority: 20 },
      { tool: "guard.remember", priority: 10 },
      { tool: "guard.note" },
    ],
  });
  await repo.trust();
  const { result, traces } = await fire(repo, { tool: { name: "Edit" } });
  assert.deepEqual(traces.map(({ source, outcome, action }) => [source.id, outcome, action]), [
    [".mcp.json:hooks.PreToolUse[2]", "ran", "injectContext"],
    [".mcp.json:hooks.PreToolUse[1]", "ran", "modify"],
    [".mcp.json:hooks.PreToolUse[3]", "quiet", undefined],
    [".mcp.json:hooks.PreToolUse[0]", "quiet", undefined],
  ]);
  assert.deepEqual([traces[0]!.source.kind, traces[0]!.source.file], ["mcp", `${repo.dir}/.mcp.json`]);
  assert.deepEqual(result.context, ["Remembered for PreToolUse of ses_1 by the guard"]);
  assert.deepEqual(result.input, { command: "ls -l", by: repo.dir });
  const blocked = (await fire(repo, { tool: { name: "Bash" } })).result;
  assert.deepEqual([blocked.blocked, blocked.reason], [true, "No shell"]);
});

test("B-007 one server serves all moments, starts when it is needed, and leaves nothing behind", async (t) => {
  if (!await canCage(t)) return;
  const repo = await mcpRepo(t, { SessionStart: [{ tool: "guard.note" }, { tool: "guard.remember" }] });
  await repo.trust();
  await using opened = await repo.open();
  assert.equal((await readdir(repo.dir)).includes("starts"), false);
  const signal = new AbortController().signal;
  for (const { handler } of opened.registrations) {
    await handler(hookEvent({ hook: "SessionStart" }), { signal } as never);
  }
  const starts = (await readFile(`${repo.dir}/starts`, "utf8")).trim().split("\n").length;
  assert.equal(starts, 2, "one to ask for its revision, one that serves");
  await opened.close();
  assert.deepEqual(await processesIn(repo.dir), []);
  assert.deepEqual((await readdir(`${repo.home}/run`)).filter((name) => name.startsWith("cage-")), []);
});

test("B-007 B-018 an mcp.json runs nothing before it is trusted, nor after a script of its server changed", async (t) => {
  if (!await canCage(t)) return;
  const repo = await mcpRepo(t, { PreToolUse: [{ tool: "guard.judge" }] });
  const before = await repo.open();
  assert.deepEqual([before.registrations, before.judged[0]?.trust], [[], "untrusted"]);
  assert.deepEqual(before.judged[0]?.evidence.files.map(({ path }) => path), [".mcp.json", "tools/server.mjs"]);
  await repo.trust();
  const opened = await repo.open();
  await repo.write("tools/server.mjs", `${SERVER}// changed\n`);
  const call = opened.registrations[0]!.handler(hookEvent(), { signal: new AbortController().signal } as never);
  await assert.rejects(Promise.resolve(call), { code: "hook.changed" });
  const again = opened.registrations[0]!.handler(hookEvent(), { signal: new AbortController().signal } as never);
  await assert.rejects(Promise.resolve(again), { code: "hook.changed" });
  assert.equal((await repo.open()).judged[0]?.trust, "changed");
});

test("B-018 a server of an mcp.json is caged: no files of the host", async (t) => {
  if (!await canCage(t)) return;
  const repo = await mcpRepo(t, { PreToolUse: [{ tool: "guard.probe" }] });
  await repo.trust();
  assert.deepEqual((await fire(repo, {})).result.context, ["Cannot: ENOENT"]);
});

test("B-018 a tool that fails or is unknown costs its own hook, one that ends its server those after it, and nothing is blocked", async (t) => {
  if (!await canCage(t)) return;
  const broken = ["fail", "unknown", "die"].map((tool) => ({ tool: `guard.${tool}` }));
  const repo = await mcpRepo(t, { PreToolUse: [...broken, { tool: "guard.note" }] });
  await repo.trust();
  const { result, traces } = await fire(repo, {});
  assert.equal(result.blocked, false);
  assert.deepEqual(traces.map(({ outcome }) => outcome), ["broke", "broke", "broke", "broke"]);
  assert.match(traces[0]!.reason!, /No room left/);
  assert.match(traces[1]!.reason!, /Unknown tool unknown/);
  assert.match(traces[2]!.reason!, /is down and is tried again: it ended with exit code 5/);
  assert.match(traces[3]!.reason!, /is down and is tried again/);
});

test("B-007 a server that has ended is started again after a second, by the supervisor's own backoff", async (t) => {
  if (!await canCage(t)) return;
  const repo = await mcpRepo(t, { PreToolUse: [{ tool: "guard.die" }, { tool: "guard.remember" }] });
  await repo.trust();
  const clock = createFakeClock();
  const { dir, home, userHome, runtime } = repo;
  await using opened = await openHookFiles({ runtime: { ...runtime, clock }, dir, home, userHome });
  const [die, remember] = opened.registrations.map(({ handler }) => async () =>
    await handler(hookEvent(), { signal: new AbortController().signal } as never)
  );
  await assert.rejects(die!(), { code: "mcp.server_failed", message: /it ended with exit code 5/ });
  await until(() => clock.isDueIn(1_000), "the timer of the restart");
  await assert.rejects(remember!(), { code: "mcp.server_failed", message: /is down and is tried again/ });
  clock.advance(1_000);
  assert.equal((await remember!())?.action, "injectContext");
  assert.equal((await readFile(`${dir}/starts`, "utf8")).trim().split("\n").length, 3, "with the one that was probed");
});

test("B-018 a tool that hangs is given up with its signal", async (t) => {
  if (!await canCage(t)) return;
  const repo = await mcpRepo(t, { PreToolUse: [{ tool: "guard.hang" }] });
  await repo.trust();
  const opened = await repo.open();
  const controller = new AbortController();
  const call = opened.registrations[0]!.handler(hookEvent(), { signal: controller.signal } as never);
  await until(() => readFile(`${repo.dir}/starts`, "utf8").catch(() => ""), "the start of the server");
  controller.abort(new Error("Out of time"));
  await assert.rejects(Promise.resolve(call), /Out of time/);
});

test("B-018 a server that takes longer to start than its hook may is given up with the signal", async (t) => {
  if (!await canCage(t)) return;
  const servers = { guard: { command: "bash", args: ["-c", "echo me > starts; cat > /dev/null"] } };
  const repo = await mcpRepo(t, { PreToolUse: [{ tool: "guard.judge" }] }, servers);
  await repo.trust();
  const opened = await repo.open();
  const controller = new AbortController();
  const call = opened.registrations[0]!.handler(hookEvent(), { signal: controller.signal } as never);
  await until(() => readFile(`${repo.dir}/starts`, "utf8").catch(() => ""), "the start of the server");
  controller.abort(new Error("Out of time"));
  await assert.rejects(Promise.resolve(call), /Out of time/);
  await opened.close();
  assert.deepEqual(await processesIn(repo.dir), []);
});

test("B-007 a server that does not start says why, and is left alone for a while", async (t) => {
  if (!await canCage(t)) return;
  const servers = { guard: { command: "bash", args: ["-c", "echo no licence >&2; exit 3"] } };
  const repo = await mcpRepo(t, { PreToolUse: [{ tool: "guard.judge" }] }, servers);
  await repo.trust();
  const opened = await repo.open();
  const fire = () => opened.registrations[0]!.handler(hookEvent(), { signal: new AbortController().signal } as never);
  const first = { code: "mcp.server_failed", message: /does not start/, hint: "It said: no licence" };
  await assert.rejects(Promise.resolve(fire()), first);
  await assert.rejects(Promise.resolve(fire()), { code: "mcp.server_failed", message: /is down and is tried again/ });
});

test("B-007 a tool of a server that is not there, or is no program, is left out with the reason", async (t) => {
  const repo = await mcpRepo(t, {
    PreToolUse: [{ tool: "gaurd.judge" }, { tool: "web.look" }, { tool: "guard" }, { tool: "guard.judge" }],
  }, { guard, web: { type: "http", url: "https://example.com/mcp" } });
  const { found } = await repo.open();
  assert.deepEqual(found.leftOut, [
    {
      id: ".mcp.json:hooks.PreToolUse[0]",
      reason: 'No server of this file has the tool "gaurd.judge". Did you mean "guard"?',
    },
    {
      id: ".mcp.json:hooks.PreToolUse[1]",
      reason: 'Server "web" is no program with a command, and only those can be caged',
    },
    {
      id: ".mcp.json:hooks.PreToolUse[2]",
      reason: 'It names a server and no tool of it: write "guard.<tool>"',
    },
  ]);
});
