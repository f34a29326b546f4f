/**
 * MCP: a server of that protocol as a plugin. It gets what its manifest grants; its tools are called as the tools of any
 * plugin, and its other parts are there as {@link Dialect.peer}.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { legacyConversation, type McpConversation } from "../mcp/conversation.ts";
import { initializeParams, logEvent, logLine, MCP_NOTICES, requestMeta } from "../mcp/messages.ts";
import { modernConversation } from "../mcp/modern_conversation.ts";
import { OpenCalls } from "../mcp/open_calls.ts";
import type { McpCallPlace } from "../mcp/peer.ts";
import { readDiscovery, readServerInfo } from "../mcp/server_info.ts";
import { ServerParts } from "../mcp/server_parts.ts";
import { ServerRequests } from "../mcp/server_requests.ts";
import { needsTask, resultOfCall } from "../mcp/task_call.ts";
import { readToolResult } from "../mcp/tool_result.ts";
import { isMap } from "../values/plain_data.ts";
import type { Connection, IncomingRequest } from "../wire/connection_types.ts";
import type { Dialect, DialectPorts, PluginProfile } from "./dialect.ts";
import { handshakeStep } from "./handshake.ts";
import { ServerTools } from "./server_tools.ts";
import type { PluginCallContext } from "./types.ts";
import { irregularityGate, notificationGate } from "./wire_audit.ts";

/** Speaks MCP over the connection that `ports` makes, in the way of the era that `ports` names. */
export function mcpDialect(ports: DialectPorts): Dialect {
  const { audit, subject, clock, mcpEra = "legacy" } = ports;
  const isTaken = notificationGate(ports);
  const calls = new OpenCalls();
  const requests = new ServerRequests(ports.mcpOffers, ports.onMcpRequest);
  const end = new AbortController();
  let talk: McpConversation | null = null;
  const connection: Connection = ports.connect({
    onRequest,
    onNotification,
    onIrregularity: irregularityGate(ports),
    onClosed: (reason) => end.abort(reason),
    notices: {
      ...MCP_NOTICES,
      callParams(method, params, id) {
        talk?.onSent(method, id);
        return MCP_NOTICES.callParams!(method, params, id);
      },
    },
  });
  const met = (): McpConversation => {
    if (talk) return talk;
    throw new HostError("plugin.not_initialized", `The server "${subject.name}" has not been greeted yet`);
  };
  const parts = new ServerParts({ talk: met, calls, clock });
  const tools = new ServerTools({
    ...ports,
    ask: (params, timeoutMs) => {
      const step = { call: met().ask, closed: connection.closed };
      return handshakeStep(step, "tools/list", params, timeoutMs);
    },
    isClosed: () => connection.closed,
    onListed: () => ports.onMcpEvent?.({ type: "list_changed", list: "tools" }),
  });

  /** A server may ping the host, and ask for the parts that are offered to it. */
  function onRequest({ method, params, signal }: IncomingRequest): unknown {
    if (method === "ping") return {};
    const release = connection.hold(); // A person may take longer to answer it than a call may take.
    return requests.take(method, params, { at: calls.place, signal }).finally(release);
  }

  function onNotification(method: string, params: unknown): void {
    if (talk?.onNotification(method, params) || !isTaken()) return;
    switch (method) {
      case "notifications/message":
        ports.onLog(logLine(params));
        return ports.onMcpEvent?.(logEvent(params));
      case "notifications/tools/list_changed":
        return tools.listAgain();
      case "notifications/resources/list_changed":
      case "notifications/prompts/list_changed": {
        const list = method === "notifications/prompts/list_changed" ? "prompts" : "resources";
        parts.changed(list);
        return ports.onMcpEvent?.({ type: "list_changed", list });
      }
      case "notifications/resources/updated": {
        const uri = isMap(params) ? params.uri : undefined;
        if (typeof uri === "string") return ports.onMcpEvent?.({ type: "resource_updated", uri });
      }
    }
    audit.emit("plugin.notification", subject, { notification_type: method.slice(0, 200) });
  }

  /** Greets the server in the way of its era. */
  async function meet(beforeConfig: () => Promise<void>): Promise<McpConversation> {
    if (mcpEra === "modern") {
      const params = { _meta: requestMeta(requests.offers) };
      const info = readDiscovery(await handshakeStep(connection, "server/discover", params));
      await beforeConfig();
      return modernConversation({ connection, info, requests, clock, ended: end.signal });
    }
    const info = readServerInfo(await handshakeStep(connection, "initialize", initializeParams(requests.offers)));
    await beforeConfig();
    connection.notify("notifications/initialized", {});
    return legacyConversation(connection, info);
  }

  return {
    async handshake({ config, beforeConfig, onInitialized }): Promise<PluginProfile> {
      talk = await meet(beforeConfig);
      connection.features = new Set(["cancel", "progress"]); // No greeting may be cancelled.
      talk.begin();
      const { info } = talk;
      if (isMap(info.capabilities.tools) && !ports.byWireName) await tools.listFirst();
      onInitialized();
      return {
        callable: new Set(tools.byName.keys()),
        methods: [],
        features: ["cancel", "progress"],
        missing: [],
        undeclared: [],
        configIgnored: Object.keys(config).length > 0,
        mcp: { ...info, tools: tools.all },
      };
    },
    async call(method, params, context, options) {
      if (method === "ping") {
        await met().checkAlive(options);
        return { status: "ok" };
      }
      const { _config, ...args } = params;
      const at = placeOf(context);
      const traceparent = context?.traceparent;
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } };
      const tool = tools.byName.get(method);
      const conversation = met();
      const task = needsTask(conversation.info, tool?.definition) ? { task: {} } : {};
      const request = { name: tool?.wireName ?? method, arguments: args, ...meta, ...task };
      const placed = { ...options, at: at ?? undefined };
      const done = calls.begin(at);
      try {
        const answer = await conversation.ask("tools/call", request, placed);
        const taskPorts = { talk: conversation, requests, clock, ended: end.signal };
        return readToolResult(await resultOfCall(answer, taskPorts, placed), method);
      } finally {
        done();
      }
    },
    updateConfig: () => Promise.resolve(false),
    notify() {}, // Notifications of the plugin wire mean nothing to it.
    askToEnd: () => ports.endInput(),
    idle: () => calls.idle(),
    peer: parts,
  };
}

function placeOf(context: PluginCallContext | null): McpCallPlace | null {
  const { agent_path: agent = null, session_id: session = null } = context ?? {};
  return agent === null || session === null ? null : { agent, session };
}
