/**
 * One POST to one address. It is written by hand, because each runtime's own client treats proxies, redirects and lookups
 * differently: this one connects to the given address, asks once, and reads no further than the answer's head.
 *
 * @module
 */
import { ByteReader } from "../../core/cage/net/byte_reader.ts";
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import type { Network, Socket } from "../../core/ports/ports.ts";
import type { WebhookTarget } from "./target.ts";

interface PostRequest {
  readonly target: WebhookTarget;
  /** Addresses of the target, tried in order. */
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Certificates to trust beside the system's (PEM). */
  readonly trusted: readonly string[];
}

interface PostAnswer {
  readonly status: number;
  /** The `Retry-After` header, or null. */
  readonly retryAfter: string | null;
}

const MAX_HEAD = 16 * 1024;
/** Answers such as 103 that may come before the real one. */
const MAX_EARLY = 8;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9][0-9]{2})(?: |$)/;

/**
 * Sends it, and gives up when the signal says so.
 *
 * @throws {HostError} `addons.webhook_unreachable` when nobody answers, or not in HTTP.
 */
export async function post(request: PostRequest, network: Network, signal: AbortSignal): Promise<PostAnswer> {
  const socket = await connect(request, network, signal);
  const end = (): void => socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end(); // While the connection was handed over.
  try {
    return await exchange(socket, request);
  } catch (cause) {
    throw unreachable(request, cause);
  } finally {
    signal.removeEventListener("abort", end);
    socket.destroy();
  }
}

async function connect(request: PostRequest, network: Network, signal: AbortSignal): Promise<Socket> {
  const { addresses, trusted, target: { host, port, isSecure } } = request;
  const name = host.startsWith("[") ? host.slice(1, -1) : host;
  let failure: unknown = null;
  for (const address of addresses) {
    try {
      if (!isSecure) return await network.connect(address, port, signal);
      return await network.connectSecure(address, port, { name, signal, trusted });
    } catch (error) {
      failure = error;
    }
  }
  throw unreachable(request, failure);
}

async function exchange(socket: Socket, { target, headers, body }: PostRequest): Promise<PostAnswer> {
  const encoder = new TextEncoder();
  const content = encoder.encode(body);
  const fields = {
    host: target.authority,
    ...headers,
    "content-type": "application/json",
    "content-length": String(content.length),
    connection: "close",
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = encoder.encode(`POST ${target.path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const message = new Uint8Array(head.length + content.length);
  message.set(head);
  message.set(content, head.length);
  // Not awaited: a receiver may answer before it has read everything, and close.
  const written = socket.write(message).then(() => null, (error: unknown) => error);
  const reader = new ByteReader(socket);
  for (let early = 0; early <= MAX_EARLY; early++) {
    const answer = await reader.head(MAX_HEAD);
    if ("failure" in answer) throw (await written) ?? new Error(`the answer is ${answer.failure}`);
    const [first = "", ...rest] = answer.text.split("\r\n");
    const status = Number(STATUS_LINE.exec(first)?.[1] ?? 0);
    if (status === 0) throw new Error("the answer is not HTTP");
    if (status >= 200) return { status, retryAfter: fieldOf(rest, "retry-after") };
  }
  throw new Error("the answer never comes");
}

function fieldOf(lines: readonly string[], name: string): string | null {
  const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? null : line.slice(name.length + 1).trim();
}

function unreachable({ target }: PostRequest, cause: unknown): HostError {
  const message = `Cannot deliver to "${target.origin}": ${messageOf(cause)}`;
  return new HostError("addons.webhook_unreachable", message, { cause });
}
