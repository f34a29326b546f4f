/**
 * The network part of a runtime: sockets, names, and the relay's program.
 *
 * @module
 */

/** A stream of bytes both ways. Only the system reads ahead of {@link read}. */
export interface Socket {
  /** The next bytes, or null when no more will come. Rejects when the connection broke. One call at a time. */
  read(): Promise<Uint8Array | null>;
  /** Sends bytes; resolves when the system has taken them. Rejects when the connection broke. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the sending side; incoming bytes can still be read. */
  end(): void;
  /** Ends both ways at once: a waiting read gives null. */
  destroy(): void;
}

/** A socket whose other side opened TLS towards it. */
export interface SecureSocket extends Socket {
  /** Server name that the client asked for (SNI); null when it named none, as clients do that connect to an address. */
  readonly serverName: string | null;
}

/** A server's own half of TLS, as PEM. */
export interface TlsIdentity {
  /** Private key, PKCS #8. */
  readonly key: string;
  /** Certificate for that key; its issuer is known to the client. */
  readonly certificate: string;
}

/** Takes connections until it is closed. */
export interface SocketListener {
  /** Takes no more; those it gave out live on. Its path is gone afterwards. */
  close(): Promise<void>;
}

/** Opens sockets and looks names up, with the host's own network. */
export interface Network {
  /** Takes connections at a path, of any length, that only this user may open. */
  listen(path: string, onConnection: (socket: Socket) => void): Promise<SocketListener>;
  /** Whether a socket stands at a path, of any length, at which nobody listens any more. */
  isDeserted(path: string): Promise<boolean>;
  /** Connects to an IP address, never to a name. Rejects when it cannot; an aborted signal ends the attempt. */
  connect(address: string, port: number, signal: AbortSignal): Promise<Socket>;
  /**
   * Like {@link connect}, over TLS. Rejects unless the other side shows a certificate for `name` that this system
   * trusts, or that one of `trusted` (PEM) has signed; no variable of the environment changes that. `roots` stand in
   * the place of the runtime's own list, unless there are none: pass the same array each time, it is read once.
   */
  connectSecure(
    address: string,
    port: number,
    options: {
      readonly name: string;
      readonly signal: AbortSignal;
      readonly trusted?: readonly string[];
      readonly roots?: readonly string[];
    },
  ): Promise<Socket>;
  /**
   * Ends TLS as the server of a connection whose client has just begun to speak it, and offers it HTTP/1.1 alone
   * (ALPN). Rejects when the handshake fails, and closes the connection then; so does an aborted signal.
   */
  acceptSecure(socket: Socket, identity: TlsIdentity, signal: AbortSignal): Promise<SecureSocket>;
  /** Every address of a name, as the system finds them. Rejects when there is none. */
  resolve(name: string): Promise<string[]>;
  /** Text of the program that passes a cage's connections on to the host; it runs inside, on this runtime. */
  relayProgram(): Promise<string>;
}
