/**
 * Who may ask: no page of another site, no name that was rebound to this machine, nobody without the token.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";

/** Subprotocol of a WebSocket. */
export const WS_PROTOCOL = "kaged.v1";
/** Subprotocol in which a page, which can set no header there, carries the token. */
export const WS_TOKEN_PREFIX = "kaged.token.";

/** Who is let in. */
export interface Guard {
  /** The token. */
  readonly token: string;
  /** Names, beside addresses and `localhost`, under which the server may be asked. */
  readonly allowedHosts: readonly string[];
}

/** Throws `http.host_refused` or `http.origin_refused` for a request that a foreign page may have caused. */
export function checkOrigin(request: Request, { allowedHosts }: Guard): void {
  const host = request.headers.get("host") ?? "";
  const name = hostName(host);
  if (name === null || !(name === "localhost" || isAddress(name) || allowedHosts.includes(name))) {
    throw new HostError("http.host_refused", `This server does not answer for ${JSON.stringify(host.slice(0, 200))}`, {
      hint: "Use the address that kaged serve printed, or add the name to allowed_hosts under [http] in config.toml",
    });
  }
  const origin = request.headers.get("origin");
  if (origin === null) {
    // Browsers that leave Origin out of a GET still say where it comes from. Following a link is no request of a page.
    const site = request.headers.get("sec-fetch-site");
    const isForeign = site === "cross-site" || site === "same-site";
    if (!isForeign || request.headers.get("sec-fetch-mode") === "navigate") return;
  } else if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw new HostError("http.origin_refused", "The request comes from a page of another site", {
    hint: "Open the address that kaged serve printed",
  });
}

/** Throws `http.unauthorized` unless the request carries the token. */
export function checkToken(request: Request, { token }: Guard): void {
  const given = bearer(request) ?? subprotocol(request);
  if (given !== null && isSame(given, token)) return;
  throw new HostError("http.unauthorized", given === null ? "The request carries no token" : "The token is wrong", {
    hint: "Send Authorization: Bearer <token>; the token is in the file token of the operator's folder",
  });
}

/** Whether a request asks for a WebSocket as RFC 6455 §4.2.1 has it. */
export function isWebSocketRequest({ method, headers }: Request): boolean {
  const has = (name: string, value: string): boolean =>
    headers.get(name)?.toLowerCase().split(",").some((one) => one.trim() === value) ?? false;
  return method === "GET" && has("upgrade", "websocket") && has("connection", "upgrade") &&
    headers.get("sec-websocket-version") === "13" &&
    /^[A-Za-z0-9+/]{22}==$/.test(headers.get("sec-websocket-key") ?? "");
}

function bearer(request: Request): string | null {
  const [, token] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return token ?? null;
}

function subprotocol(request: Request): string | null {
  if (!isWebSocketRequest(request)) return null;
  const offered = request.headers.get("sec-websocket-protocol")?.split(",").map((one) => one.trim()) ?? [];
  return offered.find((one) => one.startsWith(WS_TOKEN_PREFIX))?.slice(WS_TOKEN_PREFIX.length) ?? null;
}

/** Takes as long for a token that is right at its beginning as for one that is all wrong. */
function isSame(given: string, token: string): boolean {
  let difference = given.length ^ token.length;
  for (let at = 0; at < token.length; at++) difference |= token.charCodeAt(at) ^ given.charCodeAt(at % given.length);
  return difference === 0;
}

/** The name in a Host header, without its port; null when it is none. */
function hostName(host: string): string | null {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase() ?? null;
}

/** An address cannot be rebound: it is no name. */
function isAddress(name: string): boolean {
  return name.includes(":") || /^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(name);
}
