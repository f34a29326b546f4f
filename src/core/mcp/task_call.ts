/**
 * Tools that a server runs as tasks: the call is answered at once with a task, which is looked at until it is done. To
 * the caller it is a call like any other.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import { unlessAborted } from "../values/unless_aborted.ts";
import { errorFromWire } from "../wire/wire_errors.ts";
import type { McpConversation } from "./conversation.ts";
import { endOf, inputAnswers } from "./input_answers.ts";
import { META, MODERN_VERSIONS } from "./messages.ts";
import { MAX_ROUNDS } from "./modern_conversation.ts";
import type { McpCallOptions, McpDefinition, McpServerInfo } from "./peer.ts";
import type { ServerRequests } from "./server_requests.ts";

/** Bounds of the time between two looks, whatever the server asks for. */
const LEAST_POLL_MS = 100;
const MOST_POLL_MS = 30_000;
const USUAL_POLL_MS = 1_000;
/** Longest a task is waited for. */
const MAX_TASK_MS = 3_600_000;

/** Ports of a task's call. */
export interface TaskPorts {
  readonly talk: McpConversation;
  readonly requests: ServerRequests;
  readonly clock: Clock;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
}

/** Whether a tool must be called as a task: it says so itself, in the revisions that have it call for that. */
export function needsTask({ capabilities }: McpServerInfo, definition: McpDefinition | undefined): boolean {
  const { execution } = definition ?? {};
  if (!isMap(execution) || execution.taskSupport !== "required") return false;
  const { tasks } = capabilities as { tasks?: { requests?: { tools?: { call?: unknown } } } };
  return isMap(tasks?.requests?.tools?.call);
}

/** Whether the answer to a tool's call is a task, whose result comes later. */
export function isTask(answer: unknown, { protocol }: McpServerInfo): answer is McpDefinition {
  if (!isMap(answer)) return false;
  return MODERN_VERSIONS.includes(protocol) ? answer.resultType === "task" : isMap(answer.task);
}

/**
 * Returns the result of a task once it is done.
 *
 * @throws {HostError} the task's error, `mcp.tool_failed` when it was cancelled by the server, `mcp.malformed`,
 * `protocol.cancelled` or `protocol.timeout`; the server is asked to cancel the task then.
 */
export async function resultOfTask(answer: McpDefinition, ports: TaskPorts, options: McpCallOptions): Promise<unknown> {
  const isModern = MODERN_VERSIONS.includes(ports.talk.info.protocol);
  const call = isModern
    ? new TaskCall(answer, ports, options)
    : new LegacyTaskCall(answer.task as McpDefinition, ports, options);
  return await call.result();
}

/** A task as the server describes it. */
interface TaskState {
  readonly status: string;
  readonly message: string | null;
  readonly pollMs: number;
  readonly whole: McpDefinition;
}

/** One task that is waited for, of the newer revisions: its result and what it asks for stand in the task itself. */
class TaskCall {
  protected readonly ports: TaskPorts;
  protected readonly id: string;
  protected readonly options: McpCallOptions;
  readonly #first: McpDefinition;
  readonly #endMs: number;
  #reports = 0;
  #lastMessage: string | null = null;
  #rounds = 0;

  constructor(first: McpDefinition, ports: TaskPorts, options: McpCallOptions) {
    if (typeof first.taskId !== "string") throw malformed("a task has no taskId");
    this.id = first.taskId;
    this.#first = first;
    this.ports = ports;
    this.options = options;
    this.#endMs = ports.clock.monotonic() + MAX_TASK_MS;
  }

  async result(): Promise<unknown> {
    try {
      for (let task = readTask(this.#first);; task = await this.#next(task)) {
        this.#report(task);
        const result = await this.take(task);
        if (result !== undefined) return result;
      }
    } catch (error) {
      if (!this.ports.ended.aborted) this.ports.talk.ask("tasks/cancel", { taskId: this.id }).catch(() => {});
      throw error;
    }
  }

  /** Returns the result of a task that is done; undefined while it is not. */
  protected async take({ status, message, whole }: TaskState): Promise<unknown> {
    const { talk, requests, ended } = this.ports;
    if (status === "completed") return whole.result ?? null;
    if (status === "failed") throw errorFromWire(whole.error, "tools/call");
    if (status === "cancelled") throw cancelled(message);
    // The answer that made the task never says what is needed: the first look does.
    if (status !== "input_required" || whole.inputRequests === undefined) return undefined;
    if (++this.#rounds > MAX_ROUNDS) {
      throw new HostError("mcp.too_many_rounds", `A task asked ${this.#rounds} times for more`, {
        data: { method: "tools/call", rounds: MAX_ROUNDS },
      });
    }
    const { inputResponses = {} } = await inputAnswers(whole, requests, { ...this.options, ended });
    await talk.ask("tasks/update", { taskId: this.id, inputResponses });
    return undefined;
  }

  /** Looks at the task again, after the rest that the server wants. */
  async #next({ pollMs }: TaskState): Promise<TaskState> {
    const { clock, talk, ended } = this.ports;
    if (clock.monotonic() >= this.#endMs) {
      throw new HostError("protocol.timeout", `The task of the tool is not done after ${MAX_TASK_MS} ms`, {
        data: { method: "tools/call", timeout_ms: MAX_TASK_MS },
      });
    }
    let cancel = (): void => {};
    const rest = new Promise<void>((resolve) => cancel = clock.after(pollMs, resolve));
    const { signal } = this.options;
    const either = signal ? AbortSignal.any([signal, ended]) : ended;
    await unlessAborted(rest, either, endOf).finally(cancel);
    return readTask(await talk.ask("tasks/get", { taskId: this.id }, signal && { signal }));
  }

  #report({ message }: TaskState): void {
    if (message === null || message === this.#lastMessage) return;
    this.#lastMessage = message;
    this.options.onProgress?.({ progress: ++this.#reports, message });
  }
}

/** One task of 2025-11-25: its result is asked for apart, and while it waits for that a task may ask its client. */
class LegacyTaskCall extends TaskCall {
  protected override async take({ status }: TaskState): Promise<unknown> {
    if (!["completed", "failed", "cancelled", "input_required"].includes(status)) return undefined;
    const { signal } = this.options;
    const options = { timeoutMs: Infinity, ...(signal && { signal }) };
    return withoutTask(await this.ports.talk.ask("tasks/result", { taskId: this.id }, options));
  }
}

/** Returns a result without the id of the server's own task, which means nothing to the caller. */
function withoutTask(result: unknown): unknown {
  if (!isMap(result) || !isMap(result._meta)) return result;
  const { _meta: { [META.relatedTask]: _task, ...meta }, ...rest } = result;
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

function readTask(answer: unknown): TaskState {
  const { status, statusMessage, pollInterval, pollIntervalMs = pollInterval } = isMap(answer) ? answer : {};
  if (typeof status !== "string") throw malformed("a task has no status");
  const wantedMs = typeof pollIntervalMs === "number" ? pollIntervalMs : USUAL_POLL_MS;
  return {
    status,
    message: typeof statusMessage === "string" && statusMessage !== "" ? statusMessage.slice(0, 1_000) : null,
    pollMs: Math.min(Math.max(wantedMs, LEAST_POLL_MS), MOST_POLL_MS),
    whole: answer as McpDefinition,
  };
}

function cancelled(message: string | null): HostError {
  return new HostError("mcp.tool_failed", message ?? "The server cancelled the task of the tool");
}

function malformed(reason: string): HostError {
  return new HostError("mcp.malformed", `The server runs the tool as a malformed task: ${reason}`, {
    data: { reason },
  });
}
