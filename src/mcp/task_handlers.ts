/**
 * Tasks of MCP: part of the protocol in 2025-11-25, the extension `io.modelcontextprotocol/tasks` from 2026-07-28 on. Both
 * are the same jobs of the host.
 *
 * @module
 */
import type { Approval, ApprovalRequest } from "../core/approvals/types.ts";
import { HostError } from "../core/errors/host_error.ts";
import { META } from "../core/mcp/messages.ts";
import { isMap } from "../core/values/plain_data.ts";
import { unlessAborted } from "../core/values/unless_aborted.ts";
import type { Host, HostTool } from "../host/types.ts";
import { answerIn, askClient, askedForm } from "./ask_client.ts";
import { declares } from "./flight.ts";
import { legacyRequest } from "./flights.ts";
import type { Era, Json, RequestContext } from "./sdk_types.ts";
import { TASK_POLL_MS, type ToolTask, type ToolTasks } from "./tool_tasks.ts";

/** The extension's name, in capabilities of both sides. */
const EXTENSION = "io.modelcontextprotocol/tasks";

/** Milliseconds that a client may count on a task's record to be kept: a day of the thirty that jobs have. */
const TTL_MS = 86_400_000;

/** The capabilities of a server that has tasks. */
export function taskCapabilities(era: Era): Json {
  if (era === "modern") return { extensions: { [EXTENSION]: {} } };
  return { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

/**
 * Whether a call is to become a task. Legacy clients say so; for modern ones that know tasks the tool decides.
 *
 * @throws {HostError} `mcp.task_refused` when a legacy client asks for a task of a tool that can be none.
 */
export function isTask(tool: HostTool | null, params: Json, { era, capabilities }: TaskClient): boolean {
  const support = taskSupport(tool);
  if (era === "modern") return support === "declared" && knowsTasks(capabilities);
  if (!isMap(params.task)) return false;
  if (support !== "none") return true;
  throw new HostError("mcp.task_refused", `Tool "${String(params.name)}" cannot be called as a task`, {
    hint: "Call it without task",
  });
}

/** The client of one request: its era, and what it can do. */
export interface TaskClient {
  readonly era: Era;
  readonly capabilities: Json;
}

/**
 * The claim of an MCP server about its tool. Tools of other plugins can be tasks for clients that ask for one, and are
 * made none unasked.
 */
export function taskSupport(tool: HostTool | null): "declared" | "possible" | "none" {
  if (!tool) return "none";
  if (!tool.definition) return "possible";
  const { execution } = tool.definition;
  const claimed = isMap(execution) ? execution.taskSupport : undefined;
  return claimed === "optional" || claimed === "required" ? "declared" : "none";
}

/** The answer to a call that has become a task. */
export function createdTask(task: ToolTask, era: Era): Json {
  return era === "modern" ? { resultType: "task", ...modernTask(task) } : { content: [], task: legacyTask(task) };
}

type Handler = (params: Json, context: RequestContext) => Promise<Json>;

/** Returns the handlers of an era; `clientOf` says what the client of a request can do. */
export function taskHandlers(
  era: Era,
  { host, tasks, clientOf }: {
    readonly host: Host;
    readonly tasks: () => ToolTasks;
    readonly clientOf: (context: RequestContext) => TaskClient;
  },
): Record<string, Handler> {
  return era === "modern" ? modernHandlers(host, tasks, clientOf) : legacyHandlers(host, tasks, clientOf);
}

function legacyHandlers(
  host: Host,
  tasks: () => ToolTasks,
  clientOf: (context: RequestContext) => TaskClient,
): Record<string, Handler> {
  return {
    "tasks/get": async ({ taskId }) => legacyTask(await tasks().get(String(taskId))),
    "tasks/cancel": async ({ taskId }) => legacyTask(await tasks().cancel(String(taskId))),
    "tasks/list": async ({ cursor }) => {
      const page = await tasks().list(typeof cursor === "string" ? cursor : undefined);
      return { ...page, tasks: page.tasks.map(legacyTask) };
    },
    "tasks/result": async ({ taskId }, context) => {
      const { id, session } = await tasks().get(String(taskId));
      const _meta = { [META.relatedTask]: { taskId: id } };
      const { signal } = context.mcpReq;
      const { capabilities } = clientOf(context);
      // A client that waits for the result is asked what the task waits for.
      const stop = askClient({
        host,
        session,
        put({ key, method, params }, _request, options) {
          const send = legacyRequest({ key, method, params: { ...params, _meta } });
          return context.mcpReq.send(send, { ...options, signal: AbortSignal.any([options.signal, signal]) });
        },
        isTaken: (request) => isAskable(request, capabilities),
        waiting: () => tasks().asked(id),
      });
      const { outcome } = await unlessAborted(tasks().finished(id), signal).finally(stop);
      const result = resultOf(id, outcome);
      return { ...result, _meta: { ...isMap(result._meta) && result._meta, ..._meta } };
    },
  };
}

/** Whether a client that can do `capabilities` may be asked for the answer to a request. */
function isAskable(request: ApprovalRequest, capabilities: Json): boolean {
  return declares(capabilities, { method: "elicitation/create", params: askedForm(request) });
}

function modernHandlers(
  host: Host,
  tasks: () => ToolTasks,
  clientOf: (context: RequestContext) => TaskClient,
): Record<string, Handler> {
  const checked = (handler: Handler): Handler => async (params, context) => {
    if (knowsTasks(clientOf(context).capabilities)) return await handler(params, context);
    throw new HostError("mcp.capability_missing", "The client has not declared that it knows tasks", {
      data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
      hint: `Declare the extension ${EXTENSION} with each request`,
    });
  };
  return {
    "tasks/get": checked(async ({ taskId }, context) => {
      const task = await tasks().get(String(taskId));
      if (task.status !== "input_required") return { ...modernTask(task), ...task.outcome };
      const { capabilities } = clientOf(context);
      const asked = (await tasks().asked(task.id)).filter((request) => isAskable(request, capabilities));
      // For a client that can answer nothing of it the task goes on: somebody else is asked.
      if (asked.length === 0) return modernTask({ ...task, status: "working" });
      return { ...modernTask(task), inputRequests: requestsOf(asked) };
    }),
    "tasks/update": checked(async ({ taskId }, { mcpReq: { inputResponses = {} } }) => {
      const asked = await tasks().asked(String(taskId));
      for (const request of asked) {
        const given = inputResponses[request.id];
        const answer = isMap(given) ? answerIn(given, request) : null;
        if (answer) await host.approvals.answer(request.id, answer, { by: "mcp client" });
      }
      return {};
    }),
    "tasks/cancel": checked(async ({ taskId }) => {
      await tasks().cancel(String(taskId));
      return {};
    }),
  };
}

function knowsTasks({ extensions }: Json): boolean {
  return isMap(extensions) && EXTENSION in extensions;
}

function requestsOf(asked: readonly Approval[]): Json {
  return Object.fromEntries(
    asked.map((request) => [request.id, { method: "elicitation/create", params: askedForm(request) }]),
  );
}

function legacyTask(task: ToolTask): Json {
  const { taskId, ttlMs: ttl, pollIntervalMs: pollInterval, ...rest } = modernTask(task);
  return { taskId, ttl, pollInterval, ...rest };
}

function modernTask({ id, status, message, createdAt, lastUpdatedAt }: ToolTask): Json {
  return {
    taskId: id,
    status,
    createdAt,
    lastUpdatedAt,
    ttlMs: TTL_MS,
    pollIntervalMs: TASK_POLL_MS,
    ...(message !== undefined && { statusMessage: message }),
  };
}

/** The result of a task that is over. Throws the error that took its place. */
function resultOf(id: string, outcome: ToolTask["outcome"]): Json {
  if (outcome && "result" in outcome) return outcome.result;
  const { code, message, data } = outcome?.error ??
    { code: undefined, message: `Task "${id}" was cancelled`, data: {} };
  throw new HostError("mcp.task_failed", message, { data, ...(code !== undefined && { rpc: code }) });
}
