/**
 * A host as an MCP server: any MCP client can use the tools of an agent, each caged as everywhere else.
 *
 * @module
 */
import type { AuditType } from "../core/audit/events.ts";
import { asHostError, type HostError } from "../core/errors/host_error.ts";
import { type McpToolResult, toolResultIn } from "../core/mcp/tool_result.ts";
import type { CallAt, Host } from "../host/types.ts";
import { loadServerSdk } from "../core/mcp/load_sdk.ts";
import type { McpTransport } from "../core/mcp/sdk_types.ts";
import { isMap } from "../core/values/plain_data.ts";
import { HOST_VERSION } from "../core/values/version.ts";
import { askClient } from "./ask_client.ts";
import { exposedHooks, type OfferedTool, offeredTools } from "./exposed_hooks.ts";

/** A host to serve, and the client's side of it. */
export interface ServeHostOptions {
  /** It must have been started. */
  readonly host: Host;
  /** Agent whose tools are served. */
  readonly agent: string;
  /** Open session that calls are made in. */
  readonly session: string;
  /** Carries messages to and from the client. */
  readonly transport: McpTransport;
  /** Whether hooks that their hookspec exposes are served too. Default true. */
  readonly hooks?: boolean;
}

/** A host that is being served. */
export interface ServedHost {
  /** Resolves when the client is gone, or {@link close} was called. */
  readonly closed: Promise<void>;
  /** Ends it: calls that still run are cancelled. */
  close(): Promise<void>;
}

/** The protocol's answer to the name of a tool that is not there. */
const INVALID_PARAMS = -32602;

/** Events after which an agent may have other tools. */
const CHANGES: ReadonlySet<AuditType> = new Set([
  "plugin.initialized",
  "plugin.tools_listed",
  "plugin.failed",
  "plugin.disabled",
]);

/** Serves the tools of an agent. Rejects with `mcp.sdk_missing` where the SDK is not installed. */
export async function serveHost(options: ServeHostOptions): Promise<ServedHost> {
  const { host, agent, session, transport, hooks = true } = options;
  const { Server, requests, McpError } = await loadServerSdk();
  const server = new Server({ name: "kaged", version: HOST_VERSION }, {
    capabilities: { tools: { listChanged: true } },
  });

  const offered = (): OfferedTool[] => {
    const exposed = hooks ? exposedHooks(host, agent).map(({ tool }) => tool) : [];
    return [...offeredTools(host, agent), ...exposed];
  };
  const call = async (name: string, args: Readonly<Record<string, unknown>>, at: CallAt): Promise<unknown> => {
    const hook = hooks ? exposedHooks(host, agent).find(({ tool }) => tool.name === name) : undefined;
    return await (hook ? hook.call(args, at) : host.callTool(name, args, at));
  };

  server.setRequestHandler(requests.listTools, () => ({ tools: offered() }));
  server.setRequestHandler(requests.callTool, async ({ params }, { signal, _meta, sendNotification }) => {
    const token = _meta?.progressToken;
    const onProgress = token === undefined ? undefined : progressTo((progress) => {
      const params = { progressToken: token, ...progress };
      sendNotification({ method: "notifications/progress", params }).catch(() => {}); // The client has gone.
    });
    const context: string[] = [];
    const onContext = (texts: readonly string[]): void => void context.push(...texts);
    try {
      const at = { agent, session, signal, onContext, ...(onProgress && { onProgress }) };
      return toolAnswer(await call(params.name, params.arguments ?? {}, at), context);
    } catch (thrown) {
      const error = asHostError(thrown);
      if (error.code !== "tool.unknown") return errorAnswer(error, context);
      const { code, message, hint } = error;
      throw new McpError(INVALID_PARAMS, message, { code, hint });
    }
  });

  let listed = JSON.stringify(offered());
  const stopListening = host.onAudit(({ type }) => {
    if (!CHANGES.has(type)) return;
    const now = JSON.stringify(offered());
    if (now === listed) return;
    listed = now;
    server.sendToolListChanged().catch(() => {}); // The client has gone, or is not there yet.
  });

  const stopAsking = askClient(server, { host, session });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.onclose = () => {
    stopAsking();
    stopListening();
    resolve();
  };
  await server.connect(transport);
  return { closed, close: () => server.close() };
}

/** Params of `notifications/progress`, without the token. */
interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Returns a listener of plugins' reports that passes on those MCP allows: the number must grow. */
function progressTo(send: (progress: Progress) => void): (report: unknown) => void {
  let last = -Infinity;
  return (report) => {
    const { progress, total, message } = isMap(report) ? report : {};
    if (typeof progress !== "number" || !(progress > last)) return;
    last = progress;
    send({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  };
}

/** A result of `tools/call`. */
interface ToolAnswer extends Record<string, unknown> {
  content: Record<string, unknown>[];
  /** The output as data. */
  structuredContent?: unknown;
  isError?: true;
  /** Facts about a failure, for a program. */
  _meta?: Record<string, unknown>;
}

/** Key in `_meta` under which a program finds the facts about a failure. */
export const ERROR_KEY = "kaged/error";

/**
 * Returns the answer to a call. An output that has MCP's own shape, as one of an MCP server does, goes on as it is; of
 * any other the text is its JSON, and an object is data too. Text that hooks added follows as text of its own.
 */
export function toolAnswer(output: unknown, context: readonly string[] = []): ToolAnswer {
  const own = toolResultIn(output);
  if (own) return withContext(plain(own), context);
  const text = typeof output === "string" ? output : JSON.stringify(output ?? null);
  const content = [{ type: "text", text }];
  return withContext({ content, ...(isMap(output) && { structuredContent: output }) }, context);
}

/** Returns the answer to a call that failed: code, message and hint for the model, the same as facts beside them. */
export function errorAnswer({ code, message, hint, data }: HostError, context: readonly string[] = []): ToolAnswer {
  const text = `error[${code}]: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`;
  const facts = { code, message, ...(hint !== undefined && { hint }), ...(data !== undefined && { data }) };
  return withContext({ content: [{ type: "text", text }], isError: true, _meta: { [ERROR_KEY]: facts } }, context);
}

function withContext(answer: ToolAnswer, context: readonly string[]): ToolAnswer {
  return { ...answer, content: [...answer.content, ...context.map((text) => ({ type: "text", text }))] };
}

function plain({ content, ...rest }: McpToolResult): ToolAnswer {
  return { content: [...content], ...rest };
}
