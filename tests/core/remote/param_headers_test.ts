import assert from "node:assert/strict";
import { test } from "node:test";
import { ParamHeaders } from "../../../src/core/remote/param_headers.ts";

const tool = (name: string, properties: object, more: object = {}) => ({
  name,
  inputSchema: { type: "object", properties, ...more },
});

test("N-029 arguments that a tool wants in fields are repeated there, encoded where a field cannot hold them", () => {
  const headers = new ParamHeaders();
  const inner = { type: "object", properties: { level: { type: "integer", "x-mcp-header": "Level" } } };
  headers.learn([tool("query", {
    region: { type: "string", "x-mcp-header": "Region" },
    dry: { type: "boolean", "x-mcp-header": "Dry" },
    inner,
    other: { type: "string" },
  })]);
  assert.deepEqual(headers.of("query", { region: "eu west", dry: false, inner: { level: 3 }, other: "x" }), {
    "Mcp-Param-Region": "eu west",
    "Mcp-Param-Dry": "false",
    "Mcp-Param-Level": "3",
  });
  assert.deepEqual(headers.of("query", { region: "世\r\nX: y", dry: null, inner: {} }), {
    "Mcp-Param-Region": `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode("世\r\nX: y")))}?=`,
  });
  assert.deepEqual(headers.of("unknown", { region: "x" }), {});
});

test("N-029 a tool whose fields could be read in two ways is left out, with the reason", () => {
  const one = { type: "string", "x-mcp-header": "A" };
  const wrong = [
    tool("twice", { a: one, b: { ...one, "x-mcp-header": "a" } }),
    tool("bad_name", { a: { ...one, "x-mcp-header": "A B" } }),
    tool("empty", { a: { ...one, "x-mcp-header": "" } }),
    tool("number", { a: { type: "number", "x-mcp-header": "A" } }),
    tool("in_list", { a: { type: "array", items: one } }),
    tool("in_choice", {}, { anyOf: [{ properties: { a: one } }] }),
    tool("at_root", {}, { "x-mcp-header": "A" }),
  ];
  const good = tool("good", { a: one });
  const { tools, faults } = new ParamHeaders().learn([...wrong, good]);
  assert.deepEqual(tools, [good]);
  assert.deepEqual(faults.map((fault) => /"(\w+)"/.exec(fault)?.[1]), wrong.map(({ name }) => name));
});
