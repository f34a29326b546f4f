import assert from "node:assert/strict";
import { test } from "node:test";
import { exposedHooks } from "../../src/mcp/exposed_hooks.ts";
import { serveHost } from "../../src/mcp/serve_host.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { memoryWire, newClient, type TestClient } from "../support/mcp_client.ts";

const options = { primary: { memory: {} }, fixtures: { "@test/memory": "answers_hooks" } } as const;

async function clientOf({ host }: Hosted): Promise<TestClient> {
  const [ours, theirs] = memoryWire();
  await serveHost({ host, agent: "primary", session: host.openSession().id, transport: ours });
  const client = newClient();
  await client.connect(theirs);
  return client;
}

test("D-004 D-008 execute of the kind tool is served as tool.<plugin>.execute", async () => {
  await using h = await hosted(options);
  const client = await clientOf(h);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), [
    "answers-hooks__look",
    "answers-hooks__ask",
    "tool.answers-hooks.execute",
    "tool__answers-hooks__execute",
  ]);
  const call = { name: "look", args: { query: "x" } };
  for (const name of ["tool.answers-hooks.execute", "tool__answers-hooks__execute"]) {
    const { structuredContent } = await client.callTool({ name, arguments: call });
    const { result, elapsed_ms } = structuredContent as { result: { tool: string }; elapsed_ms: number };
    assert.equal(result.tool, "look");
    assert.ok(Number.isInteger(elapsed_ms));
  }
});

test("D-008 execute refuses what is no tool of the plugin, and arguments the tool does not take", async () => {
  await using h = await hosted(options);
  const client = await clientOf(h);
  const name = "tool.answers-hooks.execute";
  const codeOf = async (args: object): Promise<unknown> => {
    const { isError, _meta } = await client.callTool({ name, arguments: args });
    assert.equal(isError, true);
    return (_meta!["kaged/error"] as { code: string }).code;
  };
  assert.equal(await codeOf({ name: "none", args: {} }), "tool.arguments_invalid");
  assert.equal(await codeOf({ name: "look" }), "tool.arguments_invalid");
  assert.equal(await codeOf({ name: "look", args: { query: 7 } }), "tool.arguments_invalid");
});

test("D-004 a moment that its hookspec exposes asks the plugin itself", async () => {
  await using h = await hosted({ ...options, primary: { memory: { config: { answers: { pre_compact: "kept" } } } } });
  const { id: session } = h.host.openSession();
  const hook = { description: "Before a compaction", wireMethod: "kaged.hook.pre_compact" };
  const moments = [
    { ...hook, name: "pre_compact", mcpToolName: "agent_lifecycle.{plugin}.pre_compact" },
    { ...hook, name: "on_error", mcpToolName: "agent_lifecycle.{plugin}.on_error" },
    { ...hook, name: "post_compact", mcpToolName: null },
  ];
  const exposed = exposedHooks(h.host, "primary", { moments, calls: [] });
  assert.deepEqual(exposed.map(({ tool: { name } }) => name), [
    "agent_lifecycle.answers-hooks.pre_compact",
    "agent_lifecycle__answers-hooks__pre_compact",
  ]);
  assert.equal(await exposed[0]!.call({}, { agent: "primary", session }), "kept");
});

test("D-009 what an exposed moment takes and gives is held against the hookspec", async () => {
  const answers = { pre_compact: { inject: 5 } };
  await using h = await hosted({ ...options, primary: { memory: { config: { answers } } } });
  const at = { agent: "primary", session: h.host.openSession().id };
  const [exposed] = exposedHooks(h.host, "primary", {
    moments: [{
      name: "pre_compact",
      description: "",
      wireMethod: "kaged.hook.pre_compact",
      mcpToolName: "x.{plugin}",
    }],
    calls: [],
  });
  await assert.rejects(exposed!.call({ strategy: 7 }, at), { code: "hook.input_invalid" });
  await assert.rejects(exposed!.call({}, at), { code: "hook.output_invalid" });
});
