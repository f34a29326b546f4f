/**
 * The targets of webhooks: the public internet over TLS, and this machine or its networks only where the operator allows
 * it. A name is looked up once for each attempt, and the attempt goes to an address that was checked.
 *
 * @module
 */
import { isPublic, isUnicast } from "../../core/cage/net/address.ts";
import { literalAddress } from "../../core/cage/net/judge_target.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { canonicalHost } from "../../core/manifest/net_host.ts";

/** Whether webhooks may go to private addresses: never, always, or for the hosts named. */
export type AllowPrivate = boolean | readonly string[];

/** A URL that a webhook may go to, as far as that is known without a lookup. */
export interface WebhookTarget {
  /** Scheme, host and port. Only these may be shown: a path can hold a token. */
  readonly origin: string;
  /** Canonical host: a name, a dotted quad, or an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
  /** Whether it is reached over TLS. */
  readonly isSecure: boolean;
  /** Value of the `Host` header. */
  readonly authority: string;
  readonly path: string;
}

/**
 * Judges a URL as far as it can be without a lookup.
 *
 * @throws {HostError} `addons.webhook_refused` when no webhook may go there.
 */
export function readTarget(text: string, allowPrivate: AllowPrivate): WebhookTarget {
  const url = URL.parse(text);
  const isSecure = url?.protocol === "https:";
  if (!url || (!isSecure && url.protocol !== "http:")) {
    throw refused("it is no URL of the web", "Use a URL that begins with https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("it holds a user name or password", "Let the receiver check the signature instead");
  }
  // The URL parser writes every spelling of an IPv4 address, decimal, octal or short, as the same four numbers.
  const host = canonicalHost(url.hostname);
  if (host === null) {
    throw refused("its host is no name and no address", "Use a host name of letters, digits and hyphens");
  }
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const authority = url.port === "" ? host : `${host}:${url.port}`;
  const origin = `${url.protocol}//${authority}`;
  const target = { origin, host, port, isSecure, authority, path: `${url.pathname}${url.search}` };
  const literal = literalAddress(host);
  if (literal !== null) checkAddress(literal, target, allowPrivate);
  return target;
}

/**
 * Looks a target up, and returns the addresses it may be reached at, in order.
 *
 * @throws {HostError} `addons.webhook_refused` when none of them is allowed, `addons.webhook_unreachable` when the name
 * has none.
 */
export async function addressesOf(
  target: WebhookTarget,
  allowPrivate: AllowPrivate,
  resolve: (name: string) => Promise<string[]>,
): Promise<string[]> {
  const literal = literalAddress(target.host);
  const found = literal === null ? await resolve(target.host).catch(() => []) : [literal];
  if (found.length === 0) {
    throw new HostError("addons.webhook_unreachable", `The host of "${target.origin}" has no address`);
  }
  const open = found.filter((address) => problemOf(address, target, allowPrivate) === null);
  if (open.length === 0) checkAddress(found[0]!, target, allowPrivate);
  return open;
}

function checkAddress(address: string, target: WebhookTarget, allowPrivate: AllowPrivate): void {
  const problem = problemOf(address, target, allowPrivate);
  if (problem) throw refused(...problem);
}

function problemOf(
  address: string,
  { host, isSecure }: WebhookTarget,
  allowPrivate: AllowPrivate,
): [problem: string, hint: string] | null {
  if (!isUnicast(address)) return ["it leads to no single machine", "Use the address of one machine"];
  if (isPublic(address)) {
    return isSecure ? null : ["it is not secure", "Use https://, so that nobody on the way can read it"];
  }
  const isAllowed = typeof allowPrivate === "boolean"
    ? allowPrivate
    : allowPrivate.some((allowed) => canonicalHost(allowed) === host);
  return isAllowed ? null : [
    "it leads to this machine or a private network",
    `Use a public host, or put "${host}" into allowPrivate if this is meant`,
  ];
}

/** The URL is not in the message: it can hold a token. */
function refused(problem: string, hint: string): HostError {
  return new HostError("addons.webhook_refused", `A webhook cannot go to this URL: ${problem}`, { hint });
}
