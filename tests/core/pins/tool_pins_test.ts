import assert from "node:assert/strict";
import { test } from "node:test";
import { type McpTool, readTool } from "../../../src/core/mcp/mcp_tool.ts";
import { withApproved, withVersion } from "../../../src/core/pins/pin_file.ts";
import { quarantinedTools, toolDiff } from "../../../src/core/pins/tool_diff.ts";
import { judgeTools, pinnedPart, pinsOf, toolChanges, type VersionPins } from "../../../src/core/pins/tool_pins.ts";

const tool = (name: string, more: object = {}): McpTool =>
  readTool({ name, inputSchema: { type: "object", properties: { a: {}, b: {} } }, ...more }) as McpTool;
const namesOf = (tools: readonly McpTool[]): string[] => tools.map(({ name }) => name);
const parts = (...tools: McpTool[]) => Object.fromEntries(tools.map((one) => [one.name, pinnedPart(one.definition)]));
const version = (hash: string, own: Partial<VersionPins> = {}): VersionPins => ({
  hash,
  pinned_at: "2026-01-01T00:00:00.000Z",
  tools: {},
  quarantined: {},
  missing: [],
  ...own,
});

test("N-032 a tool is held for each part that a model reads or a host acts on, and for no other", () => {
  const before = tool("Send", { title: "Send", description: "Sends" });
  const judge = (more: object) =>
    judgeTools([tool("Send", { title: "Send", description: "Sends", ...more })], parts(before));
  for (
    const more of [
      { name: "SEND" },
      { title: "Send!" },
      { description: "Sends " },
      { inputSchema: { type: "object" } },
      { outputSchema: { type: "object" } },
      { annotations: { readOnlyHint: true } },
      { execution: { taskSupport: "required" } },
    ]
  ) {
    assert.deepEqual(namesOf(judge(more).held), ["send"], JSON.stringify(more));
  }
  for (const more of [{}, { icons: [{ src: "x" }] }, { _meta: { a: 1 } }]) {
    assert.deepEqual([namesOf(judge(more).kept), judge(more).missing], [["send"], []], JSON.stringify(more));
  }
  const otherOrder = { inputSchema: { properties: { b: {}, a: {} }, type: "object" } };
  assert.deepEqual(namesOf(judge(otherOrder).kept), ["send"]);
});

test("N-032 new tools are held, also under names that every object has, and those that are gone are named", () => {
  const listed = [tool("a"), tool("__proto__"), tool("constructor"), tool("toString")];
  const { kept, held, missing } = judgeTools(listed, parts(tool("a"), tool("b")));
  assert.deepEqual([namesOf(kept), namesOf(held), missing], [["a"], ["__proto__", "constructor", "tostring"], ["b"]]);
});

test("N-032 pins under names that every object has survive the file and an approval", async () => {
  const quarantined = await pinsOf([tool("__proto__"), tool("b")]);
  const pins: VersionPins = JSON.parse(JSON.stringify(version("sha256:1", { quarantined })));
  const after = withApproved(pins, ["__proto__"]);
  assert.deepEqual([Object.keys(after.tools), Object.keys(after.quarantined)], [["__proto__"], ["b"]]);
  assert.deepEqual(quarantinedTools(pins).map(({ tool, kind }) => [tool, kind]), [["__proto__", "new"], ["b", "new"]]);
});

test("N-032 a difference shows lines of text and of schemas, each printable", async () => {
  const before = await pinsOf([tool("a", { description: "One\nTwo" })]);
  const after = await pinsOf([tool("a", { description: "One\nTw\u0430\u001b[2J", outputSchema: { type: "object" } })]);
  const changed = toolDiff(before.a!, after.a!).filter(({ mark }) => mark !== " ").map(({ mark, text }) => mark + text);
  assert.deepEqual(changed.slice(0, 2), ["-  Two", "+  Tw\\u0430\\u001b[2J"]);
  assert.deepEqual(changed.slice(2).sort(), ['+    "type": "object"', "+  {", "+  }", "+outputSchema:"]);
});

test("N-032 the file keeps the pins of a version and of the one before; two versions can be compared", async () => {
  const [a, b] = [await pinsOf([tool("a"), tool("b")]), await pinsOf([tool("a", { description: "x" }), tool("c")])];
  assert.deepEqual(toolChanges(a, b), { added: ["c"], changed: ["a"], removed: ["b"] });
  const file = withVersion(withVersion(withVersion([], version("1")), version("2")), version("3"));
  assert.deepEqual(file.map(({ hash }) => hash), ["3", "2"]);
  assert.deepEqual(withVersion(file, version("2")).map(({ hash }) => hash), ["2", "3"]);
});
