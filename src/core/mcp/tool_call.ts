/**
 * One call of an MCP server's tool: its answer is read in the turn in which it comes, unless it is a task.
 *
 * @module
 */
import type { CallEnd } from "../wire/connection_types.ts";
import type { McpCallOptions } from "./peer.ts";
import { isTask, resultOfTask, type TaskPorts } from "./task_call.ts";
import { type McpToolResult, readToolResult } from "./tool_result.ts";

export class ToolCall implements CallEnd {
  readonly #tool: string;
  readonly #ports: TaskPorts;
  readonly #options: McpCallOptions;
  readonly #done: () => void;
  readonly #end: CallEnd | undefined;

  /** `done` is called when the call is over, just before `end`. */
  constructor(
    tool: string,
    ports: TaskPorts,
    options: McpCallOptions,
    { done, end }: { readonly done: () => void; readonly end: CallEnd | undefined },
  ) {
    this.#tool = tool;
    this.#ports = ports;
    this.#options = options;
    this.#done = done;
    this.#end = end;
  }

  ok(answer: unknown): unknown {
    if (!isTask(answer, this.#ports.talk.info)) return this.#read(answer);
    return resultOfTask(answer, this.#ports, this.#options).then(
      (result) => this.#read(result),
      (error) => this.failed(error),
    );
  }

  failed(error: unknown): unknown {
    this.#done();
    if (this.#end !== undefined) return this.#end.failed(error);
    throw error;
  }

  #read(answer: unknown): unknown {
    let result: McpToolResult;
    try {
      result = readToolResult(answer, this.#tool);
    } catch (error) {
      return this.failed(error);
    }
    this.#done();
    return this.#end === undefined ? result : this.#end.ok(result);
  }
}
