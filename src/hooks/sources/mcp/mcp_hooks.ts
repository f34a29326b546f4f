/**
 * Tools of MCP servers as hooks: one registration for each entry of an `mcp.json` that the operator trusts.
 *
 * @module
 */
import { HostError } from "../../../core/errors/host_error.ts";
import { type McpToolResult, textOf } from "../../../core/mcp/tool_result.ts";
import { isMap } from "../../../core/values/plain_data.ts";
import { parseLine } from "../../../core/wire/codec.ts";
import { turnEndOf } from "../../files/event_names.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import type { LoadedHookFile } from "../../files/load_hook_files.ts";
import { mcpHookId, servedTool } from "../../files/mcp_server.ts";
import type { HookRegistration, HookResponse } from "../../engine/types.ts";
import { HookServer, type HookServerOptions } from "./hook_server.ts";

/** A file whose tools may be called. */
export interface TrustedMcpFile {
  readonly file: LoadedHookFile;
  /** Reads the trusted files anew. Rejects with `hook.changed` when one of them is another now. */
  readonly verify: () => Promise<readonly CoveredFile[]>;
}

/** Calls a tool of a server by name, and returns its text. Rejects when no trusted file names that server. */
export type CallHookTool = (
  server: string,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<string>;

/** Hooks of MCP tools, and their servers. */
export interface McpHooks {
  readonly registrations: readonly HookRegistration[];
  readonly callTool: CallHookTool;
  close(): Promise<void>;
}

/** Returns the hooks of trusted files. A server is started by the first event that needs it, and ends with `close`. */
export function mcpHooks(
  files: readonly TrustedMcpFile[],
  options: Omit<HookServerOptions, "entry" | "origin" | "verify">,
): McpHooks {
  const servers = new Map<string, HookServer>();
  const registrations = files.flatMap(({ file, verify }) => {
    const own = new Map((file.servers ?? []).map((entry) => [
      entry.name,
      new HookServer({ ...options, entry, origin: file.origin, verify }),
    ]));
    for (const [name, server] of own) servers.set(servers.has(name) ? `${file.name} ${name}` : name, server);
    return file.tools.flatMap((hook): HookRegistration[] => {
      const served = servedTool(hook.tool, file.servers);
      if (!served) return []; // `loadHookFiles` has reported it.
      const server = own.get(served.server.name)!;
      return [{
        hook: hook.hook,
        ...turnEndOf(hook),
        priority: hook.priority,
        source: { kind: "mcp", id: mcpHookId(hook, file.name), file: hook.file, line: hook.line },
        handler: async (event, { signal }) => mcpHookAnswer(await server.call(served.tool, { ...event }, signal)),
      }];
    });
  });
  return {
    registrations,
    async callTool(server, tool, args, signal) {
      const found = servers.get(server);
      if (found) return textOf(await found.call(tool, args, signal));
      throw new HostError("mcp.server_failed", `No trusted mcp.json of this repository names the server "${server}"`, {
        data: { server },
        hint: "Look at the file and trust it: kaged hooks trust",
      });
    },
    async close() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

/**
 * Returns the answer in a tool's result: data, or JSON text, with an `action` is an envelope; other text is context;
 * other data says nothing. Whether an envelope is in order is for the engine to see.
 */
export function mcpHookAnswer(result: McpToolResult): HookResponse | null {
  const { structuredContent } = result;
  if (isMap(structuredContent) && Object.hasOwn(structuredContent, "action")) return envelope(structuredContent);
  const text = textOf(result).trim();
  const data = parseLine(text);
  if (isMap(data) && Object.hasOwn(data, "action")) return envelope(data);
  const isText = text !== "" && data === undefined && structuredContent === undefined;
  return isText ? { action: "injectContext", additionalContext: [text] } : null;
}

const envelope = (data: Readonly<Record<string, unknown>>): HookResponse => data as unknown as HookResponse;
