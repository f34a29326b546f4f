/**
 * One server of the SDK with every handler: what a client asks becomes calls of the host.
 *
 * @module
 */
import { asHostError, HostError } from "../core/errors/host_error.ts";
import { MCP_LOG_LEVELS, type McpLogLevel } from "../core/mcp/peer.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { HostMcp } from "../host/mcp_types.ts";
import type { CallAt } from "../host/types.ts";
import type { ClientLogs } from "./client_logs.ts";
import type { Caller, CallFacts, Flight } from "./flight.ts";
import type { Flights } from "./flights.ts";
import { offeredNames } from "./offered_names.ts";
import { foundTool, type OfferedBy, offeredTools } from "./offered_tools.ts";
import type { Era, Json, McpServer, RequestContext, ServerSdk } from "./sdk_types.ts";
import { createdTask, isTask, type TaskClient, taskHandlers } from "./task_handlers.ts";
import { errorAnswer, toolAnswer } from "./tool_answer.ts";
import { type RunTask, type ToolTasks, toolTasks } from "./tool_tasks.ts";
import type { WatchedResources } from "./watched_resources.ts";

/** Everything that handlers work with. */
export interface Serving {
  readonly sdk: ServerSdk;
  readonly offered: OfferedBy;
  /** Parts beyond tools; null for an agent without MCP servers. */
  readonly mcp: HostMcp | null;
  readonly session: string;
  readonly flights: Flights;
  readonly logs: ClientLogs;
  readonly watched: WatchedResources;
  readonly callOptions: CallOptions | null;
}

/** Returns how a client's call of a tool is made, by the `_meta` of its request; the client gets progress all the same. */
export type CallOptions = (tool: string, meta: Json) => Pick<CallAt, "onAsk" | "onProgress">;

/** Key of `_meta` under which a modern client says with each request what it can do. */
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** A Standard Schema that takes params as they are. */
const ANY_PARAMS = { "~standard": { version: 1, vendor: "kaged", validate: (value: unknown) => ({ value }) } };

type Handler = (params: Json, context: RequestContext) => Promise<Json> | Json;

/** Adds the handlers of an era to a server. */
export function addHandlers(server: McpServer, era: Era, serving: Serving): void {
  const { mcp } = serving;
  const fly = flyer(server, era, serving);
  const checked = (handler: Handler) => async (params: Json, context: RequestContext): Promise<Json> => {
    try {
      return await handler(params, context);
    } catch (thrown) {
      throw protocolError(serving.sdk, thrown, { params, era });
    }
  };
  const handle = (method: string, handler: Handler): void => {
    const answer = checked(handler);
    const isExtension = era === "modern" && method.startsWith("tasks/");
    if (isExtension) server.setRequestHandler(method, { params: ANY_PARAMS }, answer);
    else server.setRequestHandler(method, ({ params = {} }, context) => answer(params, context));
  };
  const clientOf = (context: RequestContext): TaskClient => clientOfRequest(server, era, context);
  const { host, agent } = serving.offered;
  const isOfServer = (tool: string): boolean => {
    return host.tools(agent).some(({ name, definition }) => name === tool && definition !== undefined);
  };
  const tasks = (): ToolTasks => toolTasks(host, agent, runTask(agent, isOfServer));
  const tools = {
    ...toolHandlers(server, era, serving, { fly, clientOf, tasks }),
    ...taskHandlers(era, { host, tasks, clientOf }),
  };
  for (const [method, handler] of Object.entries(tools)) handle(method, handler);
  if (!mcp) return;
  const handlers = { ...resourceHandlers(mcp, serving, fly), ...promptHandlers(mcp, serving, fly) };
  for (const [method, handler] of Object.entries(handlers)) handle(method, handler);
  if (era === "modern") return; // Modern clients subscribe and set levels without a request of their own.
  for (const [method, handler] of Object.entries(legacyHandlers(serving))) handle(method, handler);
}

/** Makes one call of a client in flight. */
type Fly = (
  context: RequestContext,
  facts: CallFacts,
  work: (at: CallAt, flight: Flight) => Promise<Json>,
) => Promise<Json>;

/** Modern clients say with each request what they can do, legacy ones once. */
function clientOfRequest(server: McpServer, era: Era, { mcpReq: { envelope } }: RequestContext): TaskClient {
  const declared = era === "modern" ? envelope?.[CAPABILITIES_KEY] : server.getClientCapabilities();
  return { era, capabilities: isMap(declared) ? declared : {} };
}

function flyer(server: McpServer, era: Era, { offered: { agent }, session, flights, logs }: Serving): Fly {
  return async (context, facts, work) => {
    const caller: Caller = { ...clientOfRequest(server, era, context), context };
    await logs.prepare(context.mcpReq.envelope);
    return await flights.follow(caller, facts, (flight) => {
      const onProgress = progressTo(flight);
      return work({ agent, session, signal: flight.signal, onProgress }, flight);
    });
  };
}

/**
 * Makes the call of a task: an answer where the tool itself fails, an error where the request is wrong, or where the
 * server of the tool is.
 */
function runTask(agent: string, isOfServer: (tool: string) => boolean): RunTask {
  return async (name, args, { session, signal }, onProgress) => {
    const added: string[] = [];
    const onContext = (texts: readonly string[]): void => void added.push(...texts);
    try {
      const { output } = await session.callTool(name, args, { agent, signal, onProgress, onContext });
      return toolAnswer(output, added);
    } catch (thrown) {
      const error = asHostError(thrown);
      const isServerError = /^(plugin|protocol)\./u.test(error.code) && isOfServer(name);
      if (signal.aborted || error.code === "tool.unknown" || isServerError) throw error;
      return errorAnswer(error, added);
    }
  };
}

function toolHandlers(
  server: McpServer,
  era: Era,
  { offered, callOptions }: Serving,
  { fly, clientOf, tasks }: {
    readonly fly: Fly;
    readonly clientOf: (context: RequestContext) => TaskClient;
    readonly tasks: () => ToolTasks;
  },
): Record<string, Handler> {
  return {
    "tools/list": ({ cursor }) => page(cursor, { tools: offeredTools(offered) }),
    "tools/call": async (params, context) => {
      const { tool, call } = foundTool(offered, String(params.name));
      const client = clientOf(context);
      if (tool && isTask(tool, params, client)) {
        return createdTask(await tasks().start(tool.name, argumentsIn(params)), client.era);
      }
      const facts = factsOf("tools/call", params, tool?.plugin ?? null, tool?.name ?? null);
      return fly(context, facts, async (at) => {
        const added: string[] = [];
        const onContext = (texts: readonly string[]): void => void added.push(...texts);
        const { onProgress, ...own } = callOptions?.(String(params.name), context.mcpReq._meta ?? {}) ?? {};
        const report = (progress: unknown): void => {
          at.onProgress?.(progress);
          onProgress?.(progress);
        };
        try {
          const how = { ...at, ...own, onContext, onProgress: report };
          const answer = toolAnswer(await call(argumentsIn(params), how), added);
          const outputSchema = tool?.definition?.outputSchema;
          return server.projectCallToolResult(answer, isMap(outputSchema) ? outputSchema : undefined);
        } catch (thrown) {
          const error = asHostError(thrown);
          const isMissing = era === "modern" && missingPart(error) !== null;
          if (error.code === "tool.unknown" || error.rpc === URL_ELICITATION_REQUIRED || isMissing) throw error;
          return errorAnswer(error, added);
        }
      });
    },
  };
}

function resourceHandlers(mcp: HostMcp, { offered: { agent } }: Serving, fly: Fly): Record<string, Handler> {
  return {
    "resources/list": async ({ cursor }) => {
      const all = await mcp.resources(agent);
      return page(cursor, { resources: all.map(({ uri, definition }) => ({ ...definition, uri })) });
    },
    "resources/templates/list": async ({ cursor }) => {
      const all = await mcp.resourceTemplates(agent);
      const resourceTemplates = all.map(({ uri: uriTemplate, definition }) => ({ ...definition, uriTemplate }));
      return page(cursor, { resourceTemplates });
    },
    "resources/read": (params, context) =>
      fly(context, factsOf("resources/read", params), (at) => mcp.readResource(String(params.uri), at)),
  };
}

function promptHandlers(mcp: HostMcp, { offered, session }: Serving, fly: Fly): Record<string, Handler> {
  const { agent, names } = offered;
  const find = async (name: string) => {
    const all = await mcp.prompts(agent);
    return offeredNames(all, names).get(name) ?? all.find((one) => one.alias === name || one.name === name);
  };
  return {
    "prompts/list": async ({ cursor }) => {
      const all = [...offeredNames(await mcp.prompts(agent), names)];
      return page(cursor, { prompts: all.map(([name, { definition }]) => ({ ...definition, name })) });
    },
    "prompts/get": async (params, context) => {
      const given = String(params.name);
      const prompt = await find(given);
      const args = argumentsIn(params) as Record<string, string>;
      return await fly(
        context,
        factsOf("prompts/get", params, prompt?.plugin),
        (at) => mcp.getPrompt(prompt?.name ?? given, args, at),
      );
    },
    "completion/complete": async ({ _meta, ...params }, { mcpReq: { signal } }) => {
      const ref = isMap(params.ref) ? params.ref : {};
      const prompt = typeof ref.name === "string" ? await find(ref.name) : undefined;
      const named = prompt ? { ...params, ref: { ...ref, name: prompt.name } } : params;
      return await mcp.complete(named, { agent, session, signal });
    },
  };
}

function legacyHandlers({ watched, logs }: Serving): Record<string, Handler> {
  return {
    "resources/subscribe": async ({ uri }) => {
      await watched.add(String(uri));
      return {};
    },
    "resources/unsubscribe": async ({ uri }) => {
      await watched.remove(String(uri));
      return {};
    },
    "logging/setLevel": async ({ level }) => {
      await logs.set(MCP_LOG_LEVELS.find((one) => one === level) as McpLogLevel);
      return {};
    },
  };
}

function factsOf(
  method: string,
  { _meta, ...params }: Json,
  plugin: string | null = null,
  tool: string | null = null,
): CallFacts {
  return { method, params, plugin, tool };
}

function argumentsIn({ arguments: given }: Json): Record<string, unknown> {
  return isMap(given) ? given : {};
}

/** A list goes out whole: many clients never ask for a second page. */
function page(cursor: unknown, list: Json): Json {
  if (cursor === undefined) return list;
  throw new HostError("mcp.cursor_unknown", "The list has no such page", { hint: "Ask without a cursor" });
}

/** Returns a listener of plugins' reports that passes on those MCP allows: the number must grow. */
function progressTo(flight: Flight): (report: unknown) => void {
  let last = -Infinity;
  return (report) => {
    const progressToken = flight.caller.context.mcpReq._meta?.progressToken;
    const { progress, total, message } = isMap(report) ? report : {};
    if (progressToken === undefined || typeof progress !== "number" || !(progress > last)) return;
    last = progress;
    flight.notify("notifications/progress", {
      progressToken,
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  };
}

/** The protocol's answer to a name of a tool, a prompt or a resource that is not there, but for legacy resources. */
const INVALID_PARAMS = -32602;

/** Legacy revisions: there is no such resource. */
const RESOURCE_NOT_FOUND = -32002;

/** A server wants the person to open addresses before the call is made again; the data lists them. */
const URL_ELICITATION_REQUIRED = -32042;

/** Modern revisions: the client did not declare a capability that the call takes. */
const CAPABILITY_MISSING = -32021;

/** The part of a client that a server needed in vain; null where something else went wrong. */
function missingPart({ code, data }: HostError): string | null {
  return code === "mcp.request_refused" && isMap(data) && typeof data.missing === "string" ? data.missing : null;
}

const UNKNOWN = ["tool.unknown", "mcp.prompt_unknown", "mcp.resource_unknown", "mcp.resource_ambiguous"];

/** Returns an error of the protocol: number, message, and the facts for a program. */
function protocolError(
  { ProtocolError }: ServerSdk,
  thrown: unknown,
  { params: { uri }, era }: { readonly params: Json; readonly era: Era },
): Error {
  if (thrown instanceof ProtocolError) return thrown;
  const error = asHostError(thrown);
  const { code, rpc, message, hint, data } = error;
  const part = era === "modern" ? missingPart(error) : null;
  if (part !== null) return new ProtocolError(CAPABILITY_MISSING, message, { requiredCapabilities: { [part]: {} } });
  const isMissing = code === "mcp.resource_unknown" || rpc === RESOURCE_NOT_FOUND;
  const number = UNKNOWN.includes(code) || isMissing ? INVALID_PARAMS : rpc;
  const isOurs = isMap(data) && code !== "tool.unknown";
  const isWhole = code === "mcp.capability_missing" || rpc === URL_ELICITATION_REQUIRED && isMap(data);
  const facts = isMissing ? { uri } : isWhole ? data as Json : isOurs ? { data } : {};
  return new ProtocolError(number, message, { code, ...(hint !== undefined && { hint }), ...facts });
}

/**
 * Returns the message that a client gets: the SDK puts content into the answer that begins a task, and sends legacy
 * clients the number of newer revisions for a missing resource.
 */
export function sentMessage(message: unknown, era: Era): unknown {
  const result = isMap(message) ? message.result : undefined;
  if (isMap(result) && (era === "legacy" ? isMap(result.task) : result.resultType === "task") && "content" in result) {
    const { content: _, ...created } = result;
    return { ...message as Json, result: created };
  }
  if (era === "modern") return message;
  const error = isMap(message) ? message.error : undefined;
  if (!isMap(error) || error.code !== INVALID_PARAMS || !isMap(error.data) || !("uri" in error.data)) return message;
  return { ...message as Json, error: { ...error, code: RESOURCE_NOT_FOUND } };
}
