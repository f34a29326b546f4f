/**
 * The conversation with one MCP server beyond its tools: what it offers, what is asked of it, and what it says by itself.
 *
 * @module
 */
import type { CallOptions } from "../wire/connection_types.ts";

/** Levels of log messages, the most talkative first. */
export const MCP_LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

/** How grave a log message is. */
export type McpLogLevel = (typeof MCP_LOG_LEVELS)[number];

/** A part of an MCP server's offer, as the server listed it. */
export type McpDefinition = Readonly<Record<string, unknown>>;

/** A server as it described itself, in its answer to `initialize` or `server/discover`. */
export interface McpServerInfo {
  /** Revision of the protocol that is spoken with it, such as `2026-07-28`. */
  readonly protocol: string;
  /** Its name, cut to 200 characters. */
  readonly name: string;
  /** Its version, cut to 200 characters. */
  readonly version: string;
  /** `serverInfo` whole: title, icons, website. */
  readonly definition: McpDefinition;
  /** Text for the model, at most 64 KiB; null when it gave none. */
  readonly instructions: string | null;
  /** `capabilities` as it sent them. */
  readonly capabilities: McpDefinition;
}

/** Agent and session that a call is made for. */
export interface McpCallPlace {
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
  /** Session id. */
  readonly session: string;
}

/** Settings of one call of a server. */
export interface McpCallOptions extends CallOptions {
  /** Passed on with requests that the server makes while it works on the call. Default: the call belongs to nobody. */
  readonly at?: McpCallPlace | undefined;
}

/** A resource that a server listed. */
export interface McpResource {
  /** The address to read it by. */
  readonly uri: string;
  /** As the server listed it. */
  readonly definition: McpDefinition;
}

/** A template of resources that a server listed. */
export interface McpResourceTemplate {
  /** The addresses of its resources (RFC 6570). */
  readonly uriTemplate: string;
  /** As the server listed it. */
  readonly definition: McpDefinition;
}

/** A prompt that a server listed, under the server's own name. */
export interface McpPrompt {
  /** The server's own name for it. */
  readonly name: string;
  /** As the server listed it. */
  readonly definition: McpDefinition;
}

/**
 * A running MCP server. Lists are read page by page within bounds, and kept until the server says that they changed; those
 * of a server that reports no changes are kept for as long as it allows, or for a moment. Every call rejects with `mcp.not_offered` where the server has no such part, with `mcp.malformed`, or with the server's error.
 */
export interface McpPeer {
  /** The server as it described itself. */
  readonly info: McpServerInfo;
  /** Lists its resources. */
  resources(): Promise<readonly McpResource[]>;
  /** Lists its templates of resources. */
  templates(): Promise<readonly McpResourceTemplate[]>;
  /** Lists its prompts. */
  prompts(): Promise<readonly McpPrompt[]>;
  /** Answers `{ contents }` as the server sent it. */
  readResource(uri: string, options?: McpCallOptions): Promise<McpDefinition>;
  /** Answers `{ messages }` as the server sent it. */
  getPrompt(name: string, args: Readonly<Record<string, string>>, options?: McpCallOptions): Promise<McpDefinition>;
  /** Answers `{ completion }`; `params` are those of `completion/complete`. */
  complete(params: McpDefinition, options?: McpCallOptions): Promise<McpDefinition>;
  /** Has the server report changes of a resource, as `resource_updated` events, until {@link unsubscribe}. */
  subscribe(uri: string): Promise<void>;
  /** Ends {@link subscribe}. */
  unsubscribe(uri: string): Promise<void>;
  /** Sets the least level of log messages that it sends. */
  setLogLevel(level: McpLogLevel): Promise<void>;
  /** Says that the client's roots have changed, where the server's revision knows such news and roots are offered. */
  rootsChanged(): void;
}

/** Something a server said by itself. */
export type McpEvent =
  | { readonly type: "list_changed"; readonly list: "tools" | "resources" | "prompts" }
  | { readonly type: "resource_updated"; readonly uri: string }
  | { readonly type: "log"; readonly level: McpLogLevel; readonly logger?: string; readonly data: unknown };

/** Parts of a client that a host may offer to servers; none is offered unless the embedder says so. */
export const CLIENT_OFFERS = ["elicitation", "sampling", "roots"] as const;

/** A part of a client that a host offers to servers. */
export type ClientOffer = (typeof CLIENT_OFFERS)[number];

/** A request of a server to its client: of its own in older revisions, in place of a result in newer ones. */
export interface McpServerRequest {
  /** The protocol's name for it. */
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  /** As the server sent them. */
  readonly params: McpDefinition;
  /** The server's own name for it, where it came in place of a result. */
  readonly key?: string;
  /** Agent and session of the calls that it serves just now; null when there is none, or they are of several sessions. */
  readonly at: McpCallPlace | null;
  /** Sessions with open calls, whichever of them it serves. Absent: that of `at`. */
  readonly sessions?: readonly string[];
  /** Aborts when the server takes it back, or has ended. */
  readonly signal: AbortSignal;
}
