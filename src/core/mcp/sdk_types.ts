/**
 * The parts of the official MCP SDK that are used here, spelled out: the SDK is an optional peer, and its own types
 * cannot be read by every runtime.
 *
 * @module
 */

/** Carries messages between a client and a server. */
export interface McpTransport {
  /** Begins to take messages; called by whoever the transport is given to. */
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
  /** Called when it has ended, for whatever reason. */
  onclose?: (() => void) | undefined;
  /** Called when something went wrong that need not end it. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called with each message of the other side. */
  onmessage?: ((message: never) => void) | undefined;
}

/** Further parts of a request of a client. */
export interface McpRequestExtra {
  /** Aborts when the client cancels the request, or goes. */
  readonly signal: AbortSignal;
  /** Set where the client wants progress reported. */
  readonly _meta?: { readonly progressToken?: string | number };
  /** Sends a notification that belongs to the request. */
  sendNotification(notification: { method: string; params: object }): Promise<void>;
}

/** A request of a client, as handlers of the SDK get it. */
export interface McpRequest {
  readonly params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> };
}

/** A server of the SDK, its low level. */
export interface McpServer {
  /** Answers requests of one kind. */
  setRequestHandler(kind: unknown, handler: (request: McpRequest, extra: McpRequestExtra) => unknown): void;
  connect(transport: McpTransport): Promise<void>;
  /** What the client can do; undefined before its first message. */
  getClientCapabilities(): { readonly elicitation?: object } | undefined;
  /** Asks the person behind the client to fill in a form. */
  elicitInput(
    params: { message: string; requestedSchema: object },
    options: { signal: AbortSignal; timeout: number },
  ): Promise<{ readonly action: string; readonly content?: Readonly<Record<string, unknown>> }>;
  /** Asks the client to list tools again. */
  sendToolListChanged(): Promise<void>;
  close(): Promise<void>;
  /** Called when it has ended. */
  onclose?: (() => void) | undefined;
}
