import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import type { AskedStep } from "../../src/hooks/engine/asks.ts";
import { createHookEngine } from "../../src/hooks/engine/engine.ts";
import { canCage, guard, hookEvent, hookRepo } from "../support/hook_repo.ts";
import { runtimeName } from "../support/require_or_skip.ts";

const asking = (permissionDecisionReason: string, more = {}) => ({
  permissionDecision: "ask",
  permissionDecisionReason,
  ...more,
});
const says = (answer: object): string => `echo '${JSON.stringify(answer)}'`;
const nested = (answer: object): string =>
  JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: says(answer) }] }] } });

/** A repository in which a hook of every dialect asks; the one of Copilot changes the input as well. */
async function files(): Promise<Record<string, string>> {
  const server = fileURLToPath(new URL("../fixtures/mcp/hook_server.mjs", import.meta.url));
  const script = "${workspaceFolder}/tools/server.mjs";
  const args = runtimeName === "deno" ? ["run", "-A", "--quiet", script] : [script];
  const vscode = { type: "command", command: says({ hookSpecificOutput: asking("VS Code") }) };
  return {
    ".github/hooks/a.json": guard(says(asking("Copilot", { modifiedArgs: { command: "ls -l" } })), { priority: 10 }),
    ".github/hooks/b.json": JSON.stringify({ version: 1, hooks: { PreToolUse: [vscode] } }),
    ".claude/settings.json": nested({ hookSpecificOutput: asking("Claude Code") }),
    "hooks/hooks.json": nested({ action: "ask", reason: "portable" }),
    ".github/agents/primary.agent.md": `---\nhooks:\n  PreToolUse:\n    - type: command\n      command: |\n        ${
      says(asking("agent file"))
    }\n---\n`,
    ".mcp.json": JSON.stringify({
      mcpServers: { guard: { command: runtimeName, args } },
      hooks: { PreToolUse: [{ tool: "guard.confirm", priority: 60 }] },
    }),
    "tools/server.mjs": await readFile(server, "utf8"),
  };
}

test("B-018 hooks of every dialect and MCP tools ask, and a person is asked once for all of them", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, await files());
  await writeFile(`${repo.home}/config.toml`, "[hooks]\nagent_hooks = true\n");
  await repo.trust();
  await using opened = await repo.open();
  const steps: AskedStep[] = [];
  const engine = createHookEngine({
    clock: repo.runtime.clock,
    onAsk: (step) => {
      steps.push(step);
      return Promise.resolve({ decision: "deny", by: "cli", reason: "Not on a Monday" });
    },
  });
  engine.add(opened.registrations);
  const { blocked, blockedBy, reason, warnings } = await agentHooks(engine, { session: "ses_1" })
    .beforeTool("Bash", { command: "ls" });
  assert.deepEqual([blocked, blockedBy, reason, warnings], [true, "cli", "Not on a Monday", []]);
  assert.equal(steps.length, 1);
  const [{ asked, input, before, changedBy }] = steps as [AskedStep];
  assert.deepEqual(asked.map(({ source, reason }) => [source.id, reason]), [
    [".github/hooks/a.json:preToolUse[0]", "Copilot"],
    [".github/hooks/b.json:PreToolUse[0]", "VS Code"],
    [".claude/settings.json:PreToolUse[0].hooks[0]", "Claude Code"],
    ["hooks/hooks.json:PreToolUse[0].hooks[0]", "portable"],
    [".github/agents/primary.agent.md:PreToolUse[0]", "agent file"],
    [".mcp.json:hooks.PreToolUse[0]", "Bash by MCP"],
  ]);
  assert.deepEqual([input, before, changedBy], [
    { command: "ls -l" },
    { command: "ls" },
    [".github/hooks/a.json:preToolUse[0]"],
  ]);

  // The same chain, fired by a caller that asks nobody.
  const unasked = await engine.fire(hookEvent());
  assert.deepEqual([unasked.blocked, unasked.blockedBy], [true, ".github/hooks/a.json:preToolUse[0]"]);
  assert.equal(unasked.reason, "It needs a person's yes, and nobody is asked here: Copilot");
});
