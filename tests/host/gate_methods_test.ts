import assert from "node:assert/strict";
import { test } from "node:test";
import { notes } from "../support/gate_doors.ts";
import { createHost } from "../../src/create_host.ts";
import type { Host } from "../../src/host/types.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { hosted } from "../support/hosted.ts";
import { putInstalled } from "../support/installed.ts";

/** Names of the tools that handlers of PreToolUse hear of from now on, with agent and session. */
function heardBy({ host }: { readonly host: Host }): string[] {
  const heard: string[] = [];
  host.hooks.register("PreToolUse", ({ tool, agent, sessionId }) => {
    heard.push(`${tool?.name} ${agent} ${sessionId}`);
    return tool?.name.endsWith(".ask") ? { action: "block", reason: "no" } : null;
  });
  return heard;
}

test("N-001 a method that names a tool passes the gate, in a session that ends with the call where none is given", async () => {
  await using h = await hosted(notes());
  const heard = heardBy(h);
  await assert.rejects(h.host.callMethod("notes", "notes.ask", {}), { code: "tool.blocked" });
  await assert.rejects(h.host.callMethod("notes", "notes.look", { query: 7 }), { code: "tool.arguments_invalid" });
  const { params } = await h.host.callMethod("notes", "notes.look", { query: "x" }) as {
    params: { _context: Record<string, string> };
  };
  const { agent_path, session_id } = params._context;
  assert.deepEqual(heard.map((line) => line.replace(/ses_\w+/, "ses")), [
    "notes.ask primary ses",
    "notes.look primary ses",
  ]);
  assert.deepEqual([agent_path, heard[1]?.endsWith(session_id!)], ["primary", true]);
  assert.deepEqual(h.host.view.sessions(), []);
  await h.host.callMethod("notes", "fixture.call");
  assert.equal(heard.length, 2, "other methods are below the gate");
});

test("K-031 N-001 a tool that an agent has switched off cannot be called as a method either", async () => {
  const { fixtures } = notes();
  const plugins = { notes: { package: "@test/notes" } };
  const tools = { "notes.ask": { enabled: false } };
  const researcher = { plugins: { notes: { package: "@test/notes" } } };
  await using h = await hosted({
    yaml: { primary: { plugins, tools, subagents: { researcher } } },
    fixtures: fixtures!,
  });
  h.host.openSession({ id: "ses_1" });
  const at = { agent: "primary", session: "ses_1" };
  await assert.rejects(h.host.callMethod("notes", "notes.ask", {}, at), { code: "tool.unknown", hint: /switched off/ });
  await assert.rejects(h.host.callMethod("notes", "notes.ask", {}), { code: "tool.unknown" });
  await h.host.callMethod("notes", "notes.ask", {}, { ...at, agent: "primary.subagents.researcher" });
});

test("N-001 every method of an MCP server is a tool, whatever it has listed", async () => {
  await using h = await hosted({ primary: { server: {} }, fixtures: { "@test/server": "mcp_tools" } });
  const heard = heardBy(h);
  await h.host.callMethod("mcp-tools", "mcp-tools.say_it", { what: "hi" });
  assert.deepEqual(heard.map((line) => line.split(" ")[0]), ["mcp-tools.say_it"]);
  for (const method of ["tools/call", "mcp-tools.nothing", "Say-It", "mcp-tools.Say-It", "initialize"]) {
    await assert.rejects(h.host.callMethod("mcp-tools", method, { name: "fail" }), { code: "tool.unknown" }, method);
  }
  assert.deepEqual(await h.host.callMethod("mcp-tools", "ping"), { status: "ok" });
  await h.host.disable("mcp-tools");
  await assert.rejects(h.host.callMethod("mcp-tools", "mcp-tools.nothing"), { code: "plugin.unavailable" });
});

test("K-063 N-001 a local plugin that no agent declares offers its tools through the gate too", async () => {
  await using plugin = await fixturePlugin("answers_hooks", { manifest: { name: "notes", hooks: [] } });
  await using h = await hosted({ yaml: { primary: {} }, start: false });
  await putInstalled(h.home, "notes", plugin.dir, "local = true\nenabled = true");
  await using host = await createHost({ project: h.dir, home: h.home, audit: [] });
  await host.start();
  const heard = heardBy({ host });
  await assert.rejects(host.callMethod("notes", "notes.ask"), { code: "tool.blocked" });
  await host.callMethod("notes", "notes.look", { query: "x" });
  assert.deepEqual(heard.map((line) => line.split(" ")[0]), ["notes.ask", "notes.look"]);
});
