/**
 * The parts of the official MCP SDK that serve a host over HTTP, spelled out as in `core/mcp/sdk_types.ts`.
 *
 * @module
 */
import { sdkMissing } from "../core/mcp/load_sdk.ts";
import { HOST_VERSION } from "../core/values/version.ts";
import type { Era } from "./sdk_types.ts";

/** A server of the SDK, before it is connected. */
export interface HttpMcpServer {
  // deno-lint-ignore no-explicit-any
  connect(transport: any): Promise<void>;
  close(): Promise<void>;
  /** Called when it has ended. */
  onclose?: (() => void) | undefined;
}

/** A session of the host for clients, and the servers that they talk to. */
export interface McpSeat {
  /** Makes a server; one that does not announce sends only answers. */
  server(era: Era, options?: { readonly announces?: boolean }): HttpMcpServer;
  /** Returns the schema of a tool's arguments; undefined for an unknown one. */
  inputSchema(tool: string): Readonly<Record<string, unknown>> | undefined;
  /** Listens to changes; returns a function that ends it. */
  on(listener: (event: ServerEvent) => void): () => void;
  /** Watches resources until the returned function is called; those that are unknown stay silent. */
  watch(uris: readonly string[]): () => void;
  /** Ends the session of the host with everything that runs in it. */
  close(): Promise<void>;
}

/** Keeps messages of streams until clients that lost a connection have come back for them. */
export interface EventStore {
  /** Keeps a message of a stream and returns the id it is sent under. */
  storeEvent(stream: string, message: unknown): Promise<string>;
  /** Returns the stream that an id belongs to; undefined where messages after it are lost. */
  getStreamIdForEventId(id: string): Promise<string | undefined>;
  /** Sends the messages of a stream that came after an id, and returns the stream. */
  replayEventsAfter(
    id: string,
    to: { send(id: string, message: unknown): Promise<void> },
  ): Promise<string>;
}

/** The transport of one session of the older revisions. */
export interface SessionTransport {
  handleRequest(request: Request, options: { readonly parsedBody?: unknown }): Promise<Response>;
  close(): Promise<void>;
}

/** A change that open `subscriptions/listen` streams may have asked for. */
export type ServerEvent =
  | { readonly kind: "tools_list_changed" | "prompts_list_changed" | "resources_list_changed" }
  | { readonly kind: "resource_updated"; readonly uri: string };

/** The handler of the newer revisions: each request makes a server of its own. */
export interface ModernHandler {
  fetch(request: Request, options: { readonly parsedBody?: unknown }): Promise<Response>;
  readonly bus: { publish(event: ServerEvent): void };
  /** Ends calls that still run, and every stream. */
  close(): Promise<void>;
}

/** A server of the SDK's upper level, which has one of the lower level. */
interface UpperServer {
  server: HttpMcpServer;
  toolInputSchemaJson: McpSeat["inputSchema"];
}

/** The parts of the SDK that HTTP takes. */
export interface HttpSdk {
  readonly McpServer: new (info: { name: string; version: string }) => UpperServer;
  readonly createMcpHandler: (
    factory: () => Promise<UpperServer>,
    options: { legacy: "reject"; maxSubscriptions: number },
  ) => ModernHandler;
  /** Whether a request is one of the older revisions. */
  readonly isLegacyRequest: (request: Request, parsedBody?: unknown) => Promise<boolean>;
  readonly isInitializeRequest: (message: unknown) => boolean;
  readonly WebStandardStreamableHTTPServerTransport: new (options: {
    sessionIdGenerator: () => string;
    onsessioninitialized: (id: string) => void;
    eventStore: EventStore;
    retryInterval: number;
  }) => SessionTransport;
}

/** Loads them. Rejects with `mcp.sdk_missing`. */
export async function loadHttpSdk(): Promise<HttpSdk> {
  return await import("@modelcontextprotocol/server").catch(sdkMissing()) as unknown as HttpSdk;
}

/**
 * Returns a server whose calls have the `Mcp-Param-…` headers that the schema of the tool asks for: the SDK checks them
 * for servers of its upper level alone.
 */
export function headerChecked(sdk: HttpSdk, seat: McpSeat): UpperServer {
  const upper = new sdk.McpServer({ name: "kaged", version: HOST_VERSION });
  upper.server = seat.server("modern", { announces: false });
  upper.toolInputSchemaJson = (tool) => seat.inputSchema(tool);
  return upper;
}
