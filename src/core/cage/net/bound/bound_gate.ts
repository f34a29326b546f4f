/**
 * The secrets and limits of one cage, as its gatekeeper asks for them.
 *
 * @module
 */
import type { Clock, TlsIdentity } from "../../../ports/ports.ts";
import type { BoundSecret, NetLimit } from "../bound_secret.ts";
import { literalAddress } from "../judge_target.ts";
import type { MisuseReason, NetEvent } from "../net_event.ts";
import type { Authority } from "../tls/authority.ts";
import { NetLimits } from "./net_limits.ts";
import { failed, type HostPort, misused } from "./refused.ts";
import { ByteSwapper } from "./swap_bytes.ts";

/** First byte of TLS: a record of the handshake. */
export const TLS_HANDSHAKE = 0x16;

/** Bytes of bodies that one cage may have the host hold, to search them: a plugin chooses how many it sends at once. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

/** Secrets and limits of one cage, and what TLS to its bound hosts needs. */
export interface BoundOptions {
  readonly secrets: readonly BoundSecret[];
  readonly limits: readonly NetLimit[];
  /** Signs the certificates that the cage's clients see. */
  readonly authority: Authority;
  /** Certificates (PEM) that servers are believed by. */
  readonly roots: readonly string[];
}

/** Answers which hosts are bound, and holds what their connections share. */
export class BoundGate {
  readonly secrets: readonly BoundSecret[];
  readonly limits: NetLimits;
  readonly roots: readonly string[];
  readonly #authority: Authority;
  readonly #hosts: ReadonlySet<string>;
  #heldBytes = 0;

  constructor({ secrets, limits, authority, roots }: BoundOptions, clock: Pick<Clock, "monotonic">) {
    this.secrets = secrets;
    this.limits = new NetLimits(limits, clock);
    this.roots = roots;
    this.#authority = authority;
    this.#hosts = new Set([...secrets.flatMap(({ hosts }) => hosts), ...limits].map(keyOf));
  }

  /** Whether requests to a host are read: a secret or a limit names it. */
  covers(target: HostPort): boolean {
    return this.#hosts.has(keyOf(target));
  }

  /** Returns the key and certificate that stand for a host in the cage. */
  identityFor(host: string): Promise<TlsIdentity> {
    return this.#authority.identityFor(host);
  }

  /** Makes room for a body to be held; the returned function gives it back. Throws a `RequestFailure` without room. */
  hold(bytes: number): () => void {
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) throw failed(503, "busy", "wait for answers before you send more");
    this.#heldBytes += bytes;
    return () => void (this.#heldBytes -= bytes);
  }

  /** Returns a report for each secret whose placeholder stands in a head that is refused, whatever it asked for. */
  misusedIn(head: string, reason: MisuseReason, { host, port }: HostPort = { host: "", port: 0 }): NetEvent[] {
    const sent = this.secrets.filter(({ placeholder }) => head.includes(placeholder));
    return sent.map(({ name }) => ({ kind: "secret_misused", name, host, port, reason }));
  }

  /**
   * Returns a function that watches the plugin's bytes in a tunnel to a host that is not bound, and throws a
   * `RequestFailure` at a placeholder. Inside TLS there is nothing to see, and no server to which it is worth anything.
   */
  tunnelWatch(target: HostPort): (bytes: Uint8Array) => void {
    const swaps = this.secrets.map(({ name, placeholder }) => ({
      find: new TextEncoder().encode(placeholder),
      put: (): Uint8Array => {
        throw misused(name, target, "other-host");
      },
    }));
    let isFirst = true;
    let watch: ByteSwapper | null = null;
    return (bytes) => {
      if (isFirst && bytes[0] !== TLS_HANDSHAKE) watch = new ByteSwapper(swaps);
      isFirst = false;
      watch?.push(bytes);
    };
  }
}

/** Whether connections to a canonical host stay on this machine. */
export function isLoopback(host: string): boolean {
  const address = literalAddress(host);
  return host === "localhost" || address === "::1" || (address ?? "").startsWith("127.");
}

const keyOf = ({ host, port }: HostPort): string => `${host}:${port}`;
