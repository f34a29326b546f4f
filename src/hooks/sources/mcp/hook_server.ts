/**
 * A server of an `mcp.json`, started when the first hook needs it and kept for the next.
 *
 * @module
 */
import { openCage } from "../../../core/cage/open_cage.ts";
import { asHostError, HostError, messageOf } from "../../../core/errors/host_error.ts";
import { loadClient } from "../../../core/mcp/load_sdk.ts";
import type { McpClient } from "../../../core/mcp/sdk_types.ts";
import { type McpToolResult, readToolResult } from "../../../core/mcp/tool_result.ts";
import { HOST_VERSION } from "../../../core/values/version.ts";
import { type CommandRunnerOptions, handedVariables, layGround, programCageRequest } from "../command/hook_cage.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import { filledIn } from "../../files/mcp_server.ts";
import type { McpServerEntry } from "../../files/types.ts";
import { CagedTransport } from "./caged_transport.ts";

const START_TIMEOUT_MS = 10_000;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** The engine gives a hook its time; this one is only there because the client's own would be shorter. */
const CALL_TIMEOUT_MS = 600_000;

const ENTER = `umask 022; cd -- "$1" && shift && exec "$@"`;

/** What a server is made of. */
export interface HookServerOptions extends CommandRunnerOptions {
  /** The server as its file names it. */
  readonly entry: McpServerEntry;
  /** Whose file that is. */
  readonly origin: "repository" | "user";
  /** Returns the files that were trusted, read anew. Rejects with `hook.changed` when one of them is another now. */
  readonly verify: () => Promise<readonly CoveredFile[]>;
  /** Hears a line of its stderr. */
  readonly onLog?: (line: string) => void;
}

/** One server. */
export class HookServer {
  readonly #options: HookServerOptions;
  #client: Promise<McpClient> | null = null;
  #transport: CagedTransport | null = null;
  #failures = 0;
  #restUntilMs = -Infinity;
  #isClosed = false;

  /** Starts nothing yet. */
  constructor(options: HookServerOptions) {
    this.#options = options;
  }

  /**
   * Calls a tool. A server that takes longer to start than the signal allows goes on starting for the next call.
   *
   * @throws {HostError} `mcp.server_failed`, `mcp.tool_failed`, `mcp.malformed`, `hook.changed` or `cage.*`.
   */
  async call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpToolResult> {
    const client = await unlessAborted(this.#running(), signal);
    try {
      const answer = await client.callTool({ name: tool, arguments: args }, undefined, {
        signal,
        timeout: CALL_TIMEOUT_MS,
      });
      return readToolResult(answer, tool);
    } catch (thrown) {
      if (thrown instanceof HostError) throw thrown;
      const message = `Server "${this.#options.entry.name}" cannot answer "${tool}": ${messageOf(thrown)}`;
      throw new HostError("mcp.tool_failed", message, { cause: thrown });
    }
  }

  /** Ends it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#transport?.close();
    await this.#client?.catch(() => {}); // A start under way ends too, one way or the other.
    await this.#transport?.close();
  }

  #running(): Promise<McpClient> {
    const { entry: { name }, runtime: { clock } } = this.#options;
    if (this.#client) return this.#client;
    const leftMs = this.#restUntilMs - clock.monotonic();
    if (this.#isClosed || leftMs > 0) {
      const state = this.#isClosed ? "was stopped" : `is down and is tried again in ${Math.ceil(leftMs)} ms`;
      return Promise.reject(this.#failed(`Server "${name}" ${state}`));
    }
    const starting = this.#start();
    this.#client = starting;
    starting.catch(() => this.#rest());
    return starting;
  }

  /** It did not start, or has ended: the next start waits, longer each time. */
  #rest(): void {
    this.#client = null;
    const restMs = Math.min(FIRST_REST_MS * 2 ** this.#failures++, LONGEST_REST_MS);
    this.#restUntilMs = this.#options.runtime.clock.monotonic() + restMs;
  }

  async #start(): Promise<McpClient> {
    const { runtime, verify, onLog, entry: { name } } = this.#options;
    const [Client, sealed] = await Promise.all([loadClient(), verify()]);
    const { overlays, clear: cleanUp } = await layGround({ sealed }, this.#options);
    let transport: CagedTransport | null = null;
    let isUp = false;
    try {
      const cage = await openCage(programCageRequest(this.#program(), overlays, this.#options), runtime);
      transport = this.#transport = new CagedTransport({ runtime, cage, cleanUp, ...(onLog && { onLog }) });
      const client = new Client({ name: "kaged", version: HOST_VERSION });
      client.onclose = () => {
        if (this.#transport === transport && isUp) this.#rest();
      };
      await client.connect(transport, { timeout: START_TIMEOUT_MS });
      // Before anything of the session is told to it.
      await cage.verifyMounts();
      await cage.settle();
      isUp = true;
      this.#failures = 0;
      return client;
    } catch (thrown) {
      await (transport ? transport.close() : cleanUp());
      if (thrown instanceof HostError) throw thrown;
      throw this.#failed(`Server "${name}" does not start: ${messageOf(thrown)}`, {
        cause: asHostError(thrown),
        last_stderr: transport?.lastStderr ?? [],
      });
    }
  }

  #program(): Parameters<typeof programCageRequest>[0] {
    const { entry, dir, origin } = this.#options;
    const handed = handedVariables(this.#options);
    const fill = (text: string): string => filledIn(text, dir, handed);
    const enter = ["/bin/bash", "--norc", "--noprofile", "-c", ENTER, "mcp", dir];
    const env = Object.fromEntries(Object.entries(entry.env).map(([key, value]) => [key, fill(value)]));
    return { name: "mcp", command: [...enter, ...(entry.command ?? []).map(fill)], env, origin };
  }

  #failed(message: string, { cause, ...data }: { cause?: unknown; last_stderr?: readonly string[] } = {}): HostError {
    const [last] = data.last_stderr?.slice(-1) ?? [];
    return new HostError("mcp.server_failed", message, {
      data: { server: this.#options.entry.name, ...data },
      ...(last !== undefined && { hint: `It said: ${last}` }),
      ...(cause !== undefined && { cause }),
    });
  }
}

/** Settles as `work` does, or rejects with the signal's reason when that comes first. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
