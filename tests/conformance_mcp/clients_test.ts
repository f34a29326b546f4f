import assert from "node:assert/strict";
import { test } from "node:test";
import { compiledCode } from "../support/compiled_code.ts";
import { bundledServer, MCP_TOKEN, mcpOverHttp } from "../support/mcp_http.ts";
import { kagedCommand } from "../support/run_kaged.ts";

// Loaded this way because not every runtime can read the types of these packages.
// deno-lint-ignore no-explicit-any
type Any = any;
const [one, oneHttp, oneStdio, two, twoStdio]: Any[] = await Promise.all([
  import("@modelcontextprotocol/sdk/client/index.js"),
  import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  import("@modelcontextprotocol/sdk/client/stdio.js"),
  import("@modelcontextprotocol/client"),
  import("@modelcontextprotocol/client/stdio"),
]);

const INFO = { name: "test", version: "1.0.0" };
const negotiating = (mode: unknown): Any => new two.Client(INFO, { versionNegotiation: { mode } });
const SDK_1 = { Http: oneHttp.StreamableHTTPClientTransport, Stdio: oneStdio.StdioClientTransport };
const SDK_2 = { Http: two.StreamableHTTPClientTransport, Stdio: twoStdio.StdioClientTransport };

/**
 * Client → how it is made, the transports of its SDK, the revision that it speaks with us, and the number it has for a
 * resource that is missing: SDK 2 has the newer one for that of older revisions too.
 */
const CLIENTS: Readonly<Record<string, readonly [() => Any, typeof SDK_1, string, number]>> = {
  "SDK 1": [() => new one.Client(INFO), SDK_1, "2025-11-25", -32002],
  "SDK 2 with a handshake": [() => negotiating("legacy"), SDK_2, "2025-11-25", -32602],
  "SDK 2 without one": [() => negotiating({ pin: "2026-07-28" }), SDK_2, "2026-07-28", -32602],
  "SDK 2 that finds out": [() => negotiating("auto"), SDK_2, "2026-07-28", -32602],
};

type Test = Parameters<typeof bundledServer>[0];

/** The arguments of `kaged mcp` for the server that has something of everything. */
async function serverOf(t: Test): Promise<string[]> {
  const { args } = await bundledServer(t, { file: "conformance_server.mjs", name: "conformance" });
  return [...args, "--names", "short", "--no-hooks", "--quiet"];
}

async function transportOf(t: Test, over: "stdio" | "HTTP", { Http, Stdio }: typeof SDK_1): Promise<Any> {
  const args = await serverOf(t);
  if (over === "stdio") {
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode };
    return new Stdio({ ...kagedCommand(args), env, stderr: "ignore" });
  }
  const { url } = await mcpOverHttp(t, args);
  return new Http(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${MCP_TOKEN}` } } });
}

for (const over of ["stdio", "HTTP"] as const) {
  for (const [name, [make, transports, revision, missing]] of Object.entries(CLIENTS)) {
    test(`N-029 ${name} lists, calls, reads and prompts over ${over}, and hears what is wrong`, async (t) => {
      const client = make();
      const transport = await transportOf(t, over, transports);
      t.after(() => client.close());
      await client.connect(transport);
      const spoken = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? revision;
      assert.equal(spoken, revision);
      const { tools } = await client.listTools();
      assert.ok(tools.some((tool: Any) => tool.name === "test_simple_text"));
      const { content } = await client.callTool({ name: "test_simple_text", arguments: {} });
      assert.deepEqual(content, [{ type: "text", text: "This is a simple text response for testing." }]);
      const { contents } = await client.readResource({ uri: "test://static-text" });
      assert.equal(contents[0].text, "This is the content.");
      const given = { name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } };
      const { messages } = await client.getPrompt(given);
      assert.equal(messages[0].content.text, "Prompt with arguments: arg1='a', arg2='b'");
      const failed = await client.callTool({ name: "test_error_handling", arguments: {} });
      assert.deepEqual([failed.isError, failed.content.length], [true, 1]);
      await assert.rejects(client.callTool({ name: "nope", arguments: {} }), (error: Any) => {
        assert.deepEqual([error.code, error.data?.code], [-32602, "tool.unknown"]);
        return true;
      });
      await assert.rejects(client.readResource({ uri: "test://nope" }), { code: missing });
    });
  }
}

test("N-029 a client with a wrong token is refused over HTTP", async (t) => {
  const { url } = await mcpOverHttp(t, await serverOf(t));
  const client = new one.Client(INFO);
  const headers = { Authorization: `Bearer ${MCP_TOKEN}x` };
  const transport = new oneHttp.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await assert.rejects(client.connect(transport), /The token is wrong/);
});
