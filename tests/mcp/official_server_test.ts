import assert from "node:assert/strict";
import { test } from "node:test";
import { ANY_OBJECT, argumentsSchema } from "../../src/core/mcp/arguments_schema.ts";
import { bundledServer } from "../support/bundled_server.ts";
import { supervised } from "../support/supervised.ts";
import { until } from "../support/until.ts";

test("D-012 a server made with the official SDK runs caged, lists its tools and answers", async (t) => {
  const dir = await bundledServer(t, "tests/fixtures/mcp/official_server.mjs", { name: "official" });
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir });
  await s.supervisor.start(instance);
  const { tools, mcp } = s.supervisor.plugin(instance);
  assert.deepEqual([mcp?.name, mcp?.version, mcp?.protocol], ["official", "3.2.1", "2025-11-25"]);
  assert.deepEqual(tools.map(({ name }) => name), ["add_numbers", "throw", "wait"]);
  for (const { name, parameters_schema } of tools) {
    assert.notEqual(await argumentsSchema(parameters_schema), ANY_OBJECT, `arguments of ${name} can be checked`);
  }
  const call = (tool: string, params = {}, options = {}) =>
    s.supervisor.call(instance, `official.${tool}`, params, options);
  assert.deepEqual(await call("add_numbers", { a: 40, b: 2 }), {
    content: [{ type: "text", text: "42" }],
    structuredContent: { sum: 42 },
  });
  await assert.rejects(call("throw"), { code: "mcp.tool_failed", message: "Nothing here works" });
  await assert.rejects(call("add_numbers", { a: "x" }), { code: "mcp.tool_failed", message: /Invalid arguments/ });
  assert.deepEqual(await s.supervisor.call(instance, "ping"), { status: "ok" });

  const controller = new AbortController();
  const { promise, resolve: onProgress } = Promise.withResolvers<unknown>();
  const waiting = call("wait", {}, { signal: controller.signal, onProgress });
  await promise;
  controller.abort();
  await assert.rejects(waiting, { code: "protocol.cancelled" });
  await until(() => s.logs.length > 0, "a line on stderr");
  assert.equal(s.logs[0]?.line, "[info] wait: gave up");

  await s.supervisor.stop(instance);
  assert.deepEqual((await s.next("plugin.stopped")).data, { exit_code: 0, signal: null });
  assert.deepEqual(s.types().filter((type) => type.includes("violation") || type.includes("noise")), []);
});
