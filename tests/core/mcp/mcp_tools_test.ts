import assert from "node:assert/strict";
import { test } from "node:test";
import { ANY_OBJECT, argumentsSchema } from "../../../src/core/mcp/arguments_schema.ts";
import { listTools } from "../../../src/core/mcp/list_tools.ts";
import { type McpTool, toolShortName } from "../../../src/core/mcp/mcp_tool.ts";
import { readToolResult, textOf, toolResultIn } from "../../../src/core/mcp/tool_result.ts";
import { initializeParams, LEGACY_VERSIONS } from "../../../src/core/mcp/messages.ts";
import { readDiscovery, readServerInfo } from "../../../src/core/mcp/server_info.ts";

const tool = (name: string, more = {}) => ({ name, inputSchema: { type: "object" }, ...more });

/** Lists tools from pages held here. */
const list = (pages: unknown[], before: readonly McpTool[] = []) =>
  listTools((params) => Promise.resolve(pages[Number(params.cursor ?? 0)]), before);

test("D-012 toolShortName() lower-cases a name and writes _ for every other character", () => {
  const names = {
    "Read-File": "read_file",
    "a.b/c d": "a_b_c_d",
    "2fa": "2fa",
    "読む": "__",
    "\u212a": "_",
    "💡": "_",
  };
  for (const [wire, short] of Object.entries(names)) assert.equal(toolShortName(wire), short);
});

test("D-012 listTools() reads every page in order", async () => {
  const { tools, leftOut } = await list([{ tools: [tool("a")], nextCursor: "1" }, { tools: [tool("B")] }]);
  assert.deepEqual(tools.map(({ name, wireName }) => [name, wireName]), [["a", "a"], ["b", "B"]]);
  assert.deepEqual(leftOut, []);
});

test("D-012 listTools() keeps the very tool that has not changed, so that its schema stays compiled", async () => {
  const { tools: [first, second] } = await list([{ tools: [tool("a"), tool("b")] }]);
  const { tools } = await list([{ tools: [tool("a"), tool("b", { description: "New" })] }], [first!, second!]);
  assert.equal(tools[0], first);
  assert.equal(tools[1]?.description, "New");
});

test("D-012 listTools() refuses lists that lead in circles, have no end, or are no lists", async () => {
  const malformed: unknown[][] = [
    [null],
    [{}],
    [{ tools: {} }],
    [{ tools: [7] }],
    [{ tools: [{ inputSchema: {} }] }],
    [{ tools: [], nextCursor: 7 }],
    [{ tools: [], nextCursor: "0" }],
  ];
  for (const pages of malformed) await assert.rejects(list(pages), { code: "mcp.malformed" }, JSON.stringify(pages));
  const endless = Array.from({ length: 200 }, (_, at) => ({ tools: [tool(`t${at}`)], nextCursor: String(at + 1) }));
  await assert.rejects(list(endless), { code: "mcp.too_many_tools" });
  const many = Array.from({ length: 1_001 }, (_, at) => tool(`t${at}`));
  await assert.rejects(list([{ tools: many }]), { code: "mcp.too_many_tools", message: /1001 tools/ });
  assert.equal((await list([{ tools: many.slice(1) }])).tools.length, 1_000);
  const long = Array.from({ length: 30 }, (_, at) => tool(`t${at}`, { description: "x".repeat(100_000) }));
  await assert.rejects(list([{ tools: long }]), { code: "mcp.too_many_tools", message: /characters/ });
});

test("D-012 listTools() refuses two tools of one name and names both", async () => {
  await assert.rejects(list([{ tools: [tool("Get-It"), tool("get_it")] }]), {
    code: "mcp.tool_collision",
    message: 'Tools "Get-It" and "get_it" are both "get_it" here',
  });
  await assert.rejects(list([{ tools: [tool("a"), tool("a")] }]), { message: 'The server lists tool "a" twice' });
});

test("D-012 a tool no agent can have is left out with a reason, and the others stay", async () => {
  const odd = [
    tool(""),
    tool("n".repeat(65)),
    { name: "no_schema" },
    { name: "list", inputSchema: { type: "array" } },
    tool("huge", { description: "x".repeat(200_000) }),
  ];
  const { tools, leftOut } = await list([{ tools: [...odd, tool("fine")] }]);
  assert.deepEqual(tools.map(({ name }) => name), ["fine"]);
  assert.deepEqual(leftOut.map(({ reason }) => reason), [
    "It has no name",
    "Its name is longer than 64 characters",
    'Its inputSchema is not of type "object"',
    'Its inputSchema is not of type "object"',
    "It is longer than 131072 characters",
  ]);
});

test("D-012 a schema the host cannot run leaves the arguments to the server", async () => {
  const old = { $schema: "http://json-schema.org/draft-07/schema#", type: "object", required: ["a"] };
  assert.deepEqual(await argumentsSchema(old), { type: "object", required: ["a"] });
  assert.equal(await argumentsSchema(old), await argumentsSchema(old), "and it is found out once");
  const remote = { type: "object", properties: { a: { $ref: "https://example.com/a.json" } } };
  assert.equal(await argumentsSchema(remote), ANY_OBJECT);
});

test("D-012 readToolResult() gives content and data, and turns isError into an error", () => {
  const content = [{ type: "text", text: "a" }, { type: "image", data: "", mimeType: "image/png" }];
  assert.deepEqual(readToolResult({ content, isError: false, other: 1 }, "x"), { content });
  for (const structuredContent of [{ a: 1 }, null, 0, false, "", [1, [2]]]) {
    assert.deepEqual(readToolResult({ structuredContent }, "x"), { content: [], structuredContent });
    const whole = { content, structuredContent, _meta: { a: 1 } };
    assert.deepEqual(readToolResult(whole, "x"), whole, "N-030 any JSON is data, and _meta is kept");
  }
  for (const wrong of [null, [], {}, { content: "a" }, { content: [7] }, { content: [{ text: "no type" }] }]) {
    assert.throws(() => readToolResult(wrong, "x"), { code: "mcp.malformed" });
    assert.equal(toolResultIn(wrong), null);
  }
  assert.throws(() => readToolResult({ content: [], isError: true }, "x"), {
    code: "mcp.tool_failed",
    message: 'Tool "x" failed and did not say why',
  });
  assert.equal(textOf({ content: [...content, { type: "text", text: "b" }] }), "a\n\nb");
});

test("N-029 readServerInfo() takes every revision with a handshake and refuses any other", () => {
  const answer = { capabilities: { tools: {} }, serverInfo: { name: "s", version: "1", title: "S" } };
  assert.equal(initializeParams().protocolVersion, LEGACY_VERSIONS[0]);
  for (const protocolVersion of LEGACY_VERSIONS) {
    assert.deepEqual(readServerInfo({ ...answer, protocolVersion, instructions: "Be brief" }), {
      protocol: protocolVersion,
      name: "s",
      version: "1",
      definition: answer.serverInfo,
      instructions: "Be brief",
      capabilities: { tools: {} },
    });
  }
  const unsupported = { code: "mcp.version_unsupported" };
  assert.throws(() => readServerInfo({ ...answer, protocolVersion: "2.0" }), unsupported);
  assert.throws(() => readServerInfo({ ...answer, protocolVersion: "2026-07-28" }), unsupported);
  const fine = { ...answer, protocolVersion: "2025-11-25" };
  const wrong = [null, [], {}, { protocolVersion: 1 }, { capabilities: [] }, { serverInfo: null }, {
    serverInfo: { name: "s" },
  }];
  for (const change of wrong) {
    const value = change === null || Array.isArray(change) || Object.keys(change).length === 0
      ? change
      : { ...fine, ...change };
    assert.throws(() => readServerInfo(value), { code: "mcp.malformed" }, JSON.stringify(value));
  }
});

test("N-029 readDiscovery() takes a server without a name, and refuses one of other revisions", () => {
  const found = { supportedVersions: ["2026-07-28"], capabilities: { prompts: {} } };
  const server = { name: "m", version: "2", icons: [{ src: "data:," }] };
  const info = readDiscovery({ ...found, _meta: { "io.modelcontextprotocol/serverInfo": server } });
  assert.deepEqual([info.protocol, info.name, info.version, info.definition, info.instructions], [
    "2026-07-28",
    "m",
    "2",
    server,
    null,
  ]);
  assert.deepEqual([readDiscovery(found).name, readDiscovery(found).version], ["unnamed", "0"]);
  assert.throws(() => readDiscovery({ ...found, supportedVersions: ["2031-01-01"] }), {
    code: "mcp.version_unsupported",
    message: 'The server speaks MCP "2031-01-01"',
  });
  for (const wrong of [null, {}, { ...found, supportedVersions: "2026-07-28" }, { ...found, capabilities: [] }]) {
    assert.throws(() => readDiscovery(wrong), { code: "mcp.malformed" }, JSON.stringify(wrong));
  }
});

test("N-030 the text and the description of a server are kept up to 64 KiB", () => {
  const long = "x".repeat(70_000);
  const info = readServerInfo({
    protocolVersion: "2025-11-25",
    capabilities: {},
    serverInfo: { name: long, version: "1", icons: [{ src: long }] },
    instructions: long,
  });
  assert.equal(info.instructions?.length, 64 * 1024);
  assert.deepEqual([info.name.length, info.definition], [200, { name: long.slice(0, 200), version: "1" }]);
});
