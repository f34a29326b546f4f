/**
 * MCP: a server of that protocol as a plugin. It gets what its manifest grants, and only its tools are used.
 *
 * @module
 */
import type { AuditData } from "../audit/events.ts";
import { HostError, messageOf } from "../errors/host_error.ts";
import { listTools, type ToolListing } from "../mcp/list_tools.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import { initializeParams, logLine, MCP_NOTICES, readServerInfo } from "../mcp/messages.ts";
import { readToolResult } from "../mcp/tool_result.ts";
import type { Connection, IncomingRequest } from "../wire/connection_types.ts";
import type { Dialect, DialectPorts, PluginProfile } from "./dialect.ts";
import { HANDSHAKE_TIMEOUT_MS, handshakeStep } from "./handshake.ts";
import { auditIrregularity, notificationGate } from "./wire_audit.ts";

/** Least time between two looks at a server's tools, however often it says that they changed. */
const RELIST_MS = 5_000;

/** Names in one part of an audit event. */
const NAMED = 50;

/** Speaks MCP over the connection that `ports` makes. */
export function mcpDialect(ports: DialectPorts): Dialect {
  const { manifest, audit, subject, clock } = ports;
  const isTaken = notificationGate(ports);
  const connection: Connection = ports.connect({
    onRequest,
    onNotification,
    onIrregularity: (irregularity) => auditIrregularity(irregularity, ports),
    notices: MCP_NOTICES,
  });
  let tools: readonly McpTool[] = [];
  let byName = new Map<string, McpTool>();
  let relist: "idle" | "busy" | "again" = "busy"; // The handshake lists them.

  /** A server may ping the host, and ask for nothing else. */
  function onRequest({ method }: IncomingRequest): unknown {
    if (method === "ping") return {};
    throw new HostError("protocol.method_unknown", `The host has no method "${method.slice(0, 200)}"`);
  }

  function onNotification(method: string, params: unknown): void {
    if (!isTaken()) return;
    if (method === "notifications/message") return ports.onLog(logLine(params));
    if (method === "notifications/tools/list_changed") return listAgain();
    audit.emit("plugin.notification", subject, { notification_type: method.slice(0, 200) });
  }

  /** Lists the tools, then calls `adopt`, then audits them: a listener to the audit finds the new tools in place. */
  async function list(adopt: () => void = () => {}): Promise<void> {
    const endMs = clock.monotonic() + HANDSHAKE_TIMEOUT_MS;
    const before = tools;
    const found = await listTools((params) => {
      return handshakeStep(connection, "tools/list", params, Math.max(1, endMs - clock.monotonic()));
    }, before);
    tools = found.tools;
    byName = new Map(tools.map((tool) => [`${manifest.name}.${tool.name}`, tool]));
    adopt();
    audit.emit("plugin.tools_listed", subject, toolChanges(before, found));
  }

  function listAgain(): void {
    if (relist !== "idle") return void (relist = "again");
    relist = "busy";
    list(() => ports.onTools(tools)).catch((error) => {
      if (connection.closed) return;
      const detail = messageOf(error).slice(0, 200);
      audit.emit("plugin.protocol_violation", subject, { violation_type: "tools_list", detail });
    });
    rest();
  }

  function rest(): void {
    clock.after(RELIST_MS, () => {
      const isAsked = relist === "again";
      relist = "idle";
      if (isAsked && !connection.closed) listAgain();
    });
  }

  return {
    async handshake({ config, beforeConfig, onInitialized }): Promise<PluginProfile> {
      const answer = await handshakeStep(connection, "initialize", initializeParams());
      const { hasTools, ...server } = readServerInfo(answer);
      await beforeConfig();
      connection.features = new Set(["cancel", "progress"]);
      connection.notify("notifications/initialized", {});
      if (hasTools && !ports.byWireName) {
        await list();
        rest();
      }
      onInitialized();
      return {
        callable: new Set(byName.keys()),
        methods: [],
        features: ["cancel", "progress"],
        missing: [],
        undeclared: [],
        configIgnored: Object.keys(config).length > 0,
        mcp: { ...server, tools },
      };
    },
    async call(method, params, context, options) {
      if (method === "ping") {
        await connection.call("ping", {}, options);
        return { status: "ok" };
      }
      const { _config, ...args } = params;
      const traceparent = context?.traceparent;
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } };
      const request = { name: byName.get(method)?.wireName ?? method, arguments: args, ...meta };
      return readToolResult(await connection.call("tools/call", request, options), method);
    },
    updateConfig: () => Promise.resolve(false),
    notify() {}, // Notifications of the plugin wire mean nothing to it.
    askToEnd: () => ports.endInput(),
  };
}

/** Returns the differences between two lists, for the audit: a server may change its tools at any time. */
function toolChanges(
  before: readonly McpTool[],
  { tools, leftOut }: ToolListing,
): AuditData["plugin.tools_listed"] {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const kept = new Set(tools.map(({ name }) => name));
  const names = (some: readonly McpTool[]): string[] => some.slice(0, NAMED).map(({ name }) => name);
  return {
    count: tools.length,
    added: names(tools.filter(({ name }) => !old.has(name))),
    removed: names(before.filter(({ name }) => !kept.has(name))),
    changed: names(tools.filter((tool) => old.has(tool.name) && old.get(tool.name) !== tool)),
    left_out: leftOut.slice(0, NAMED).map((one) => ({ ...one })),
  };
}
