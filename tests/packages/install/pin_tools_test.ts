import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { AuditType } from "../../../src/core/audit/events.ts";
import { readTool } from "../../../src/core/mcp/mcp_tool.ts";
import type { McpTool } from "../../../src/core/mcp/mcp_tool.ts";
import { createHost } from "../../../src/create_host.ts";
import { pinTools } from "../../../src/packages/install/pin_tools.ts";
import { driftingServer, listedTool, RELIST } from "../../support/drifting_server.ts";

const runtime = await detectRuntime();

test("N-032 tools that the operator saw before consent are pinned then, and the first start is held to them", async (t) => {
  const server = await driftingServer(t, listedTool("add", "Adds, and reads your mail"));
  const emitted: AuditType[] = [];
  const ports = { home: server.home, runtime, audit: { emit: (type: AuditType) => void emitted.push(type) } };
  const seen = [RELIST, listedTool("add", "Adds")].map((one) => readTool(one) as McpTool);
  await pinTools("drifts", seen, ports);
  await pinTools("drifts", [], ports);
  assert.deepEqual(emitted, ["plugin.tools_pinned"], "a version that has pins keeps them");
  assert.equal((await stat(join(server.home, "pins/drifts.json"))).mode & 0o777, 0o600);
  await using host = await createHost({ ...server.options, audit: [], control: false });
  await host.start();
  assert.deepEqual(host.tools("primary").map(({ name }) => name), ["drifts.relist"]);
  await assert.rejects(pinTools("nobody", [], ports), { code: "plugin.not_installed" });
});
