/**
 * The only way from a gated cage to the network: a proxy on the host's side that knows the rules of one plugin. It
 * speaks HTTP (CONNECT and absolute-form `http://`) and SOCKS 5.
 *
 * @module
 */
import type { Clock, Network, Socket, SocketListener } from "../../ports/ports.ts";
import { type BodyCounter, bodyCounter } from "./body_end.ts";
import { ByteReader } from "./byte_reader.ts";
import { addressesOf, judgeTarget, type Refusal, type RefusalReason, shownHost } from "./judge_target.ts";
import type { HostRule } from "./net_parts.ts";
import { forwardedHead, readRequestHead } from "./request_head.ts";
import { readGreeting, readSocksRequest, SOCKS_REPLIES, SOCKS_VERSION } from "./socks5.ts";

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const LINGER_MS = 5_000;
const MAX_CONNECTIONS = 128;
/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 4;
const MINUTE_MS = 60_000;
/** Different events passed on within a minute: a plugin may ask for a new host with each request. */
const MAX_EVENTS = 100;

/** A connection of a plugin, reported once a minute for each host and port. */
export type NetEvent =
  | { readonly kind: "opened"; readonly host: string; readonly port: number }
  | { readonly kind: "refused"; readonly host: string; readonly port: number; readonly reason: RefusalReason };

/** A connection that was refused. */
export type NetRefusal = Extract<NetEvent, { kind: "refused" }>;

/** The gate of one cage. */
export interface GatekeeperOptions {
  /** The unix socket it listens on. */
  readonly path: string;
  /** Hosts the plugin may connect to. */
  readonly rules: readonly HostRule[];
  readonly network: Network;
  readonly clock: Clock;
  readonly onNet: (event: NetEvent) => void;
  /** Receives every refusal, however often it comes. */
  readonly onRefused?: ((refusal: NetRefusal) => void) | undefined;
}

/** Opens the gate of one cage. Closing it ends every connection. Rejects when it cannot listen. */
export async function openGatekeeper(options: GatekeeperOptions): Promise<SocketListener> {
  const visits = new Set<Visit>();
  const onNet = onceAMinute(options);
  const listener = await options.network.listen(options.path, (client) => {
    if (visits.size >= MAX_CONNECTIONS) {
      onNet({ kind: "refused", host: "", port: 0, reason: "too-many" });
      return client.destroy();
    }
    const visit = new Visit(client, { ...options, onNet });
    visits.add(visit);
    void visit.serve().finally(() => visits.delete(visit));
  });
  return {
    async close(): Promise<void> {
      await listener.close();
      for (const visit of visits) visit.end();
    },
  };
}

/** Returns a function that passes each different event on once a minute, and at most {@link MAX_EVENTS} of them. */
function onceAMinute({ clock, onNet, onRefused }: GatekeeperOptions): (event: NetEvent) => void {
  const passedAtMs = new Map<string, number>();
  return (event) => {
    if (event.kind === "refused") onRefused?.(event);
    const { kind, host, port } = event;
    const key = `${kind} ${host}:${port} ${kind === "refused" ? event.reason : ""}`;
    const nowMs = clock.monotonic();
    // In the order in which they were passed on: the oldest come first.
    for (const [old, atMs] of passedAtMs) {
      if (nowMs - atMs < MINUTE_MS) break;
      passedAtMs.delete(old);
    }
    if (passedAtMs.has(key) || passedAtMs.size >= MAX_EVENTS) return;
    passedAtMs.set(key, nowMs);
    onNet(event);
  };
}

/** One connection of the plugin. */
class Visit {
  readonly #client: Socket;
  readonly #reader: ByteReader;
  readonly #options: GatekeeperOptions;
  readonly #ended = new AbortController();
  #upstream: Socket | null = null;
  #cancelTimer: () => void = () => {};

  constructor(client: Socket, options: GatekeeperOptions) {
    this.#client = client;
    this.#reader = new ByteReader(client);
    this.#options = options;
  }

  /** Serves it to its end. Never rejects. */
  async serve(): Promise<void> {
    this.#cancelTimer = this.#options.clock.after(HEAD_TIMEOUT_MS, () => this.end());
    try {
      const first = await this.#reader.peek();
      if (first === null) return;
      await (first === SOCKS_VERSION ? this.#serveSocks() : this.#serveHttp());
    } catch {
      // Either side went away, or sent what cannot be read: nobody is left to answer.
    } finally {
      this.#cancelTimer();
      this.end();
    }
  }

  /** Ends both sides at once. */
  end(): void {
    this.#ended.abort(new Error("The connection ended"));
    this.#client.destroy();
    this.#upstream?.destroy();
  }

  /** Leaves the client some time to hear the end: closing on bytes nobody has read would cut the answer short. */
  #linger(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(LINGER_MS, () => this.end());
  }

  async #serveHttp(): Promise<void> {
    const found = await this.#reader.head(MAX_HEAD_BYTES);
    this.#cancelTimer();
    if ("failure" in found) {
      if (found.failure === "ended") return;
      return await this.#answer(refusal("bad-request"), found.failure === "too-large" ? 431 : 400);
    }
    const request = readRequestHead(found.text);
    if (request.kind === "bad") {
      const { reason, target } = request;
      const refused = { refused: reason, host: shownHost(target), port: 0 };
      return await this.#answer(refused, reason === "bad-request" ? 400 : 403);
    }
    const target = await this.#open(request.host, request.port);
    if ("refused" in target) return await this.#answer(target, isFault(target.refused) ? 502 : 403);
    if (request.kind === "connect") {
      await this.#client.write(bytesOf("HTTP/1.1 200 Connection established\r\n\r\n"));
      return await joinBoth(this.#client, this.#reader, target.upstream);
    }
    await target.upstream.write(bytesOf(forwardedHead(request, target.host)));
    await Promise.all([
      pour(target.upstream, this.#client).then(() => this.#linger()),
      sendBody(this.#reader, target.upstream, bodyCounter(request.body)),
    ]);
  }

  async #serveSocks(): Promise<void> {
    const take = (count: number): Promise<Uint8Array> => this.#reader.take(count);
    if (!await readGreeting(take)) return await this.#say(SOCKS_REPLIES.noMethod);
    await this.#client.write(SOCKS_REPLIES.noAuth);
    const request = await readSocksRequest(take);
    this.#cancelTimer();
    if (request.kind === "bad") {
      this.#report(refusal("bad-request"));
      return await this.#say(request.reply);
    }
    const target = await this.#open(request.host, request.port);
    if ("refused" in target) {
      this.#report(target);
      return await this.#say(isFault(target.refused) ? SOCKS_REPLIES.unreachable : SOCKS_REPLIES.notAllowed);
    }
    await this.#client.write(SOCKS_REPLIES.connected);
    await joinBoth(this.#client, this.#reader, target.upstream);
  }

  /** Judges a target and connects to the very address that was judged. */
  async #open(host: string, port: number): Promise<{ upstream: Socket; host: string } | Refusal> {
    const { rules, network, onNet } = this.#options;
    const judged = judgeTarget(host, port, rules);
    if ("refused" in judged) return judged;
    const addresses = await addressesOf(judged, (name) => network.resolve(name));
    if ("refused" in addresses) return addresses;
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      const upstream = await this.#connect(address, port);
      this.#ended.signal.throwIfAborted();
      if (upstream === null) continue;
      onNet({ kind: "opened", host: judged.host, port });
      return { upstream, host: judged.host };
    }
    return { refused: "unreachable", host: judged.host, port };
  }

  async #connect(address: string, port: number): Promise<Socket | null> {
    const { network, clock } = this.#options;
    const attempt = new AbortController();
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => attempt.abort(new Error("It took too long")));
    try {
      const upstream = await network.connect(address, port, AbortSignal.any([attempt.signal, this.#ended.signal]));
      if (this.#ended.signal.aborted) upstream.destroy();
      return this.#upstream = upstream;
    } catch {
      return null;
    } finally {
      cancel();
    }
  }

  #report({ refused, host, port }: Refusal): void {
    // A host that is down is no rule broken.
    if (!isFault(refused)) this.#options.onNet({ kind: "refused", host, port, reason: refused });
  }

  async #answer(refused: Refusal, status: 400 | 403 | 431 | 502): Promise<void> {
    this.#report(refused);
    const body = `${refused.refused}: ${ADVICE[refused.refused](refused)}\n`;
    const head = [
      `HTTP/1.1 ${status} ${STATUS_TEXT[status]}`,
      "Content-Type: text/plain; charset=utf-8",
      `Content-Length: ${bytesOf(body).length}`,
      "Connection: close",
    ];
    await this.#say(bytesOf(`${head.join("\r\n")}\r\n\r\n${body}`));
  }

  /** Says the last word, and waits for the client to have heard it. */
  async #say(bytes: Uint8Array): Promise<void> {
    await this.#client.write(bytes);
    this.#client.end();
    this.#linger();
    while (await this.#reader.read() !== null);
  }
}

type Source = Pick<ByteReader, "read">;

/** Joins two connections until both directions have ended. Rejects when either breaks. */
async function joinBoth(client: Socket, fromClient: Source, upstream: Socket): Promise<void> {
  await Promise.all([pour(fromClient, upstream), pour(upstream, client)]);
}

async function pour(from: Source, to: Socket): Promise<void> {
  for (let chunk = await from.read(); chunk; chunk = await from.read()) await to.write(chunk);
  to.end();
}

/** Sends one body on, and throws away what comes after it. Resolves when the client has ended too. */
async function sendBody(from: Source, to: Socket, body: BodyCounter): Promise<void> {
  let isTaken = true;
  for (let chunk = await from.read(); chunk; chunk = await from.read()) {
    const count = body.done ? 0 : body.take(chunk);
    if (count === 0 || !isTaken) continue;
    // A server may answer and close before it has read the body: its answer still counts.
    isTaken = await to.write(chunk.subarray(0, count)).then(() => true, () => false);
  }
  if (!body.done) throw new TypeError("The body ended early");
}

const STATUS_TEXT = {
  400: "Bad Request",
  403: "Forbidden",
  431: "Request Header Fields Too Large",
  502: "Bad Gateway",
};

const refusal = (reason: RefusalReason): Refusal => ({ refused: reason, host: "", port: 0 });

/** Whether the other side is at fault, rather than the plugin. */
const isFault = (reason: RefusalReason): boolean => reason === "unresolved" || reason === "unreachable";

/** Advice to the author of the plugin. */
const ADVICE: Readonly<Record<RefusalReason, (target: Refusal) => string>> = {
  "not-allowed": ({ host, port }) => `the manifest does not grant net:${host}:${port}`,
  "bad-target": () => "name one host in its usual spelling, and a port",
  "resolves-to-private": ({ host }) =>
    `${host} leads to a private address; grant that address itself where it is meant`,
  "bad-request": () => "send CONNECT host:port, or a request for http://host/, with lines that end in CR LF",
  "unresolved": ({ host }) => `${host} has no address`,
  "unreachable": ({ host, port }) => `nobody answers at ${host}:${port}`,
  "too-many": () => "close some connections first",
};

const encoder = new TextEncoder();
/** One byte per character up to U+00FF is what heads are made of; all else here is ASCII. */
function bytesOf(text: string): Uint8Array {
  // deno-lint-ignore no-control-regex
  if (!/[^\x00-\x7f]/.test(text)) return encoder.encode(text);
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
