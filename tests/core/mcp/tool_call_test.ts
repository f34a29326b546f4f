import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import type { TaskPorts } from "../../../src/core/mcp/task_call.ts";
import { ToolCall } from "../../../src/core/mcp/tool_call.ts";

const info = { protocol: "2025-11-25", capabilities: {} };
const ports = { talk: { info } } as unknown as TaskPorts; // Whose other parts only a task needs.

function begun(ok: (result: unknown) => unknown = (result) => result): { call: ToolCall; seen: string[] } {
  const seen: string[] = [];
  const end = {
    ok(result: unknown): unknown {
      seen.push("ok");
      return ok(result);
    },
    failed(error: unknown): unknown {
      seen.push((error as HostError).code);
      return null;
    },
  };
  return { call: new ToolCall("server.tool", ports, {}, { done: () => void seen.push("done"), end }), seen };
}

test("a call of an MCP tool is over in the turn of its answer, and no longer open when its end is called", () => {
  const { call, seen } = begun();
  const content = [{ type: "text", text: "hi" }];
  assert.deepEqual(call.ok({ content, isError: false, extra: 1 }), { content });
  assert.deepEqual(seen, ["done", "ok"]);
});

test("the failure of an MCP tool ends its call once, as does an answer that is none", () => {
  const failing = begun();
  assert.equal(failing.call.ok({ content: [{ type: "text", text: "No" }], isError: true }), null);
  assert.deepEqual(failing.seen, ["done", "mcp.tool_failed"]);
  const malformed = begun();
  malformed.call.ok({ content: [{}] });
  assert.deepEqual(malformed.seen, ["done", "mcp.malformed"]);
});

test("a mistake behind the end of an MCP tool's call is not a failure of the tool", () => {
  const { call, seen } = begun(() => {
    throw new RangeError("mine");
  });
  assert.throws(() => call.ok({ structuredContent: null }), RangeError);
  assert.deepEqual(seen, ["done", "ok"]);
});

test("a task that is malformed fails its call", async () => {
  const { call, seen } = begun();
  assert.equal(await call.ok({ task: {} }), null);
  assert.deepEqual(seen, ["done", "mcp.malformed"]);
});
