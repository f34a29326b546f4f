import assert from "node:assert/strict";
import { test } from "node:test";
import { mcpHookAnswer } from "../../../../src/hooks/sources/mcp/mcp_hooks.ts";
import { readMcpServers } from "../../../../src/hooks/files/mcp_hook_map.ts";
import { filledIn, servedTool } from "../../../../src/hooks/files/mcp_server.ts";

const text = (text: string) => ({ content: [{ type: "text", text }] });

test("B-007 mcpHookAnswer() takes an envelope as data or as text, other text as context, other data as nothing", () => {
  const envelope = { action: "block", reason: "No" };
  assert.deepEqual(mcpHookAnswer({ content: [], structuredContent: envelope }), envelope);
  assert.deepEqual(mcpHookAnswer(text(JSON.stringify(envelope))), envelope);
  assert.deepEqual(mcpHookAnswer(text("  Use tabs here \n")), {
    action: "injectContext",
    additionalContext: ["Use tabs here"],
  });
  for (const nothing of [text(""), text("{}"), text("null"), text("[1]"), { content: [] }]) {
    assert.equal(mcpHookAnswer(nothing), null);
  }
  assert.equal(mcpHookAnswer({ ...text("ok"), structuredContent: { ok: true } }), null);
});

test("B-007 servedTool() takes the longest server that fits", () => {
  const servers = ["memory", "memory.local", "x"].map((name) => ({ name, command: ["a"], env: {} }));
  const named = (reference: string) => {
    const served = servedTool(reference, servers);
    return served && [served.server.name, served.tool];
  };
  assert.deepEqual(named("memory.load"), ["memory", "load"]);
  assert.deepEqual(named("memory.local.load"), ["memory.local", "load"]);
  assert.deepEqual(named("x.a.b"), ["x", "a.b"]);
  for (const none of ["memory", "memory.", "other.load", ""]) assert.equal(named(none), null);
});

test("B-007 readMcpServers() reads servers under either name and keeps what is no program without a command", () => {
  const entries = readMcpServers({
    servers: { a: { command: "x" }, b: { type: "http", url: "https://x" }, c: 7, d: { command: "x", args: [1] } },
    mcpServers: { a: { command: "y", args: ["-v"], env: { A: "1", B: 2 } } },
  });
  assert.deepEqual(entries, [
    { name: "a", command: ["y", "-v"], env: { A: "1" } },
    { name: "b", command: null, env: {} },
    { name: "d", command: null, env: {} },
  ]);
});

test("B-007 filledIn() knows the project's folder and what the operator hands on, and leaves the rest", () => {
  const fill = (given: string) => filledIn(given, "/repo", { TOKEN: "t" });
  assert.equal(fill("${workspaceFolder}/a ${CLAUDE_PROJECT_DIR}"), "/repo/a /repo");
  assert.equal(fill("${TOKEN} ${env:TOKEN} ${OTHER:-none} ${HOME} $TOKEN"), "t t none ${HOME} $TOKEN");
});
