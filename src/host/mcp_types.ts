/**
 * What MCP servers offer agents beyond tools, as an embedder sees it.
 *
 * @module
 */
import type { McpEvent, McpLogLevel } from "../core/mcp/peer.ts";
import type { CallAt } from "./call_types.ts";

/** A resource or a template of resources. */
export interface HostResource {
  /** The address to read it by; for a template, the URI template (RFC 6570). Unique within the agent. */
  readonly uri: string;
  /** Name of the plugin that offers it. */
  readonly plugin: string;
  /** As its server listed it, but for `uri`, where two servers have the same one. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** A prompt. */
export interface HostPrompt {
  /** Full name: `<plugin>.<prompt>`. */
  readonly name: string;
  /** The name as every client takes it: `<plugin>__<prompt>`, of `^[a-zA-Z0-9_-]{1,64}$`. */
  readonly alias: string;
  /** Name of the plugin that offers it. */
  readonly plugin: string;
  /** As its server listed it, under the server's own name. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** Where a request of an MCP server comes from. */
export interface RequestOrigin {
  /** Name of the plugin that the server is. */
  readonly plugin: string;
  /** Aborts when the server takes it back, or has ended. */
  readonly signal: AbortSignal;
  /** The server's own name for it, where it came in place of a result. */
  readonly key?: string;
}

/** Answers requests of the MCP servers that an agent's session uses. Each may be left out. */
export interface ClientSide {
  /** Answers a server's form: MCP's `elicitation/create`. Absent: the form waits at the desk of approvals. */
  elicit?(
    params: Readonly<Record<string, unknown>>,
    from: RequestOrigin,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Asks the client's model: MCP's `sampling/createMessage`. Absent: refused. */
  sample?(
    params: Readonly<Record<string, unknown>>,
    from: RequestOrigin,
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Lists the client's roots: MCP's `roots/list`. Absent: none. A server that asks outside calls gets those of the only
   * session with roots among the sessions that it serves, and none where there are several.
   */
  roots?(from: RequestOrigin): Promise<Readonly<Record<string, unknown>>>;
}

/** The parts of an agent's MCP servers beyond tools. Each call is audited, and rejects as the server answered. */
export interface HostMcp {
  /** Resources that the servers of an agent list now; servers that are down list none. */
  resources(agent: string): Promise<HostResource[]>;
  /** Templates of resources. */
  resourceTemplates(agent: string): Promise<HostResource[]>;
  /** Prompts. */
  prompts(agent: string): Promise<HostPrompt[]>;
  /** Texts that servers have for the model, each with its plugin, in the order of the agent's plugins. */
  instructions(agent: string): { readonly plugin: string; readonly text: string }[];
  /**
   * Reads a resource: `{ contents }`. Asked is the server that lists the URI, has a template for it, or has linked to it
   * in this session, and nobody else.
   *
   * @throws {HostError} `mcp.resource_unknown`; `mcp.resource_ambiguous` when several servers claim it.
   */
  readResource(uri: string, at: CallAt): Promise<Readonly<Record<string, unknown>>>;
  /** Fills in a prompt, by its name or its alias: `{ messages }`. Throws `mcp.prompt_unknown`. */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    at: CallAt,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Completes an argument of a prompt or a template: `params` and result as in `completion/complete`. */
  complete(params: Readonly<Record<string, unknown>>, at: CallAt): Promise<Readonly<Record<string, unknown>>>;
  /** Calls `listener` whenever the resource changes, until the returned function is called. */
  subscribe(uri: string, listener: () => void, at: CallAt): Promise<() => Promise<void>>;
  /** Sets the least level of log messages that a session wants; servers send the most talkative of all sessions. */
  setLogLevel(level: McpLogLevel, at: Pick<CallAt, "agent" | "session">): Promise<void>;
  /** Listens to the servers of an agent: changed lists and log messages. Returns a function that ends it. */
  on(agent: string, listener: (event: McpEvent & { readonly plugin: string }) => void): () => void;
  /**
   * Answers requests of servers that belong to a session, until the returned function is called. `agent` is the one that
   * the client uses; default: any. Servers that got roots of a client hear when it goes.
   */
  offer(session: string, client: ClientSide, options?: { readonly agent?: string }): () => void;
  /** Tells the servers that the roots of a session's client have changed; they ask for them when they want them. */
  rootsChanged(session: string): void;
}
