/**
 * The head of an HTTP/1.1 request to a proxy (RFC 9110, RFC 9112), read strictly: what two programs could read
 * differently is refused, and what goes on is written anew.
 *
 * @module
 */

/** How long the body after a head is. */
export type BodyFraming =
  /** So many bytes; `stated` when the head says so. */
  | { readonly kind: "length"; readonly bytes: number; readonly stated: boolean }
  /** In chunks, up to the last of them. */
  | { readonly kind: "chunked" };

/** One header field. */
export type Field = readonly [name: string, value: string];

/** One request that is sent on. */
export interface ForwardRequest {
  readonly kind: "forward";
  readonly host: string;
  readonly port: number;
  readonly method: string;
  readonly path: string;
  /** `HTTP/1.0` or `HTTP/1.1`. */
  readonly version: string;
  /** The fields that are about the request itself. */
  readonly fields: readonly Field[];
  readonly body: BodyFraming;
}

/** One request to a server itself, as it comes out of a tunnel. */
export interface OriginRequest extends Omit<ForwardRequest, "kind" | "host" | "port"> {
  /** Value of its Host field; null in HTTP/1.0 without one. */
  readonly authority: string | null;
  /** Whether the client means to send another request on this connection. */
  readonly keepAlive: boolean;
  /** Whether it wants to speak WebSocket from here on. */
  readonly upgrade: boolean;
}

/** A request as its head describes it. */
export type RequestHead =
  | ForwardRequest
  /** A tunnel to a target. */
  | { readonly kind: "connect"; readonly host: string; readonly port: number }
  /** A name that a program in the cage has looked up: a word of the relay's own. */
  | { readonly kind: "lookup"; readonly host: string }
  /** Nothing that can be served; `target` is what it asked for, when the request line could be read. */
  | { readonly kind: "bad"; readonly reason: "bad-request" | "bad-target"; readonly target: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// The field value of RFC 9110 with obs-text; no CR, LF or NUL can be left in it.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e]+) (HTTP\/1\.[01])$/;
const AUTHORITY = /^(\[[0-9A-Fa-f:.]+\]|[^:@/?#[\]\\]+):([0-9]{1,5})$/;
const ORIGIN = /^\/[^#\\]*$/;
const ABSOLUTE = /^http:\/\/([^/?#\\]*)([/?][^#\\]*)?$/i;

/** Fields about one connection, and those that are written anew: never sent on. */
const HOP_BY_HOP = ["connection", "keep-alive", "te", "trailer", "upgrade"];
const WRITTEN_ANEW = ["host", "content-length", "transfer-encoding"];

/** Reads a head: the request line and fields, without the empty line that ends them, one character per byte. */
export function readRequestHead(text: string): RequestHead {
  const parts = readParts(text);
  const bad = (reason: "bad-request" | "bad-target"): RequestHead => ({ kind: "bad", reason, target: parts.target });
  if (parts.fields === null) return bad("bad-request");
  const { method, target, version, fields } = parts;
  if (method === "CONNECT") {
    const authority = readAuthority(target, null);
    return authority ? { kind: "connect", ...authority } : bad("bad-target");
  }
  if (method === "LOOKUP") return { kind: "lookup", host: target };
  const [, place = "", path = "/"] = ABSOLUTE.exec(target) ?? [];
  const authority = readAuthority(place, 80);
  if (!authority) return bad("bad-target");
  const body = bodyFraming(fields, version);
  if (body === null) return bad("bad-request");
  return {
    kind: "forward",
    ...authority,
    method,
    path: path.startsWith("?") ? `/${path}` : path,
    version,
    fields: endToEnd(fields),
    body,
  };
}

/** Reads a head that was sent to a server and not to a proxy; null when two programs could read it differently. */
export function readOriginHead(text: string): OriginRequest | null {
  const { method, target, version, fields } = readParts(text);
  if (fields === null || !(ORIGIN.test(target) || (target === "*" && method === "OPTIONS"))) return null;
  const body = bodyFraming(fields, version);
  const [authority = null, ...others] = valuesOf(fields, "host");
  if (body === null || others.length > 0 || (authority === null && version === "HTTP/1.1")) return null;
  const named = connectionFields(fields);
  const isWebSocket = valuesOf(fields, "upgrade").some((value) => value.toLowerCase() === "websocket");
  return {
    method,
    path: target,
    version,
    fields: endToEnd(fields),
    body,
    authority,
    keepAlive: version === "HTTP/1.1" && !named.has("close"),
    upgrade: isWebSocket && named.has("upgrade") && method === "GET",
  };
}

/** The request line and fields; no fields where either cannot be read. */
function readParts(text: string): { method: string; target: string; version: string; fields: Field[] | null } {
  const [first = "", ...lines] = text.split("\r\n");
  const [, method = "", target = "", version = ""] = REQUEST_LINE.exec(first) ?? [];
  return { method, target, version, fields: method === "" ? null : readFields(lines) };
}

/** Returns the fields that are about the message itself, and not about one connection or its length. */
export function endToEnd(fields: readonly Field[]): Field[] {
  const named = connectionFields(fields);
  return fields.filter(([name]) => {
    const lower = name.toLowerCase();
    const isOurs = HOP_BY_HOP.includes(lower) || WRITTEN_ANEW.includes(lower) || lower.startsWith("proxy-");
    return !isOurs && !named.has(lower);
  });
}

/** Returns the head as it is sent on to `host`, which is canonical: one request, then the connection ends. */
export function forwardedHead({ method, path, version, fields, body, port }: ForwardRequest, host: string): string {
  const framing = body.kind === "chunked"
    ? ["Transfer-Encoding: chunked"]
    : body.stated
    ? [`Content-Length: ${body.bytes}`]
    : [];
  const lines = [
    `${method} ${path} ${version}`,
    `Host: ${host}${port === 80 ? "" : `:${port}`}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
    ...framing,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Null when a line is no field: a folded one, a bare CR or LF, a space before the colon. */
export function readFields(lines: readonly string[]): Field[] | null {
  const fields: Field[] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    const [name, value] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)];
    if (!TOKEN.test(name) || !VALUE.test(value)) return null;
    fields.push([name, value.replace(/^[ \t]+|[ \t]+$/g, "")]);
  }
  return fields;
}

/** Returns host and port of an authority; null when it has user info, or no port and there is no default. */
export function readAuthority(text: string, defaultPort: number | null): { host: string; port: number } | null {
  const [, host = "", port = ""] = AUTHORITY.exec(text) ?? [];
  if (host !== "") return { host, port: Number(port) };
  // Without a port the whole is the host; user info and the like are refused with the host's own grammar.
  const isHost = text !== "" && (text.startsWith("[") ? text.endsWith("]") : !text.includes(":"));
  return defaultPort !== null && isHost ? { host: text, port: defaultPort } : null;
}

/** Returns the values of every field of a name, which is given in lower case. */
export const valuesOf = (fields: readonly Field[], wanted: string): string[] =>
  fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);

/** Null when the length of the body could be read in two ways (RFC 9112 §6.3). */
function bodyFraming(fields: readonly Field[], version: string): BodyFraming | null {
  const codings = valuesOf(fields, "transfer-encoding");
  const lengths = valuesOf(fields, "content-length");
  if (codings.length > 0) {
    const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === "chunked";
    return isChunked && lengths.length === 0 && version === "HTTP/1.1" ? { kind: "chunked" } : null;
  }
  if (lengths.length === 0) return { kind: "length", bytes: 0, stated: false };
  const [length = ""] = lengths;
  if (lengths.length > 1 || !/^[0-9]{1,15}$/.test(length)) return null;
  return { kind: "length", bytes: Number(length), stated: true };
}

/** Names that the Connection field declares to be about this connection. */
export function connectionFields(fields: readonly Field[]): Set<string> {
  const names = [...valuesOf(fields, "connection"), ...valuesOf(fields, "proxy-connection")];
  return new Set(names.flatMap((value) => value.split(",")).map((name) => name.trim().toLowerCase()));
}
