/**
 * Tools of MCP servers as hooks: one registration for each entry of an `mcp.json` that the operator trusts.
 *
 * @module
 */
import type { CommandRunnerOptions } from "../command/hook_cage.ts";
import { turnEndOf } from "../../files/event_names.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import type { LoadedHookFile } from "../../files/load_hook_files.ts";
import { mcpHookId, servedTool } from "../../files/mcp_server.ts";
import type { HookRegistration } from "../../engine/types.ts";
import { mcpHookAnswer } from "./hook_answer.ts";
import { HookServer } from "./hook_server.ts";

/** A file whose tools may be called. */
export interface TrustedMcpFile {
  readonly file: LoadedHookFile;
  /** Reads the trusted files anew. Rejects with `hook.changed` when one of them is another now. */
  readonly verify: () => Promise<readonly CoveredFile[]>;
}

/** How servers run, and the listener to their logs. */
export interface McpHookOptions extends CommandRunnerOptions {
  /** Receives each line that a server writes to stderr. */
  readonly onLog?: (server: string, line: string) => void;
}

/** Hooks of MCP tools, and their servers. */
export interface McpHooks {
  readonly registrations: readonly HookRegistration[];
  close(): Promise<void>;
}

/** Returns the hooks of trusted files. A server is started by the first event that needs it, and ends with `close`. */
export function mcpHooks(files: readonly TrustedMcpFile[], { onLog, ...options }: McpHookOptions): McpHooks {
  const servers: HookServer[] = [];
  const registrations = files.flatMap(({ file, verify }) => {
    const running = new Map<string, HookServer>();
    const serverOf = (entry: NonNullable<LoadedHookFile["servers"]>[number]): HookServer => {
      const known = running.get(entry.name);
      if (known) return known;
      const log = onLog && { onLog: (line: string) => onLog(entry.name, line) };
      const server = new HookServer({ ...options, entry, origin: file.origin, verify, ...log });
      running.set(entry.name, server);
      servers.push(server);
      return server;
    };
    return file.tools.flatMap((hook): HookRegistration[] => {
      const served = servedTool(hook.tool, file.servers);
      if (!served) return []; // `loadHookFiles` has reported it.
      const server = serverOf(served.server);
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
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
