/**
 * The protocol a plugin's process speaks, apart from the process itself: the plugin wire, or MCP.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { McpEra } from "../mcp/messages.ts";
import type { ClientOffer, McpEvent, McpPeer, McpServerInfo, McpServerRequest } from "../mcp/peer.ts";
import type { Clock } from "../ports/ports.ts";
import type { CallEnd, CallOptions, Connection, ConnectionOptions, IncomingRequest } from "../wire/connection_types.ts";
import type { PluginCallContext } from "./types.ts";

/** The content of a handshake. */
export interface HandshakeOptions {
  readonly config: Readonly<Record<string, unknown>>;
  /** Projects that activated the plugin. */
  readonly projects: readonly string[];
  /** Whether the plugin may ask for storage. */
  readonly storageAvailable: boolean;
  /** Returns the methods of the kinds that a manifest implements: a plugin may offer them without declaring them. */
  readonly kindMethods?: ((manifest: Manifest) => readonly string[]) | undefined;
  /** Runs after the answer to initialize was checked, before anything secret is sent. */
  readonly beforeConfig: () => Promise<void>;
  /** Runs when the handshake is over, in the same turn in which `initialized` is sent. */
  readonly onInitialized: () => void;
}

/** A plugin as its process described itself, held against the manifest. */
export interface PluginProfile {
  /** Methods, tools and hooks that may be called. */
  readonly callable: ReadonlySet<string>;
  /** Methods of its own that both manifest and process name, those of its kinds included. */
  readonly methods: readonly string[];
  /** Optional parts of the protocol it takes part in. */
  readonly features: readonly string[];
  /**
   * How it gets to know its projects: by notifications where it lists the feature `projects`, by requests where it lists
   * no features at all, as the protocol's document has it, and else not.
   */
  readonly projects?: "notified" | "asked";
  /** Methods the manifest names and the process does not. */
  readonly missing: readonly string[];
  /** Methods the process names and the manifest does not. */
  readonly undeclared: readonly string[];
  /** Whether there was config for it and it does not know `config.update`. */
  readonly configIgnored: boolean;
  /** Absent for a plugin that is no MCP server. */
  readonly mcp?: McpProfile;
}

/** An MCP server as it described itself. */
export interface McpProfile extends McpServerInfo {
  readonly tools: readonly McpTool[];
}

/** The part of a connection's options that the dialect decides; the rest is the process's. */
export type DialectListeners = Pick<
  ConnectionOptions,
  "onRequest" | "onNotification" | "onIrregularity" | "onClosed" | "notices"
>;

/** Ports of a dialect. */
export interface DialectPorts {
  readonly manifest: Manifest;
  readonly audit: Audit;
  readonly subject: AuditSubject;
  readonly clock: Clock;
  /** Makes the connection over the process's pipes; called once. */
  readonly connect: (listeners: DialectListeners) => Connection;
  /** Closes the process's stdin. */
  readonly endInput: () => void;
  /** Ends the process at once. */
  readonly kill: (cause: HostError) => void;
  /** Takes a line for the log. */
  readonly onLog: (line: string) => void;
  /** Takes a notification that passed the rate limit. */
  readonly onNotification: (method: string, params: unknown) => void;
  /** True calls the tools of an MCP server by the server's own names and lists none of them: hooks name them so. */
  readonly byWireName?: boolean;
  /** Answers a request of the plugin. */
  readonly onRequest: (request: IncomingRequest) => unknown;
  /** Takes the tools of a running server that has changed them. */
  readonly onTools: (tools: readonly McpTool[]) => void;
  /** How the conversation with an MCP server begins. Default: `legacy`, by `initialize`. */
  readonly mcpEra?: McpEra;
  /** Takes what an MCP server says by itself. */
  readonly onMcpEvent?: (event: McpEvent) => void;
  /** Parts of a client that are offered to an MCP server. Default: none. */
  readonly mcpOffers?: readonly ClientOffer[];
  /** Answers a request of an MCP server for a part that is offered. */
  readonly onMcpRequest?: (request: McpServerRequest) => Promise<unknown>;
}

/** One side of a conversation in one protocol. */
export interface Dialect {
  /** Shakes hands. Rejects with `initialize.*`, `mcp.*`, `plugin.config_invalid` or what ended the connection. */
  handshake(options: HandshakeOptions): Promise<PluginProfile>;
  /**
   * Calls a method or a tool, whatever its name. `ping` is answered `{ status: "ok" }` by a plugin that is well.
   * `end` is called once, as {@link Connection.call} does.
   */
  call(
    method: string,
    params: Readonly<Record<string, unknown>>,
    context: PluginCallContext | null,
    options?: CallOptions,
    end?: CallEnd,
  ): Promise<unknown>;
  /** Hands it a new config. False when it has no use for config; rejects when it refuses. */
  updateConfig(config: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Sends a system request of the plugin wire, without a context. Absent: there are none. */
  ask?(method: string, params: Readonly<Record<string, unknown>>, timeoutMs: number): Promise<unknown>;
  /** Sends a notification of the plugin wire. Throws as {@link Connection.notify} does. */
  notify(method: string, params: unknown): void;
  /** Asks it to end by itself. */
  askToEnd(): void;
  /** Resolves when no call is open. Absent: when the connection waits for no answer. */
  idle?(): Promise<void>;
  /** As {@link Connection.activity}; a call of several requests counts until its end. Absent: it never rests. */
  activity?(): number | null;
  /** The parts of an MCP server beyond its tools, once it has shaken hands; absent for any other plugin. */
  readonly peer?: McpPeer;
}
