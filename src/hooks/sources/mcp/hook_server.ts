/**
 * A server of an `mcp.json` as the supervisor runs it: started when the first hook needs it, then kept, restarted and
 * watched like the MCP server of any plugin.
 *
 * @module
 */
import { createAudit } from "../../../core/audit/audit.ts";
import { asHostError, HostError } from "../../../core/errors/host_error.ts";
import type { McpToolResult } from "../../../core/mcp/tool_result.ts";
import type { Exit } from "../../../core/ports/ports.ts";
import { PluginInstance } from "../../../core/supervisor/instance.ts";
import {
  type CommandRunnerOptions,
  fileManifest,
  type FileProgram,
  handedVariables,
  programCageRequest,
} from "../command/hook_cage.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import { filledIn } from "../../files/mcp_server.ts";
import type { McpServerEntry } from "../../files/types.ts";
import { sha256 } from "../../../core/values/sha256.ts";
import { endingOf } from "../../../core/values/ending_of.ts";
import { unlessAborted } from "../../../core/values/unless_aborted.ts";
import { SecretMask } from "../../../core/values/secret_mask.ts";

const ENTER = `umask 022; cd -- "$1" && shift && exec "$@"`;
/** Failures that are no fault of the server: they reach the caller as they are. */
const OWN_FAILURE = /^(hook|cage|capability)\./;

/** A server and the settings of its cage. */
export interface HookServerOptions extends CommandRunnerOptions {
  readonly entry: McpServerEntry;
  /** Whose file names the server. */
  readonly origin: "repository" | "user" | "plugin";
  /** Returns the trusted files, read anew. Rejects with `hook.changed` when one of them is another now. */
  readonly verify: () => Promise<readonly CoveredFile[]>;
  /** Receives each line that a server writes to stderr. */
  readonly onServerLog?: (server: string, line: string) => void;
}

/** One server and the instance that runs it. */
export class HookServer {
  readonly #name: string;
  readonly #requestId: () => string;
  readonly #instance: PluginInstance;
  #lastLine: string | undefined;
  #isClosed = false;

  /** Prepares the instance; the first call starts it. */
  constructor(options: HookServerOptions) {
    const { runtime, home, dir, entry: { name }, verify, onServerLog } = options;
    const program = serverProgram(options);
    const manifest = fileManifest(program, options);
    this.#name = name;
    this.#requestId = () => runtime.ids.create("req");
    this.#instance = new PluginInstance({
      host: {
        runtime,
        home,
        onLog: ({ line }) => {
          this.#lastLine = line;
          onServerLog?.(name, line);
        },
      },
      source: {
        spec: { dir },
        prepare: async () => await programCageRequest(program, { files: await verify() }, options),
        manifest: () => Promise.resolve(manifest),
        contentHash: async () => await programHash(program, await verify()),
      },
      manifest,
      audit: createAudit({ clock: runtime.clock, sinks: [] }),
      secrets: new SecretMask(), // It has no config.
      subject: { name, instance: name },
      byWireName: true,
    });
  }

  /**
   * Calls a tool. A server that takes longer to start than the signal allows goes on starting for the next call.
   *
   * @throws {HostError} `mcp.server_failed`, `mcp.tool_failed`, `mcp.malformed`, `hook.changed` or `cage.*`.
   */
  async call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpToolResult> {
    return await unlessAborted(this.#call(tool, args, signal), signal);
  }

  /** Stops the server, or its start; later calls reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#instance.stop("stopped");
  }

  async #call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpToolResult> {
    const { status } = this.#instance.info();
    if (this.#isClosed) throw this.#failed("was stopped");
    if (status === "crashed" || status === "failed") throw this.#down();
    await this.#instance.start().catch((thrown) => {
      const error = asHostError(thrown);
      throw OWN_FAILURE.test(error.code) ? error : this.#failed(`does not start: ${reasonOf(error)}`, error);
    });
    try {
      const context = { operator_id: null, project_id: null, agent_path: null, session_id: null };
      // The engine gives up a hook at the hook's own deadline.
      const options = { signal, timeoutMs: Infinity };
      const result = await this.#instance.call(tool, args, { ...context, request_id: this.#requestId() }, options);
      return result as McpToolResult;
    } catch (thrown) {
      const error = asHostError(thrown);
      if (error.code === "plugin.unavailable") throw this.#down(error);
      if (error.code.startsWith("mcp.")) throw error;
      const message = `Server "${this.#name}" cannot answer "${tool}": ${error.message}`;
      throw new HostError("mcp.tool_failed", message, { cause: error });
    }
  }

  #down(error: HostError | null = this.#instance.info().error): HostError {
    if (error && OWN_FAILURE.test(error.code)) return error;
    const again = this.#instance.info().status === "failed" ? "" : " and is tried again";
    return this.#failed(`is down${again}${error ? `: ${reasonOf(error)}` : ""}`, error);
  }

  #failed(state: string, cause: HostError | null = null): HostError {
    return new HostError("mcp.server_failed", `Server "${this.#name}" ${state}`, {
      data: { server: this.#name },
      ...(this.#lastLine !== undefined && { hint: `It said: ${this.#lastLine}` }),
      ...(cause && { cause }),
    });
  }
}

/** Returns the program of a server, with the variables in its command and environment filled in. */
function serverProgram({ entry, dir, origin, ...options }: HookServerOptions): FileProgram {
  const handed = handedVariables(options);
  const fill = (text: string): string => filledIn(text, dir, handed);
  const enter = ["/bin/bash", "--norc", "--noprofile", "-c", ENTER, "mcp", dir];
  const env = Object.fromEntries(Object.entries(entry.env).map(([key, value]) => [key, fill(value)]));
  return { name: "mcp", command: [...enter, ...(entry.command ?? []).map(fill)], env, origin, runtime: "mcp_stdio" };
}

/** Returns a hash of the program and of the files that trusting it covers. */
async function programHash({ command, env }: FileProgram, files: readonly CoveredFile[]): Promise<string> {
  const covered = files.map(({ path, sha256: digest }) => [path, digest]);
  return `sha256:${await sha256(JSON.stringify([command, env, covered]))}`;
}

/** Returns why a server failed: how its process ended, or the message of the failure. */
function reasonOf({ message, data }: HostError): string {
  const { exit_code, signal } = (data ?? {}) as { exit_code?: number | null; signal?: string | null };
  if (exit_code === undefined || signal === undefined) return message;
  return `it ended ${endingOf({ code: exit_code, signal } satisfies Exit)}`;
}
