/**
 * Finds the host that a session belongs to.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Host, Session } from "./types.ts";

const hosts = new WeakMap<Session, Host>();

/** Remembers the host of a session, and returns the session. */
export function tieSession<S extends Session>(session: S, host: Host): S {
  hosts.set(session, host);
  return session;
}

/** Returns the host of a session, or null for a session that no host gave out. */
export function findHost(session: Session): Host | null {
  return hosts.get(session) ?? null;
}

/** Returns the host of a session that `openSession()` or `session()` gave out. Throws `host.misuse` for any other. */
export function hostOf(session: Session): Host {
  const host = hosts.get(session);
  if (host) return host;
  throw new HostError("host.misuse", "The session is not one that a host gave out", {
    hint: "Use host.openSession(), or host.session(id)",
  });
}
