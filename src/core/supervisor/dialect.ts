/**
 * The protocol a plugin's process speaks, apart from the process itself: the plugin wire, or MCP.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { Clock } from "../ports/ports.ts";
import type { CallOptions, Connection, ConnectionOptions, IncomingRequest } from "../wire/connection_types.ts";
import type { PluginCallContext } from "./types.ts";

/** What a handshake is about. */
export interface HandshakeOptions {
  /** Merged config. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Projects that activated the plugin. */
  readonly projects: readonly string[];
  /** Whether storage stands ready. */
  readonly storageAvailable: boolean;
  /** Runs after the answer to initialize was checked, before anything secret is sent. */
  readonly beforeConfig: () => Promise<void>;
  /** Runs when the handshake is over, in the same turn in which the plugin is told. */
  readonly onInitialized: () => void;
}

/** What the plugin told of itself. */
export interface PluginProfile {
  /** Methods, tools and hooks that may be called. */
  readonly callable: ReadonlySet<string>;
  /** Methods of its own that both manifest and process name. */
  readonly methods: readonly string[];
  /** Optional parts of the protocol it takes part in. */
  readonly features: readonly string[];
  /** Methods the manifest names and the process does not. */
  readonly missing: readonly string[];
  /** Methods the process names and the manifest does not. */
  readonly undeclared: readonly string[];
  /** Whether it was given config and does not know what config is. */
  readonly configIgnored: boolean;
  /** What an MCP server told of itself; absent for any other plugin. */
  readonly mcp?: McpProfile;
}

/** What an MCP server told of itself. */
export interface McpProfile {
  /** Version of the protocol it speaks. */
  readonly protocol: string;
  /** Its own name. */
  readonly name: string;
  /** Its own version. */
  readonly version: string;
  /** Its tools. */
  readonly tools: readonly McpTool[];
}

/** What a dialect hears of its connection; the rest of the connection is the process's. */
export type DialectListeners = Pick<
  ConnectionOptions,
  "onRequest" | "onNotification" | "onIrregularity" | "notices"
>;

/** What a dialect works with. */
export interface DialectPorts {
  /** The plugin's checked manifest. */
  readonly manifest: Manifest;
  /** Where audit events go. */
  readonly audit: Audit;
  /** Whom they are about. */
  readonly subject: AuditSubject;
  /** Time. */
  readonly clock: Clock;
  /** Makes the connection over the process's pipes; called once. */
  readonly connect: (listeners: DialectListeners) => Connection;
  /** Closes the process's stdin. */
  readonly endInput: () => void;
  /** Ends the process at once. */
  readonly kill: (cause: HostError) => void;
  /** Hears a line for the log. */
  readonly onLog: (line: string) => void;
  /** Hears a notification that passed the rate limit. */
  readonly onNotification: (method: string, params: unknown) => void;
  /** True calls the tools of an MCP server by the server's own names and lists none of them: hooks name them so. */
  readonly byWireName?: boolean;
  /** Answers a request of the plugin. */
  readonly onRequest: (request: IncomingRequest) => unknown;
  /** Hears that a running plugin has other tools now. */
  readonly onTools: (tools: readonly McpTool[]) => void;
}

/** How one process is spoken to. */
export interface Dialect {
  /** Shakes hands. Rejects with `initialize.*`, `mcp.*`, `plugin.config_invalid` or what ended the connection. */
  handshake(options: HandshakeOptions): Promise<PluginProfile>;
  /** Calls a method or a tool, whatever its name. `ping` is answered `{ status: "ok" }` by a plugin that is well. */
  call(
    method: string,
    params: Readonly<Record<string, unknown>>,
    context: PluginCallContext | null,
    options?: CallOptions,
  ): Promise<unknown>;
  /** Hands it a new config. False when it has no use for config; rejects when it refuses. */
  updateConfig(config: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Sends a notification of the plugin wire. Throws as {@link Connection.notify} does. */
  notify(method: string, params: unknown): void;
  /** Asks it to end by itself. */
  askToEnd(): void;
}
