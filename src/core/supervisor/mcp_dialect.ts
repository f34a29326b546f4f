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
import { irregularityGate, notificationGate } from "./wire_audit.ts";

/** Least time between two looks at a server's tools, however often it says that they changed. */
const RELIST_MS = 5_000;

/** Names in one part of an audit event. */
const NAMED = 50;

/** Speaks MCP over the connection that `ports` makes. */
export function mcpDialect(ports: DialectPorts): Dialect {
  const { audit, subject } = ports;
  const isTaken = notificationGate(ports);
  const connection: Connection = ports.connect({
    onRequest,
    onNotification,
    onIrregularity: irregularityGate(ports),
    notices: MCP_NOTICES,
  });
  const tools = new ServerTools(connection, ports);

  /** A server may ping the host, and ask for nothing else. */
  function onRequest({ method }: IncomingRequest): unknown {
    if (method === "ping") return {};
    throw new HostError("protocol.method_unknown", `The host has no method "${method.slice(0, 200)}"`);
  }

  function onNotification(method: string, params: unknown): void {
    if (!isTaken()) return;
    if (method === "notifications/message") return ports.onLog(logLine(params));
    if (method === "notifications/tools/list_changed") return tools.listAgain();
    audit.emit("plugin.notification", subject, { notification_type: method.slice(0, 200) });
  }

  return {
    async handshake({ config, beforeConfig, onInitialized }): Promise<PluginProfile> {
      const answer = await handshakeStep(connection, "initialize", initializeParams());
      const { hasTools, ...server } = readServerInfo(answer);
      await beforeConfig();
      connection.features = new Set(["cancel", "progress"]);
      connection.notify("notifications/initialized", {});
      if (hasTools && !ports.byWireName) {
        await tools.listFirst();
      }
      onInitialized();
      return {
        callable: new Set(tools.byName.keys()),
        methods: [],
        features: ["cancel", "progress"],
        missing: [],
        undeclared: [],
        configIgnored: Object.keys(config).length > 0,
        mcp: { ...server, tools: tools.all },
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
      const request = { name: tools.byName.get(method)?.wireName ?? method, arguments: args, ...meta };
      return readToolResult(await connection.call("tools/call", request, options), method);
    },
    updateConfig: () => Promise.resolve(false),
    notify() {}, // Notifications of the plugin wire mean nothing to it.
    askToEnd: () => ports.endInput(),
  };
}

/** The tools of one server, as it listed them last. */
class ServerTools {
  readonly #connection: Connection;
  readonly #ports: DialectPorts;
  #relist: "idle" | "busy" | "again" = "busy"; // The handshake lists them.
  all: readonly McpTool[] = [];
  /** `<plugin>.<tool>` → tool. */
  byName: ReadonlyMap<string, McpTool> = new Map();

  constructor(connection: Connection, ports: DialectPorts) {
    this.#connection = connection;
    this.#ports = ports;
  }

  /** Lists the tools within the time of a handshake step; later changes are listed after a rest. */
  async listFirst(): Promise<void> {
    await this.#list();
    this.#rest();
  }

  /** Lists the tools again: now, or once the rest after the last listing is over. */
  listAgain(): void {
    if (this.#relist !== "idle") return void (this.#relist = "again");
    this.#relist = "busy";
    const { audit, subject, onTools } = this.#ports;
    this.#list(() => onTools(this.all)).catch((error) => {
      if (this.#connection.closed) return;
      const detail = messageOf(error).slice(0, 200);
      audit.emit("plugin.protocol_violation", subject, { violation_type: "tools_list", detail });
    });
    this.#rest();
  }

  /** Lists the tools, then calls `adopt`, then audits them: a listener to the audit finds the new tools in place. */
  async #list(adopt: () => void = () => {}): Promise<void> {
    const { manifest, audit, subject, clock } = this.#ports;
    const endMs = clock.monotonic() + HANDSHAKE_TIMEOUT_MS;
    const before = this.all;
    const found = await listTools((params) => {
      return handshakeStep(this.#connection, "tools/list", params, Math.max(1, endMs - clock.monotonic()));
    }, before);
    this.all = found.tools;
    this.byName = new Map(found.tools.map((tool) => [`${manifest.name}.${tool.name}`, tool]));
    adopt();
    audit.emit("plugin.tools_listed", subject, toolChanges(before, found));
  }

  #rest(): void {
    this.#ports.clock.after(RELIST_MS, () => {
      const isAsked = this.#relist === "again";
      this.#relist = "idle";
      if (isAsked && !this.#connection.closed) this.listAgain();
    });
  }
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
