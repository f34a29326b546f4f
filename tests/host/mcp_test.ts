import assert from "node:assert/strict";
import { test } from "node:test";
import { hosted } from "../support/hosted.ts";

const at = { agent: "primary", session: "ses_1" };
const fixtures = { "@test/server": "mcp_tools" };
const said = (text: string) => ({ content: [{ type: "text", text }] });

test("D-012 an agent has the tools of its MCP server under <plugin>.<tool> once it runs", async () => {
  await using h = await hosted({ primary: { server: {} }, fixtures, start: false });
  assert.deepEqual(h.host.tools("primary"), []);
  await h.host.start();
  h.host.openSession({ id: "ses_1" });
  const [first] = h.host.tools("primary");
  assert.equal(first?.name, "mcp-tools.say_it");
  assert.equal(first?.plugin, "mcp-tools");
  assert.deepEqual(first?.definition?.annotations, { readOnlyHint: true });
  assert.deepEqual(h.host.plugins("primary")[0]?.tools[1], "mcp-tools.count_words");
  assert.deepEqual(h.all("plugin.tool_registered")[0]?.data, { tool: "mcp-tools.say_it", agent_path: "primary" });
  assert.deepEqual(await h.host.callTool("mcp-tools.say_it", { what: "Ahoy" }, at), said("Ahoy"));
});

test("D-012 arguments of an MCP tool are checked by its schema, where the host can read it", async () => {
  await using h = await hosted({ primary: { server: {} }, fixtures });
  h.host.openSession({ id: "ses_1" });
  await assert.rejects(h.host.callTool("mcp-tools.say_it", {}, at), { code: "tool.arguments_invalid" });
  const { structuredContent } = await h.host.callTool("mcp-tools.count_words", { text: "aa" }, at) as {
    structuredContent: unknown;
  };
  assert.deepEqual(structuredContent, { words: 1 });
});

test("D-012 an agent's tools: block switches a tool of an MCP server off by its full name", async () => {
  await using h = await hosted({
    yaml: {
      primary: {
        plugins: { server: { package: "@test/server" } },
        tools: { "mcp-tools.fail": { enabled: false }, "mcp-tools.grown": { enabled: false } },
      },
    },
    fixtures,
  });
  h.host.openSession({ id: "ses_1" });
  const names = () => h.host.tools("primary").map(({ name }) => name);
  assert.ok(!names().includes("mcp-tools.fail") && names().includes("mcp-tools.slow"));
  await assert.rejects(h.host.callTool("mcp-tools.fail", {}, at), {
    code: "tool.unknown",
    hint: 'It is switched off under tools: of "primary"',
  });
  await h.next("plugin.tools_listed");
  await h.host.callTool("mcp-tools.grow", {}, at);
  await h.pass(5_000);
  await h.next("plugin.tools_listed");
  assert.deepEqual(names(), ["mcp-tools.say_it", "mcp-tools.count_words"]);
});

test("D-012 a call's progress reaches who made it", async () => {
  await using h = await hosted({ primary: { server: {} }, fixtures });
  h.host.openSession({ id: "ses_1" });
  const { promise, resolve: onProgress } = Promise.withResolvers<unknown>();
  const controller = new AbortController();
  const call = h.host.callTool("mcp-tools.slow", {}, { ...at, signal: controller.signal, onProgress });
  assert.equal((await promise as { message: string }).message, "half way");
  controller.abort();
  await assert.rejects(call, { code: "protocol.cancelled" });
});
