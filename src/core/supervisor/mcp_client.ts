/**
 * The client's side of one MCP server: it greets the server, sorts what the server says by itself, and calls its tools.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isRemote } from "../manifest/speaks_mcp.ts";
import type { McpConversation } from "../mcp/conversation.ts";
import { logEvent, logLine, MCP_NOTICES } from "../mcp/messages.ts";
import { OpenCalls } from "../mcp/open_calls.ts";
import type { McpCallPlace, McpEvent, McpServerInfo } from "../mcp/peer.ts";
import { ServerParts } from "../mcp/server_parts.ts";
import { ServerRequests } from "../mcp/server_requests.ts";
import { needsTask, type TaskPorts } from "../mcp/task_call.ts";
import { ToolCall } from "../mcp/tool_call.ts";
import { isMap } from "../values/plain_data.ts";
import { failedCall } from "../wire/calls.ts";
import type { CallEnd, CallOptions, Connection, IncomingRequest } from "../wire/connection_types.ts";
import type { DialectPorts } from "./dialect.ts";
import { handshakeStep } from "./handshake.ts";
import { greet } from "./mcp_greeting.ts";
import { ServerTools } from "./server_tools.ts";
import type { PluginCallContext } from "./types.ts";
import { irregularityGate, notificationGate } from "./wire_audit.ts";

type Args = Readonly<Record<string, unknown>>;

/** A conversation with one server, from the first message on. */
export class McpClient {
  readonly calls: OpenCalls = new OpenCalls();
  readonly parts: ServerParts;
  readonly tools: ServerTools;
  readonly #ports: DialectPorts;
  readonly #connection: Connection;
  readonly #requests: ServerRequests;
  readonly #end = new AbortController();
  readonly #isTaken: () => boolean;
  #talk: McpConversation | null = null;
  /** Of every call: the conversation is the same for all of them. */
  #tasks: TaskPorts | null = null;

  /** Makes the connection; nothing is sent yet. */
  constructor(ports: DialectPorts) {
    this.#ports = ports;
    this.#requests = new ServerRequests(ports.mcpOffers, ports.onMcpRequest);
    this.#isTaken = notificationGate(ports);
    const connection = this.#connection = ports.connect({
      onRequest: (request) => this.#onRequest(request),
      onNotification: (method, params) => this.#onNotification(method, params),
      onIrregularity: irregularityGate(ports),
      onClosed: (reason) => this.#end.abort(reason),
      notices: {
        ...MCP_NOTICES,
        callParams: (method, params, id) => {
          this.#talk?.onSent(method, id);
          return MCP_NOTICES.callParams!(method, params, id);
        },
      },
    });
    this.parts = new ServerParts({ talk: () => this.talk, calls: this.calls, clock: ports.clock });
    this.tools = new ServerTools({
      ...ports,
      ask: (params, timeoutMs) => {
        const step = { call: this.talk.ask, closed: connection.closed };
        return handshakeStep(step, "tools/list", params, timeoutMs);
      },
      isClosed: () => connection.closed,
      onListed: () => this.#tell({ type: "list_changed", list: "tools" }),
    });
  }

  /** The conversation, once the server has been greeted. */
  get talk(): McpConversation {
    if (this.#talk) return this.#talk;
    throw this.#notGreeted();
  }

  #notGreeted(): HostError {
    return new HostError("plugin.not_initialized", `The server "${this.#ports.subject.name}" has not been greeted yet`);
  }

  /** Greets the server in the way of its era. Rejects with `initialize.*` or `mcp.*`. */
  async meet(beforeConfig: () => Promise<void>): Promise<McpServerInfo> {
    const connection = this.#connection;
    const { clock, mcpEra: era = "legacy", manifest } = this.#ports;
    const ports = { connection, requests: this.#requests, clock, ended: this.#end.signal };
    this.#talk = await greet({ ...ports, era, isElsewhere: isRemote(manifest), beforeConfig });
    connection.features = new Set(["cancel", "progress"]); // No greeting may be cancelled.
    this.#talk.begin();
    return this.#talk.info;
  }

  /** Calls a tool by its name here, or by the server's own. Rejects with the tool's error, `mcp.*` or `protocol.*`. */
  callTool(
    method: string,
    params: Args,
    context: PluginCallContext | null,
    options: CallOptions = {},
    end?: CallEnd,
  ): Promise<unknown> {
    const talk = this.#talk;
    if (!talk) return failedCall(this.#notGreeted(), end);
    const at = placeOf(context);
    const placed = at ? { ...options, at } : options;
    const done = this.calls.begin(at);
    const { clock } = this.#ports;
    const ports = this.#tasks ??= { talk, requests: this.#requests, clock, ended: this.#end.signal };
    return talk.ask(
      "tools/call",
      this.#request(method, params, context?.traceparent),
      placed,
      new ToolCall(method, ports, placed, { done, end }),
    );
  }

  #request(method: string, params: Args, traceparent: string | undefined): Args {
    const tool = this.tools.byName.get(method);
    const name = tool?.wireName ?? method;
    const isTask = needsTask(this.talk.info, tool?.definition);
    const args = withoutConfig(params);
    if (traceparent === undefined && !isTask) return { name, arguments: args }; // As most are.
    return {
      name,
      arguments: args,
      ...(traceparent !== undefined && { _meta: { traceparent } }),
      ...(isTask && { task: {} }),
    };
  }

  /** Calls of its own count, and not the connection's: one of those stays open for as long as the server runs. */
  activity(): number | null {
    return this.calls.isIdle ? this.#connection.activity({ callsAside: true }) : null;
  }

  /** A server may ping the host, and ask for the parts that are offered to it. */
  #onRequest({ method, params, signal }: IncomingRequest): unknown {
    if (method === "ping") return {};
    const { place: at, sessions } = this.calls;
    const taken = this.#requests.take(method, params, { at, sessions, signal });
    if (!this.#requests.isOffered(method)) return taken;
    return taken.finally(this.#connection.hold()); // A person may take longer to answer it than a call may take.
  }

  #onNotification(method: string, params: unknown): void {
    if (this.#talk?.onNotification(method, params) || !this.#isTaken()) return;
    const { audit, subject, onLog } = this.#ports;
    switch (method) {
      case "notifications/message":
        onLog(logLine(params));
        return this.#tell(logEvent(params));
      case "notifications/tools/list_changed":
        return this.tools.listAgain();
      case "notifications/resources/list_changed":
        return this.#onChanged("resources");
      case "notifications/prompts/list_changed":
        return this.#onChanged("prompts");
      case "notifications/resources/updated": {
        const uri = isMap(params) ? params.uri : undefined;
        if (typeof uri === "string") return this.#tell({ type: "resource_updated", uri });
      }
    }
    audit.emit("plugin.notification", subject, { notification_type: method.slice(0, 200) });
  }

  #onChanged(list: "resources" | "prompts"): void {
    this.parts.changed(list);
    this.#tell({ type: "list_changed", list });
  }

  #tell(event: McpEvent): void {
    this.#ports.onMcpEvent?.(event);
  }
}

function placeOf(context: PluginCallContext | null): McpCallPlace | null {
  const { agent_path: agent = null, session_id: session = null } = context ?? {};
  return agent === null || session === null ? null : { agent, session };
}

function withoutConfig(params: Args): Args {
  if (!Object.hasOwn(params, "_config")) return params;
  const { _config, ...args } = params;
  return args;
}
