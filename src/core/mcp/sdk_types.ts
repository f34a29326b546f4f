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
  /** Sends a message to the other side. */
  send(message: unknown, options?: object): Promise<void>;
  /** Ends it. */
  close(): Promise<void>;
  /** Called when it has ended, for whatever reason. */
  onclose?: (() => void) | undefined;
  /** Called when something went wrong that need not end it. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called with each message of the other side. */
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}
