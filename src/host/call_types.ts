/**
 * How calls are made.
 *
 * @module
 */

import type { OnAsk } from "../core/approvals/desk_types.ts";

/** Options of a tool call. */
export interface ToolCallOptions {
  /** Agent path. Default `primary`. */
  readonly agent?: string;
  /** Ends the call, and the wait for handlers of hooks, with `protocol.cancelled`. */
  readonly signal?: AbortSignal;
  /** Default: the host's own limit for calls. Handlers of hooks have their own. */
  readonly timeoutMs?: number;
  /** Called with each progress report of the plugin; each report starts the time anew. */
  readonly onProgress?: (progress: unknown) => void;
  /** Called with text that handlers added for the next model call, also when the call then fails. */
  readonly onContext?: (texts: readonly string[]) => void;
  /** Answers where a person is asked about this call, before the host's own `onAsk`; nothing leaves it to the others. */
  readonly onAsk?: OnAsk;
  /** Awaited when the call has been allowed, before it is made; a rejection ends it. */
  readonly whenAllowed?: () => Promise<void>;
  /** A result of more bytes of text or JSON is kept for `read_result`. Default: as the session was opened. */
  readonly maxResultBytes?: number;
}

/** How a tool or a method is called, and in which session. */
export interface CallAt extends ToolCallOptions {
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
  /** Session id. */
  readonly session: string;
}
