/**
 * What the core needs of a runtime to answer HTTP, and nothing more.
 *
 * @module
 */

/** Where a server listens: an address, or a socket in the file system that only this user may open. */
export type ListenAddress =
  /** Port 0 takes any that is free. */
  | { readonly hostname: string; readonly port: number }
  /** A path of any length; what stands there is in the way. */
  | { readonly path: string };

/** One open WebSocket. Sending on a closed one does nothing. */
export interface WebSocketPeer {
  /** Sends a text message. */
  send(text: string): void;
  /** Bytes queued that the other side has not taken yet. */
  bufferedBytes(): number;
  /** Closes it with a code of RFC 6455 §7.4. */
  close(code: number, reason: string): void;
}

/** What becomes of a connection that turns into a WebSocket. */
export interface WebSocketUpgrade {
  /** Subprotocol that was agreed on, or null. */
  readonly protocol: string | null;
  /** It is open. */
  open(peer: WebSocketPeer): void;
  /** It has ended, by whomever. Called once. */
  closed(): void;
}

/** The connection a request came over. */
export interface HttpConnection {
  /** Turns it into a WebSocket; whatever response is given to the request then goes nowhere. */
  upgrade(upgrade: WebSocketUpgrade): void;
  /** Aborts when the client goes away before it is answered; null where the runtime does not say. */
  readonly signal: AbortSignal | null;
}

/** Answers requests. Never rejects. */
export type HttpHandler = (request: Request, connection: HttpConnection) => Promise<Response>;

/** A server that listens. */
export interface HttpServer {
  /** Its port; null for a path. */
  readonly port: number | null;
  /** Takes no more connections; resolves when those it has are done. A path is gone afterwards. */
  stop(): Promise<void>;
  /** Drops every connection. */
  destroy(): Promise<void>;
}

/** How a server listens. */
export interface HttpListenOptions {
  /** Where. */
  readonly at: ListenAddress;
  /** Answers requests. */
  readonly handler: HttpHandler;
  /** Whether the program may end while it listens. Default: false. */
  readonly background?: boolean;
}

/** Starts servers. */
export interface HttpServers {
  /** Starts one. Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) when it cannot listen there. */
  listen(options: HttpListenOptions): Promise<HttpServer>;
}
