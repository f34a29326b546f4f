import assert from "node:assert/strict";
import { test } from "node:test";
import { compiledCode } from "../support/compiled_code.ts";
import { mcpProject } from "../support/mcp_client.ts";
import { CLIENTS, connectAny, isModern, stdioFor } from "../support/mcp_clients.ts";
import { kagedCommand } from "../support/run_kaged.ts";
import { until } from "../support/until.ts";

const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode };

for (const kind of CLIENTS) {
  test(`N-029 N-030 kaged mcp serves an MCP client (${kind}) on stdio, questions and changes included`, async (t) => {
    const { args } = await mcpProject(t, { server: { fixture: "mcp_whole" } });
    const own = ["--names", "short", "--no-hooks", "--offer", "elicitation"];
    const wire = stdioFor(kind, { ...kagedCommand([...args, ...own]), env: ENV });
    const answer = { action: "accept", content: { name: "Ada" } };
    const client = await connectAny(kind, wire, { elicit: () => answer });
    try {
      if (kind !== "sdk1") assert.equal(client.version(), isModern(kind) ? "2026-07-28" : "2025-11-25");
      assert.match(client.instructions()!, /Ask for a name first/);
      const { content } = await client.callTool("Ask-Name");
      assert.deepEqual(JSON.parse(content[0].text), [answer]);
      assert.equal((await client.request("resources/read", { uri: "test://note/1" })).contents.length, 1);
      assert.equal((await client.request("prompts/get", { name: "greet" })).messages.length, 1);
      await client.listen();
      await client.callTool("more");
      await until(() => client.heard.some(({ method }) => method.includes("prompts/list_changed")), "the change");
    } finally {
      await client.close();
    }
  });
}
