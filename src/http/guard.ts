/**
 * Lets in only requests with the token, and none that a page of another site or a rebound host name may have caused.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";

/** Subprotocol that a WebSocket client may name. */
export const WS_PROTOCOL = "kaged.v1";
/** Prefix of the subprotocol that carries the token: a page can set no header on a WebSocket. */
const WS_TOKEN_PREFIX = "kaged.token.";

/** The token and the host names that the guard accepts. */
export interface Guard {
  readonly token: string;
  /** In lower case; addresses and `localhost` are accepted besides. */
  readonly allowedHosts: readonly string[];
  /** Where the token is. Default: in the file token of the operator's folder. */
  readonly tokenPlace?: string;
}

/** Throws `http.host_refused` or `http.origin_refused` for a request that a foreign page may have caused. */
export function checkOrigin(request: Request, { allowedHosts }: Guard): void {
  const host = request.headers.get("host") ?? "";
  const name = hostName(host);
  if (name === null || !(name === "localhost" || isAddress(name) || allowedHosts.includes(name))) {
    throw new HostError("http.host_refused", `This server does not answer for ${JSON.stringify(host.slice(0, 200))}`, {
      hint: "Use the address that was printed, or add the name to allowed_hosts under [http] in config.toml",
    });
  }
  // Following a link is the person's own request.
  const isLink = !request.headers.has("origin") && request.headers.get("sec-fetch-mode") === "navigate";
  if (isLink || !isForeign(request)) return;
  throw new HostError("http.origin_refused", "The request comes from a page of another site", {
    hint: "Open the address that was printed",
  });
}

/** Whether a page of another site has caused a request. */
export function isForeign({ headers }: Request): boolean {
  const [origin, host] = [headers.get("origin"), headers.get("host") ?? ""];
  if (origin !== null) return origin !== `http://${host}` && origin !== `https://${host}`;
  // Browsers that leave Origin out of a GET still send Sec-Fetch-Site.
  const site = headers.get("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}

const TOKEN_PLACE = "the file token of the operator's folder";

/** Throws `http.unauthorized` unless the request carries the token. */
export function checkToken(request: Request, { token, tokenPlace = TOKEN_PLACE }: Guard): void {
  const given = bearer(request) ?? subprotocol(request);
  if (given !== null && isSame(given, token)) return;
  throw new HostError("http.unauthorized", given === null ? "The request carries no token" : "The token is wrong", {
    hint: `Send Authorization: Bearer <token>; the token is in ${tokenPlace}`,
  });
}

/** Headers of every answer that does not set them itself: no guessing of types, caching, framing or referrers. */
const HEADERS: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** Adds the headers that keep browsers from doing more with an answer than its reader wants. */
export function guarded(response: Response): Response {
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}

/** Whether a request opens a WebSocket (RFC 6455 §4.2.1). */
export function isWebSocketRequest({ method, headers }: Request): boolean {
  const has = (name: string, value: string): boolean =>
    headers.get(name)?.toLowerCase().split(",").some((one) => one.trim() === value) ?? false;
  return method === "GET" && has("upgrade", "websocket") && has("connection", "upgrade") &&
    headers.get("sec-websocket-version") === "13" &&
    /^[A-Za-z0-9+/]{22}==$/.test(headers.get("sec-websocket-key") ?? "");
}

/** The subprotocols that a WebSocket client names. */
export function offeredProtocols({ headers }: Request): string[] {
  return headers.get("sec-websocket-protocol")?.split(",").map((one) => one.trim()) ?? [];
}

function bearer(request: Request): string | null {
  const [, token] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return token ?? null;
}

function subprotocol(request: Request): string | null {
  if (!isWebSocketRequest(request)) return null;
  const carrier = offeredProtocols(request).find((one) => one.startsWith(WS_TOKEN_PREFIX));
  return carrier?.slice(WS_TOKEN_PREFIX.length) ?? null;
}

/** Compares in a time that does not depend on where the texts differ. */
function isSame(given: string, token: string): boolean {
  let difference = given.length ^ token.length;
  for (let at = 0; at < token.length; at++) difference |= token.charCodeAt(at) ^ given.charCodeAt(at % given.length);
  return difference === 0;
}

/** Returns the name in a Host header without its port, in lower case; null for a malformed header. */
function hostName(host: string): string | null {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase() ?? null;
}

/** An address needs no lookup, so DNS rebinding cannot abuse it. */
function isAddress(name: string): boolean {
  return name.includes(":") || /^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(name);
}
