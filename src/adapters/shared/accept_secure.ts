/**
 * The server's half of TLS over a connection that is already there.
 *
 * @module
 */
import type { Socket as NetSocket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import type { SecureSocket, Socket, TlsIdentity } from "../../core/ports/ports.ts";
import { adoptSecure, pulledStream, shaken } from "./secure_socket.ts";

/** Keys and certificates that were read: an identity serves many connections. */
const contexts = new WeakMap<TlsIdentity, SecureContext>();

/** Ends TLS over a socket; see `Network.acceptSecure`. */
export async function acceptSecure(socket: Socket, identity: TlsIdentity, signal: AbortSignal): Promise<SecureSocket> {
  signal.throwIfAborted();
  const pulled = pulledStream(socket);
  const secure = new TLSSocket(pulled.stream as NetSocket, {
    isServer: true,
    secureContext: contextOf(identity),
    ALPNProtocols: ["http/1.1"],
  });
  await shaken(secure, { stream: pulled.stream, event: "secure", signal });
  const { servername } = secure as { servername?: string | false | null };
  return { ...adoptSecure(secure, pulled), serverName: servername || null };
}

function contextOf(identity: TlsIdentity): SecureContext {
  const context = contexts.get(identity) ?? createSecureContext({ key: identity.key, cert: identity.certificate });
  contexts.set(identity, context);
  return context;
}
