import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { DialectListeners } from "../../../src/core/supervisor/dialect.ts";
import { mcpDialect } from "../../../src/core/supervisor/mcp_dialect.ts";
import { createAudit } from "../../../src/core/audit/audit.ts";
import { createConnection } from "../../../src/core/wire/connection.ts";
import type { Connection } from "../../../src/core/wire/connection_types.ts";
import { portableBytes } from "../../support/portable_bytes.ts";
import { compileSchema } from "../../../src/core/schema/compile_schema.ts";
import { manifestOf } from "../../support/cage_requests.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** An MCP dialect over a wire that keeps every line, with a server of two pages behind it. */
function spokenWire() {
  const sent: Message[] = [];
  const clock = createFakeClock();
  let connection!: Connection;
  const toHost = (message: object) =>
    connection.receive(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"));
  const tool = { name: "Wait-Here", inputSchema: { type: "object" } };
  const serve = ({ id, method, params }: Message): void => {
    const initialized = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: {} };
    if (method === "initialize") {
      toHost({ id, result: { ...initialized, serverInfo: { name: "s", version: "1" } } });
    } else if (method === "tools/list") {
      toHost({ id, result: params?.cursor ? { tools: [] } : { tools: [tool], nextCursor: "next" } });
    } else if (method === "ping") toHost({ id, result: {} });
  };
  const dialect = mcpDialect({
    manifest: manifestOf({ name: "waits", runtime: "mcp_stdio" }),
    audit: createAudit({ clock, sinks: [] }),
    subject: { name: "waits", instance: "waits" },
    clock,
    connect: (listeners: DialectListeners) =>
      connection = createConnection({
        ...listeners,
        clock,
        bytes: portableBytes,
        wire: {
          write(text) {
            const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line) as Message);
            sent.push(...lines);
            queueMicrotask(() => lines.forEach(serve));
          },
          bufferedBytes: () => 0,
          pause() {},
          resume() {},
        },
      }),
    endInput() {},
    kill: (cause) => connection.close(cause),
    onLog() {},
    onNotification() {},
    onRequest: () => null,
    onTools() {},
  });
  return { dialect, sent, toHost };
}

test("D-012 every message the host sends to an MCP server is one the protocol's own schema allows", async () => {
  const { dialect, sent, toHost } = spokenWire();
  const handshake = { config: {}, projects: [], storageAvailable: true, beforeConfig: async () => {} };
  await dialect.handshake({ ...handshake, onInitialized() {} });
  await dialect.call("ping", {}, null);
  const controller = new AbortController();
  const context = { operator_id: "o", project_id: null, agent_path: null, session_id: null, request_id: "req_1" };
  const traced = { ...context, traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  const call = dialect.call("waits.wait_here", { a: 1 }, traced, { signal: controller.signal });
  await Promise.resolve();
  controller.abort();
  await assert.rejects(call, { code: "protocol.cancelled" });
  toHost({ id: "s1", method: "ping" });
  await Promise.resolve();

  const file = new URL("../../corpora/mcp/2025-11-25.schema.json", import.meta.url);
  const schema = JSON.parse(await readFile(file, "utf8"));
  const [request, notification, response] = await Promise.all(
    ["ClientRequest", "ClientNotification", "JSONRPCResultResponse"].map((name) =>
      compileSchema({ ...schema, $ref: `#/$defs/${name}` })
    ),
  );
  for (const message of sent) {
    const kind = message.method === undefined ? response : message.id === undefined ? notification : request;
    assert.deepEqual(kind!.issues(message), [], JSON.stringify(message));
  }
  assert.deepEqual(sent.map(({ method }) => method), [
    "initialize",
    "notifications/initialized",
    "tools/list",
    "tools/list",
    "ping",
    "tools/call",
    "notifications/cancelled",
    undefined,
  ]);
  const [called, cancelled] = sent.slice(5);
  assert.deepEqual(called!.params, {
    name: "Wait-Here",
    arguments: { a: 1 },
    _meta: { traceparent: traced.traceparent, progressToken: called!.id },
  });
  assert.equal(cancelled!.params?.requestId, called!.id);
  assert.ok(request!.issues({ jsonrpc: "2.0", id: 1, method: "tools/call", params: {} }).length > 0, "it can refuse");
});
