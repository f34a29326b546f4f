import assert from "node:assert/strict";
import { test } from "node:test";
import type { SupervisorOptions } from "../../../src/core/supervisor/types.ts";
import { supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

/** A running server that runs its tools as tasks. */
async function tasks(era: string, options: Partial<SupervisorOptions> = {}) {
  const s = await supervised(options);
  const instance = await s.add("mcp_tasks", { manifest: { env: { ERA: era } } });
  await s.supervisor.start(instance);
  const call = (tool: string, args: object = {}, more: object = {}) =>
    s.supervisor.call(instance, `mcp-tasks.${tool}`, { ...args }, more);
  return {
    s,
    call,
    /** Everything about tasks that the server was asked so far. */
    seen: async () => JSON.parse((await call("seen") as { content: { text: string }[] }).content[0]!.text) as string[],
    [Symbol.asyncDispose]: () => s[Symbol.asyncDispose](),
  };
}

for (const era of ["legacy", "modern"]) {
  const result = era === "legacy" ? ["result"] : [];

  test(`N-030 a tool that runs as a task gives its result as if called plainly, ${era}`, async () => {
    await using r = await tasks(era);
    const reports: unknown[] = [];
    const found = r.call("research", {}, { onProgress: (report: unknown) => reports.push(report) });
    await r.s.pass(250);
    await until(async () => (await r.seen()).length === 1, "a first look at the task");
    await r.call("step", { message: "Writing" });
    await r.s.pass(250);
    await until(() => reports.length === 2, "the second report");
    await r.call("step", { message: "Done", status: "completed" });
    await r.s.pass(250);
    assert.deepEqual(await found, { content: [{ type: "text", text: "Found it" }] });
    assert.deepEqual(reports, ["Reading", "Writing", "Done"].map((message, at) => ({ progress: at + 1, message })));
    assert.deepEqual(await r.seen(), ["get", "get", "get", ...result]);
  });

  test(`N-030 a task that fails, or is cancelled, ends its call, ${era}`, async () => {
    await using r = await tasks(era);
    const failing = r.call("fails");
    const failed = assert.rejects(failing, { code: "mcp.tool_failed", message: "No such book" });
    await r.s.timer(250);
    await r.call("step", { status: "completed" });
    await r.s.pass(250);
    await failed;
    const controller = new AbortController();
    const cancelled = assert.rejects(r.call("research", {}, { signal: controller.signal }), {
      code: "protocol.cancelled",
    });
    await r.s.timer(250);
    controller.abort();
    await cancelled;
    await until(
      () => r.s.logs.some(({ line }) => line === "[info] cancelled"),
      "the server's word that it has stopped",
    );
    assert.equal((await r.seen()).at(-1), "cancel");
  });

  test(`N-030 a task that needs something of its client gets it through the host, ${era}`, async () => {
    await using r = await tasks(era, {
      mcpOffers: ["elicitation"],
      onMcpRequest: (_, { params: { message } }) =>
        Promise.resolve({ action: message === "Which?" ? "accept" : "decline" }),
    });
    const asked = r.call("asks");
    if (era === "modern") await r.s.pass(250);
    if (era === "modern") await r.s.pass(250);
    assert.deepEqual(await asked, { content: [{ type: "text", text: "Found it" }] });
    assert.ok((await r.seen()).includes("accept"));
  });
}

test("N-030 a task whose protocol failed, or that the server gave up, says so", async () => {
  await using r = await tasks("modern");
  for (
    const [status, error] of [
      ["failed", { rpc: -32603, message: "Out of paper" }],
      ["cancelled", { code: "mcp.tool_failed", message: "Too late" }],
    ] as const
  ) {
    const ended = assert.rejects(r.call("research"), error);
    await r.s.timer(250);
    await r.call("step", { status, message: "Too late" });
    await r.s.pass(250);
    await ended;
  }
  const unavailable = assert.rejects(r.call("research"), { code: "plugin.unavailable" });
  await r.s.timer(250);
  await r.s.supervisor.stop("mcp-tasks");
  await unavailable;
});
