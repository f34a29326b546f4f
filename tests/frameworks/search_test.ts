import assert from "node:assert/strict";
import { test } from "node:test";
import { textOfParts } from "../../src/frameworks/result_parts.ts";
import { sessionTools } from "../../src/frameworks/session_tools.ts";
import { frameworkHost } from "../support/frameworks.ts";

const named = (tools: ReturnType<typeof sessionTools>, name: string) => tools.find((tool) => tool.name === name)!;

test("N-036 two tools stand for all of them, and a large result is read piece by piece", async () => {
  await using h = await frameworkHost();
  const tools = sessionTools(h.session, { search: true, maxResultBytes: 1024 });
  assert.deepEqual(tools.map(({ name }) => name), ["search_tools", "call_tool", "read_result"]);
  const found = await named(tools, "search_tools").call({ query: "erase a file" });
  assert.match(textOfParts(found.parts), /toolbox\.erase/);
  const sum = await named(tools, "call_tool").call({ name: "toolbox.add", arguments: { a: 1, b: 2 } });
  assert.deepEqual(sum.structured, { sum: 3 });
  const path = "x".repeat(5_000);
  const answered = h.session.tools().find(({ name }) => name === "toolbox.erase")!;
  const kept = await sessionTools(h.session, { maxResultBytes: 1024 })
    .find(({ fullName }) => fullName === answered.name)!
    .call({ path }, { onAsk: () => ({ decision: "allow" }) });
  const { handle } = (kept.structured as { kept: { handle: string } }).kept;
  const read = await named(tools, "read_result").call({ handle, offset: 0, limit: 10 });
  assert.match(textOfParts(read.parts), /erased xxx/);
});
