/**
 * The parts of the official MCP SDK 2 that a server is made of, spelled out: the SDK is an optional peer, and its own
 * types cannot be read by every runtime.
 *
 * @module
 */
import type { McpTransport } from "../core/mcp/sdk_types.ts";

/** Revisions with a handshake (up to 2025-11-25) are the legacy era; from 2026-07-28 on is the modern one. */
export type Era = "legacy" | "modern";

/** A JSON object of the wire. */
export type Json = Readonly<Record<string, unknown>>;

/** A request of a client in the hands of a handler. */
export interface RequestContext {
  readonly mcpReq: {
    readonly id: string | number;
    /** `_meta` of the request without the keys of the protocol. */
    readonly _meta?: Json;
    /** Version, capabilities and log level that a modern client sends with each request. */
    readonly envelope?: Json;
    /** Answers to an `input_required` result, by the keys of its questions; malformed ones are left out. */
    readonly inputResponses?: Json;
    /** The state of the `input_required` result that this request answers, as the client sent it. */
    requestState(): unknown;
    /** Aborts when the client cancels the request, or goes. */
    readonly signal: AbortSignal;
    /** Asks the client something that belongs to the request; legacy only. */
    send(request: { method: string; params: Json }, options: AskOptions): Promise<Json>;
    /** Sends a notification that belongs to the request. */
    notify(notification: { method: string; params: object }): Promise<void>;
  };
}

/** Options of a request to the client. */
export interface AskOptions {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
}

/** A server of the SDK, its low level: schemas pass through it unchanged. */
export interface McpServer {
  /** Answers requests of one method. */
  setRequestHandler(method: string, handler: (request: { params?: Json }, context: RequestContext) => unknown): void;
  /** Answers requests of a method that an extension has. */
  setRequestHandler(
    method: string,
    schemas: { readonly params: object },
    handler: (params: Json, context: RequestContext) => unknown,
  ): void;
  connect(transport: McpTransport): Promise<void>;
  /** What a legacy client said it can do; undefined before its first message. */
  getClientCapabilities(): Json | undefined;
  /** Called when a legacy client has finished the handshake. */
  oninitialized?: (() => void) | undefined;
  /** Hears notifications of one method. */
  setNotificationHandler(method: string, handler: () => void): void;
  /** Asks a legacy client for its roots, outside any request of it. */
  listRoots(params: Json, options: AskOptions): Promise<Json>;
  /** Sends a notification that belongs to no request. */
  notification(notification: { method: string; params?: Json }): Promise<void>;
  /** Fits the result of a tool to the revision: structured content that is no object is wrapped for legacy clients. */
  projectCallToolResult(result: Json, outputSchema?: Json): Json;
  close(): Promise<void>;
  /** Called when its connection has ended. */
  onclose?: (() => void) | undefined;
}

/** Something that changed, in the words of the SDK's event bus. */
export type ServerEvent =
  | { readonly kind: "tools_list_changed" | "resources_list_changed" | "prompts_list_changed" }
  | { readonly kind: "resource_updated"; readonly uri: string };

/** The parts of the SDK that are loaded. */
export interface ServerSdk {
  readonly Server: new (info: Json, options: object) => McpServer;
  /** An error that reaches the client as one of the protocol. */
  readonly ProtocolError: new (code: number, message: string, data?: unknown) => Error;
}

/** Serves one connection of either era; the factory makes the server once the first message has told which. */
export type ServeConnection = (
  factory: (context: { readonly era: Era }) => McpServer,
  options: { readonly transport: McpTransport },
) => { close(): Promise<void> };
