/**
 * Finds in the texts of errors the hosts that a program could not reach. A cage without a network shows its host
 * nothing of a failed lookup, but clients name what they looked for, each in words of its own.
 *
 * @module
 */
import { canonicalHost } from "../manifest/net_host.ts";

/** A host that a text names as out of reach. */
export interface WantedHost {
  /** In the one spelling that grants use. */
  readonly host: string;
  /** Null where the text does not name it. */
  readonly port: number | null;
}

/** One pattern for each way of saying it; the groups are the host and, where the text has it, the port. */
const OUT_OF_REACH: readonly RegExp[] = [
  /\bgetaddrinfo E[A-Z_]{3,20} ([\w.-]{1,253})/g, // Node, Bun and Deno, lookup
  /\bquery[A-Z][A-Za-z]{0,8} E[A-Z_]{3,20} ([\w.-]{1,253})/g, // the same, by node:dns
  /\bconnect E[A-Z]{3,20} ([\w.:-]{2,253}):(\d{1,5})\b/g, // the same, connection
  /\berror sending request for url \([a-z]{2,5}:\/\/(\[[\da-f:.]{2,45}\]|[\w.-]{1,253})(?::(\d{1,5}))?/g, // Deno, Rust
  /\bdial tcp(?: (\[[\da-f:.]{2,45}\]|[\w.-]{1,253}):(\d{1,5}))?: (?:connect|i\/o)/g, // Go, connection
  /\b(?:dial \w{2,5}: lookup|lookup(?= [\w.-]{1,253}(?: on \S{1,60})?: no such host)) ([\w.-]{1,253})/g, // Go, lookup
  /\bCould not resolve (?:host:|hostname) ([\w.-]{1,253})/g, // curl, git, ssh
  /\bFailed to connect to ([\w.:-]{1,253}) port (\d{1,5})\b/g, // curl
  /\bunable to resolve host address ['"‘]([\w.-]{1,253})/g, // wget
  /\b(?:HTTPS?Connection(?:Pool)?)\(host='([\w.:-]{1,253})', port=(\d{1,5})\)/g, // Python's requests and urllib3
  /\bFailed to resolve '([\w.-]{1,253})'/g, // urllib3
  /\bCannot connect to host ([\w.-]{1,253}):(\d{1,5}) /g, // aiohttp
  /\bError -?\d{1,4} connecting to ([\w.-]{1,253}):(\d{1,5})\./g, // redis-py
  /\bconnection to server at "([\w.:-]{1,253})"(?: \([\da-f.:]{2,45}\))?, port (\d{1,5}) failed/g, // libpq
  /\bcould not translate host name "([\w.-]{1,253})"/g, // libpq
  /\bFailed to open TCP connection to ([\w.-]{1,253}):(\d{1,5}) /g, // Ruby
  /\bUnknownHostException: ([\w.-]{1,253})/g, // Java
  /\/dev\/tcp\/([\w.-]{1,253})\/(\d{1,5}): /g, // bash
  /(?:^|[\s"'])([\w-]{1,63}(?:\.[\w-]{1,63}){1,9}): (?:Temporary failure in name resolution|Name or service not known)/g, // glibc
];

/** Texts of clients that could not reach somebody and do not always say whom. */
const UNREACHED =
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED)\b|\bfetch failed\b|network is unreachable|connection refused|failure in name resolution|name or service not known|could not resolve host|dns error|no such host|unable to connect\. is the computer/i;

/** Longest text that is searched: clients name the host in their first lines. */
const SEARCHED = 16 * 1024;

/** Whether a text says that somebody was out of reach, named or not. */
export function saysUnreached(text: string): boolean {
  return UNREACHED.test(text.slice(0, SEARCHED));
}

/** Returns the hosts that texts name as out of reach, each once, in the order in which they are found. */
export function wantedHosts(texts: readonly string[]): WantedHost[] {
  const searched = texts.map((text) => text.slice(0, SEARCHED));
  const found = new Map<string, WantedHost>();
  for (const text of searched) {
    for (const pattern of OUT_OF_REACH) {
      for (const [, host = "", port] of text.matchAll(pattern)) {
        const wanted = hostOf(host, port === undefined ? null : Number(port), searched);
        if (wanted) found.set(`${wanted.host} ${wanted.port}`, wanted);
      }
    }
  }
  // Many clients report a lookup and a connection: the one with the port says all of it.
  const all = [...found.values()];
  return all.filter(({ host, port }) => port !== null || !all.some((one) => one.host === host && one.port !== null));
}

/**
 * Returns a wanted host as the arguments of the call have it: with the port of their URL of that host, and as
 * `localhost` where that is the name they use for a loopback address. The gatekeeper is asked for what the URL says.
 */
export function asAsked(wanted: WantedHost, args: string): WantedHost {
  const { host, port } = wanted;
  if (port === null) return { host, port: portInUrl(host, [args.slice(0, SEARCHED)]) };
  const isLocalhost = isLoopback(host) && portInUrl("localhost", [args.slice(0, SEARCHED)]) === port;
  return isLocalhost ? { host: "localhost", port } : wanted;
}

const isLoopback = (host: string): boolean => host === "127.0.0.1" || host === "[::1]";

function hostOf(text: string, named: number | null, texts: readonly string[]): WantedHost | null {
  // A full stop that ends the sentence is none of the host's; an address of Node's has no brackets.
  const bare = text.replace(/\.$/, "");
  const host = canonicalHost(bare.includes(":") && !bare.startsWith("[") ? `[${bare}]` : bare);
  if (host === null) return null;
  const port = named ?? portInUrl(host, texts);
  return port !== null && (port < 1 || port > 65_535) ? null : { host, port };
}

const URLS = /\b([a-z][a-z+]{1,14}):\/\/(?:[^\s/@"'<>]{1,100}@)?(\[[\da-f:.]{2,45}\]|[\w.-]{1,253})(?::(\d{1,5}))?/gi;
const PORTS: Readonly<Record<string, number>> = { http: 80, ws: 80, https: 443, wss: 443 };

/** Returns the port of the first URL of that host: the error of a lookup often stands beside the address it was for. */
function portInUrl(host: string, texts: readonly string[]): number | null {
  for (const text of texts) {
    for (const [, scheme = "", named = "", port] of text.matchAll(URLS)) {
      if (named.toLowerCase() !== host) continue;
      const found = port === undefined ? PORTS[scheme.toLowerCase()] : Number(port);
      if (found !== undefined) return found;
    }
  }
  return null;
}
