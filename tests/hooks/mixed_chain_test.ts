import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import { budgetGuard } from "../../src/hooks/sources/builtin/budget_guard.ts";
import type { HookTrace } from "../../src/hooks/engine/result.ts";
import { canCage, guard, hookRepo } from "../support/hook_repo.ts";
import { hosted } from "../support/hosted.ts";
import { runtimeName } from "../support/require_or_skip.ts";

const PLUGIN = "answers-hooks@music/primary";
const [GITHUB, CLAUDE] = [".github/hooks/a.json:preToolUse[0]", ".claude/settings.json:PreToolUse[0].hooks[0]"];
const MCP = ".mcp.json:hooks.PreToolUse[0]";

/** A repository with two hook files and an mcp.json whose tool refuses the shell. */
async function files(): Promise<Record<string, string>> {
  const server = fileURLToPath(new URL("../fixtures/mcp/hook_server.mjs", import.meta.url));
  const script = "${workspaceFolder}/tools/server.mjs";
  const args = runtimeName === "deno" ? ["run", "-A", "--quiet", script] : [script];
  const told = { hookSpecificOutput: { additionalContext: "from the second file" } };
  const command = `cat > seen.json; echo '${JSON.stringify(told)}'`;
  return {
    ".github/hooks/a.json": guard(`echo '{"action":"injectContext","additionalContext":["from a file"]}'`, {
      priority: 30,
    }),
    ".claude/settings.json": JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } }),
    ".mcp.json": JSON.stringify({
      mcpServers: { guard: { command: runtimeName, args } },
      hooks: { PreToolUse: [{ tool: "guard.judge", priority: 60 }] },
    }),
    "tools/server.mjs": await readFile(server, "utf8"),
  };
}

test("B-007 B-011 B-018 X-15 a plugin, two files, an MCP tool, code and a built-in are one chain", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, await files());
  await repo.trust();
  await using opened = await repo.open();
  const traces: HookTrace[] = [];
  const answer = { action: "modify", modifiedInput: { command: "ls -l" }, additionalContext: ["from the plugin"] };
  await using h = await hosted({
    primary: { plugin: { config: { answers: { pre_tool_use: answer } } } },
    fixtures: { "@test/plugin": { fixture: "answers_hooks", manifest: { hooks: ["pre_tool_use"] } } },
    hooks: { onTrace: (trace) => traces.push(trace) },
  });
  const { hooks: engine } = h.host;
  engine.add(opened.registrations);
  engine.add(budgetGuard({ isLargeLoad: () => true }));
  const telemetry: unknown[] = [];
  engine.register("PreToolUse", function code() {
    return { action: "modify", modifiedInput: { command: "ls" }, warnings: ["from code"] };
  }, { priority: 10 });
  engine.register("PreToolUse", function lookOn({ input }, { soFar }) {
    telemetry.push([input, soFar.blockedBy]);
  }, { priority: 90, telemetryOnly: true });
  h.host.openSession({ id: "ses_1" });
  const hooks = agentHooks(engine, { session: "ses_1" });

  const order = ["code", "budget-guard", GITHUB, PLUGIN, CLAUDE, MCP, "lookOn"];
  assert.deepEqual(engine.list("PreToolUse").map(({ source }) => source.id), order);
  assert.deepEqual(engine.list("PreToolUse").map(({ source }) => source.kind), [
    "code",
    "builtin",
    "file",
    "plugin",
    "file",
    "mcp",
    "code",
  ]);

  // Nobody blocks: each sees what the one before left, and every text arrives, in order.
  const edit = await hooks.beforeTool("Edit", { command: "rm" });
  assert.deepEqual([edit.blocked, edit.input, edit.warnings], [false, { command: "ls -l" }, ["from code"]]);
  assert.deepEqual(edit.context, [
    "from a file",
    "<plugin:answers-hooks>\nfrom the plugin\n</plugin:answers-hooks>",
    "from the second file",
  ]);
  const { calls } = await h.host.callMethod("answers-hooks", "fixture.call") as {
    calls: { params: { input: unknown } }[];
  };
  assert.deepEqual(calls[0]?.params.input, { command: "ls" });
  assert.deepEqual(JSON.parse(await readFile(`${repo.dir}/seen.json`, "utf8")).tool_input, { command: "ls -l" });
  const outcomes = () => traces.splice(0).map(({ source, outcome }) => [source.id, outcome]);
  const ran = order.map((id) => [id, ["budget-guard", MCP, "lookOn"].includes(id) ? "quiet" : "ran"]);
  assert.deepEqual(outcomes(), ran);

  // The MCP tool blocks, last but for who only looks on.
  const shell = await hooks.beforeTool("Bash", { command: "rm" });
  assert.deepEqual([shell.blocked, shell.reason, shell.blockedBy], [true, "No shell", MCP]);
  assert.deepEqual(outcomes().at(-1), ["lookOn", "quiet"]);

  // The built-in blocks: whoever comes after it is not asked, but for who only looks on.
  const full = await hooks.beforeTool("Edit", {}, { usedTokens: 90, effectiveLimit: 100 });
  assert.deepEqual([full.blockedBy, full.context], ["budget-guard", []]);
  const blocked = [GITHUB, PLUGIN, CLAUDE, MCP].map((id) => [id, "blocked by budget-guard"]);
  assert.deepEqual(outcomes(), [["code", "ran"], ["budget-guard", "ran"], ...blocked, ["lookOn", "quiet"]]);
  assert.deepEqual(telemetry, [
    [{ command: "ls -l" }, null],
    [{ command: "ls -l" }, MCP],
    [{ command: "ls" }, "budget-guard"],
  ]);
});
