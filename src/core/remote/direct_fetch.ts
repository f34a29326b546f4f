/**
 * HTTP requests to one kind of place: those that the operator agreed to, over the host's own network. It is no
 * `fetch()` of the runtime, because those of Bun and Deno obey proxy variables of the environment, and none says which
 * address a name was resolved to. A name that leads to a private address is refused, redirects are handed back, and
 * each request has a connection of its own.
 *
 * @module
 */
import { ByteReader } from "../cage/net/byte_reader.ts";
import { bodyCounter } from "../cage/net/body_end.ts";
import { type AnswerHead, readAnswerHead } from "../cage/net/bound/answer_head.ts";
import { addressesOf, judgeTarget } from "../cage/net/judge_target.ts";
import { systemRoots } from "../cage/net/trust_parts.ts";
import { HostError, messageOf } from "../errors/host_error.ts";
import { type RemoteTarget, remoteTarget } from "../manifest/remote_rules.ts";
import type { Runtime, Socket } from "../ports/ports.ts";
import { type BodyBound, boundOf } from "./body_bound.ts";

/** Sends one request; the shape that the MCP SDK asks for. */
export type DirectFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Listener and brake of such requests. */
export interface DirectOptions {
  /** Called with each connection that stands. */
  readonly onOpened?: (target: RemoteTarget) => void;
  /** Awaited before each piece of an answer is read, so that a slow reader slows the server down. */
  readonly gate?: () => Promise<void>;
}

/** Time for the connection and TLS; the answer itself has the time of the call that waits for it. */
const CONNECT_MS = 15_000;
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Makes a function that sends requests as `fetch()` does. It rejects with `mcp.elsewhere_refused` or `plugin.unreachable`. */
export function directFetch(runtime: Runtime, { onOpened = () => {}, gate }: DirectOptions = {}): DirectFetch {
  return async (place, init = {}) => {
    const target = remoteTarget(String(place));
    if (target === null) throw refused(String(place), "it is not https, nor http on this machine");
    const signal = init.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const socket = await connected(target, runtime, signal);
    onOpened(target);
    const end = (): void => socket.destroy();
    signal.addEventListener("abort", end, { once: true });
    try {
      await socket.write(requestBytes(target, init));
      const reader = new ByteReader(socket);
      const answer = await answerHead(reader, target, init.method ?? "GET");
      const body = bodyStream(answer, { reader, socket, ...(gate && { gate }), where: target.host });
      return responseOf(answer, body);
    } catch (error) {
      end();
      signal.throwIfAborted();
      throw asUnreachable(error, target);
    }
  };
}

/** Opens a connection to the first address of a target that answers. */
async function connected(target: RemoteTarget, runtime: Runtime, signal: AbortSignal): Promise<Socket> {
  const { network, clock } = runtime;
  const { host, port, isSecure } = target;
  const judged = judgeTarget(host, port, [{ kind: "net", scope: "host", host, port }]);
  if ("refused" in judged) throw refused(target.url, `${host} is no address to connect to`);
  const addresses = await addressesOf(judged, network.resolve);
  if (!Array.isArray(addresses)) {
    if (addresses.refused === "unresolved") throw asUnreachable(new Error(`no address is known for ${host}`), target);
    throw refused(target.url, `${host} leads to an address of a private network; name that address itself`);
  }
  const roots = isSecure ? await systemRoots(runtime) : [];
  const name = host.replace(/^\[|\]$/g, "");
  let failure: unknown = null;
  for (const address of addresses) {
    const attempt = new AbortController();
    const cancel = clock.after(CONNECT_MS, () => attempt.abort(new Error(`no connection within ${CONNECT_MS} ms`)));
    const limit = AbortSignal.any([signal, attempt.signal]);
    try {
      if (!isSecure) return await network.connect(address, port, limit);
      return await network.connectSecure(address, port, { name, signal: limit, roots });
    } catch (error) {
      signal.throwIfAborted();
      failure ??= error;
    } finally {
      cancel();
    }
  }
  throw asUnreachable(failure, target);
}

/** Returns the request as it is sent: HTTP/1.1, the connection ends with the answer. */
function requestBytes({ url, host, port, isSecure }: RemoteTarget, init: RequestInit): Uint8Array<ArrayBuffer> {
  const { pathname, search } = new URL(url);
  const method = (init.method ?? "GET").toUpperCase();
  const text = init.body === undefined || init.body === null ? null : String(init.body);
  const body = new TextEncoder().encode(text ?? "");
  const headers = new Headers(init.headers);
  for (const name of ["host", "connection", "content-length", "accept-encoding"]) headers.delete(name);
  if (text !== null && !headers.has("content-type") && init.body instanceof URLSearchParams) {
    headers.set("content-type", "application/x-www-form-urlencoded");
  }
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `Host: ${host}${port === (isSecure ? 443 : 80) ? "" : `:${port}`}`,
    ...[...headers].map(([name, value]) => `${name}: ${value}`),
    ...(text === null && method === "GET" ? [] : [`Content-Length: ${body.length}`]),
    "Accept-Encoding: identity",
    "Connection: close",
    "",
    "",
  ];
  const head = latin1Bytes(lines.join("\r\n"));
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/** `Headers` holds one character for each byte. */
function latin1Bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);
}

/** Reads the head of the answer; those of status 1xx come before it and mean nothing here. */
async function answerHead(reader: ByteReader, { host }: RemoteTarget, method: string): Promise<AnswerHead> {
  for (;;) {
    const head = await reader.head(MAX_HEAD_BYTES);
    if ("failure" in head) throw new Error(`the answer of ${host} is ${head.failure}`);
    const answer = readAnswerHead(head.text, method.toUpperCase());
    if (answer === null) throw new Error(`the answer of ${host} is malformed`);
    if (answer.encoding !== null) throw new Error(`${host} compresses its answer, which was not asked for`);
    if (answer.status >= 200) return answer;
  }
}

function responseOf({ status, line, fields }: AnswerHead, body: ReadableStream<Uint8Array> | null): Response {
  const headers = new Headers();
  for (const [name, value] of fields) headers.append(name, value);
  const isBare = status === 204 || status === 205 || status === 304;
  if (isBare) void body?.cancel();
  return new Response(isBare ? null : body as BodyInit | null, { status, statusText: line.slice(4), headers });
}

/** Returns the body, unframed, within the bound of its type; the connection ends with it. */
function bodyStream(
  { body, fields, status }: AnswerHead,
  { reader, socket, gate, where }: {
    readonly reader: ByteReader;
    readonly socket: Socket;
    readonly gate?: () => Promise<void>;
    readonly where: string;
  },
): ReadableStream<Uint8Array> | null {
  const type = fields.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const bound: BodyBound = boundOf(status < 300 ? type : "", MAX_BODY_BYTES);
  const counter = body.kind === "rest" || body.kind === "none" ? null : bodyCounter(body);
  if (body.kind === "none" || counter?.done) {
    socket.destroy();
    return null;
  }
  const next = async (): Promise<Uint8Array[] | null> => {
    if (counter?.done) return null;
    await gate?.();
    const chunk = await reader.read();
    if (chunk === null) {
      if (counter) throw new Error(`The answer of ${where} ended early`);
      return null;
    }
    const content: Uint8Array[] = [];
    if (counter) counter.take(chunk, (piece) => content.push(piece));
    else content.push(chunk);
    for (const piece of content) bound.take(piece);
    return content;
  };
  return new ReadableStream({
    async pull(controller): Promise<void> {
      try {
        for (let content: Uint8Array[] | null = []; content?.length === 0;) {
          content = await next();
          for (const piece of content ?? []) controller.enqueue(piece);
          if (content !== null) continue;
          socket.destroy();
          controller.close();
        }
      } catch (error) {
        socket.destroy();
        controller.error(error);
      }
    },
    cancel: () => socket.destroy(),
  }, { highWaterMark: 0 });
}

/** Addresses that the host does not send to, whoever asks. */
function refused(url: string, reason: string): HostError {
  const shown = withoutQuery(url);
  return new HostError("mcp.elsewhere_refused", `Cannot connect to ${shown}: ${reason}`, { data: { url: shown } });
}

/** Returns a failure of the network as one that is worth another try. */
export function asUnreachable(error: unknown, { url, isSecure }: Pick<RemoteTarget, "url" | "isSecure">): HostError {
  if (error instanceof HostError) return error;
  const { code } = error as { code?: unknown };
  const isTls = isSecure && /CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|certificate/i.test(`${code} ${messageOf(error)}`);
  return new HostError("plugin.unreachable", `Cannot reach ${withoutQuery(url)}: ${messageOf(error)}`, {
    data: { url: withoutQuery(url), ...(typeof code === "string" && { system_code: code }) },
    ...(isTls && {
      hint:
        "This machine does not trust the certificate of the server; a root of your own goes into SSL_CERT_FILE or " +
        "NODE_EXTRA_CA_CERTS of the host",
    }),
    cause: error,
  });
}

/** A query may hold a key. */
export function withoutQuery(url: string): string {
  return url.split("?", 1)[0]!;
}
