/**
 * The HTTP part of a runtime: servers, and the WebSockets they turn into.
 *
 * @module
 */

/** Where a server listens: an address, or a socket in the file system that only this user may open. */
export type ListenAddress =
  /** Port 0 takes any that is free. */
  | { readonly hostname: string; readonly port: number }
  /** A path of any length; an existing file there is an error. */
  | { readonly path: string };

/** One open WebSocket. Sending on a closed one does nothing. */
export interface WebSocketPeer {
  /** Queues a text message; see {@link bufferedBytes}. */
  send(text: string): void;
  /** Bytes queued that the other side has not taken yet. */
  bufferedBytes(): number;
  /** Closes it with a code of RFC 6455 §7.4. */
  close(code: number, reason: string): void;
}

/** Handles a connection that turns into a WebSocket. */
export interface WebSocketUpgrade {
  /** Subprotocol that was agreed on, or null. */
  readonly protocol: string | null;
  /** Called once, when messages can be sent. */
  open(peer: WebSocketPeer): void;
  /** Called once, when either side has ended it. */
  closed(): void;
}

/** The connection a request came over. */
export interface HttpConnection {
  /** Turns it into a WebSocket; the handler's response is then dropped. */
  upgrade(upgrade: WebSocketUpgrade): void;
  /** Aborts when the client goes away before it is answered; null for a request that asks for a WebSocket. */
  readonly signal: AbortSignal | null;
}

/** Answers requests. Never rejects. */
export type HttpHandler = (request: Request, connection: HttpConnection) => Promise<Response>;

/** A server, listening from the moment it is handed over. */
export interface HttpServer {
  /** Its port; null for a path. */
  readonly port: number | null;
  /** Takes no more connections; resolves when those it has are done. A path is gone afterwards. */
  stop(): Promise<void>;
  /** Drops every connection at once, answered or not. */
  destroy(): Promise<void>;
}

/** The address and the handler of a server. */
export interface HttpListenOptions {
  /** Address, or path of a socket. */
  readonly at: ListenAddress;
  /** Called for each request, also those that ask for a WebSocket. */
  readonly handler: HttpHandler;
  /** Whether the program may end while it listens. Default: false. */
  readonly background?: boolean;
}

/** Starts HTTP servers on this runtime. */
export interface HttpServers {
  /** Starts one. Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) when it cannot listen there. */
  listen(options: HttpListenOptions): Promise<HttpServer>;
}
