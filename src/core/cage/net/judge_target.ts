/**
 * Whom a plugin may connect to.
 *
 * @module
 */
import { canonicalHost } from "../../manifest/net_host.ts";
import { isPublic, isUnicast } from "./address.ts";
import type { HostRule } from "./net_parts.ts";

/** Why a connection is refused, in a word that is stable. */
export type RefusalReason =
  /** No rule names this host and port. */
  | "not-allowed"
  /** It names no host, or one in a spelling that two programs could read differently. */
  | "bad-target"
  /** The name is allowed, and leads to this machine or its networks. */
  | "resolves-to-private"
  /** The bytes are no request that the gatekeeper knows. */
  | "bad-request"
  /** The name has no address. */
  | "unresolved"
  /** Nobody answers there. */
  | "unreachable"
  /** The client did not agree on TLS with the gatekeeper: it does not trust its certificate, or asked for another name. */
  | "handshake"
  /** It has too many connections open. */
  | "too-many";

/** A target that a rule allows. */
export interface AllowedTarget {
  readonly host: string;
  readonly port: number;
  /** How its address is found. */
  readonly kind: "name" | "literal" | "localhost";
}

/** A target that was refused, for the audit and the answer. */
export interface Refusal {
  readonly refused: RefusalReason;
  /** Host as far as it could be read, for a person. */
  readonly host: string;
  /** Port as far as it could be read; 0 when it could not, and for a lookup, which names none. */
  readonly port: number;
  /** How it was seen, where it is no connection. */
  readonly source?: RefusalSource;
}

/**
 * How a refusal was seen where it is no connection that the gatekeeper refused. `lookup`: the cage's resolver was asked
 * for the name. `error`: the plugin's own error named the host, and nothing else was seen of it.
 */
export type RefusalSource = "lookup" | "error";

/** Longest host shown to a person. */
const SHOWN = 100;

/** Judges a target by the rules: host and port must both be named, letter by letter. */
export function judgeTarget(host: string, port: number, rules: readonly HostRule[]): AllowedTarget | Refusal {
  const canonical = canonicalHost(host);
  const hasPort = Number.isInteger(port) && port >= 1 && port <= 65_535;
  if (canonical === null || !hasPort) {
    return { refused: "bad-target", host: shownHost(host), port: hasPort ? port : 0 };
  }
  const isAllowed = rules.some((rule) => rule.host === canonical && (rule.port === "*" || rule.port === port));
  if (!isAllowed) return { refused: "not-allowed", host: canonical, port };
  if (canonical === "localhost") return { host: canonical, port, kind: "localhost" };
  const literal = literalAddress(canonical);
  if (literal === null) return { host: canonical, port, kind: "name" };
  if (!isUnicast(literal)) return { refused: "bad-target", host: canonical, port };
  return { host: canonical, port, kind: "literal" };
}

/** Labels of a service before a host (RFC 2782), which is the one that is connected to. */
const SERVICE = /^(?:_[^.]+\.)+/;

/** Judges a name that was looked up: null where some port of it was granted. */
export function judgeLookup(name: string, rules: readonly HostRule[]): Refusal | null {
  const host = canonicalHost(name.replace(SERVICE, ""));
  const seen = { port: 0, source: "lookup" } as const;
  if (host === null) return { refused: "bad-target", host: shownHost(name), ...seen };
  return rules.some((rule) => rule.host === host) ? null : { refused: "not-allowed", host, ...seen };
}

/** Returns the address of a canonical host that is one, without brackets; null for a name. */
export function literalAddress(host: string): string | null {
  if (host.startsWith("[")) return host.slice(1, -1);
  return /^[0-9.]+$/.test(host) ? host : null;
}

/**
 * Returns the addresses to try, in order. A name is looked up once, and only its public addresses count: who runs a
 * name's servers must not choose a way to this machine or its networks.
 */
export async function addressesOf(
  { host, port, kind }: AllowedTarget,
  resolve: (name: string) => Promise<string[]>,
): Promise<string[] | Refusal> {
  if (kind === "localhost") return ["127.0.0.1", "::1"];
  if (kind === "literal") return [literalAddress(host) ?? ""];
  const found = await resolve(host).catch(() => []);
  if (found.length === 0) return { refused: "unresolved", host, port };
  const open = found.filter(isPublic);
  return open.length > 0 ? open : { refused: "resolves-to-private", host, port };
}

/** Returns what a plugin wrote, as a short text without control characters. */
export function shownHost(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, "?").slice(0, SHOWN);
}
