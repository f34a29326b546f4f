/**
 * The only way from a gated cage to the network: a proxy on the host's side that knows the rules of one plugin. It
 * speaks HTTP (CONNECT and absolute-form `http://`) and SOCKS 5.
 *
 * @module
 */
import { messageOf } from "../../errors/host_error.ts";
import { canonicalHost } from "../../manifest/net_host.ts";
import type { Network, Socket, SocketListener } from "../../ports/ports.ts";
import { type BodyCounter, bodyCounter } from "./body_end.ts";
import { BoundGate, type BoundOptions, isLoopback, TLS_HANDSHAKE } from "./bound/bound_gate.ts";
import { type BoundConnection, forwardBound, serveBound } from "./bound/bound_session.ts";
import { failed, type HostPort, type RefusalStatus, RequestFailure } from "./bound/refused.ts";
import { ByteReader } from "./byte_reader.ts";
import { latin1Bytes } from "./bytes.ts";
import { type AskNetwork, HeldTargets } from "./held_targets.ts";
import { addressesOf, judgeLookup, literalAddress, type Refusal, shownHost } from "./judge_target.ts";
import { onceAMinute, type ReportOptions } from "./net_event.ts";
import type { HostRule } from "./net_parts.ts";
import { pour, type Source } from "./pour.ts";
import { ADVICE, isFault, refusal, textAnswer } from "./refusal_text.ts";
import { forwardedHead, readRequestHead } from "./request_head.ts";
import { readGreeting, readSocksRequest, SOCKS_REPLIES, SOCKS_VERSION } from "./socks5.ts";

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const LINGER_MS = 5_000;
const MAX_CONNECTIONS = 128;
/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 4;

export type { NetDenial, NetEvent, NetRefusal } from "./net_event.ts";

/** A target that may be dialled, at these addresses and no others. */
interface JudgedTarget extends HostPort {
  readonly addresses: readonly string[];
}

/** The gate of one cage. */
export interface GatekeeperOptions extends ReportOptions {
  /** The unix socket it listens on. */
  readonly path: string;
  /** Hosts the plugin may connect to. */
  readonly rules: readonly HostRule[];
  readonly network: Network;
  /** Secrets and limits; without them nothing that passes is read. */
  readonly bound?: BoundOptions | null;
  /** Asks a person about a target that no rule names. Default: it is refused. */
  readonly askNetwork?: AskNetwork | undefined;
}

/** The gate as one visit sees it. */
interface VisitOptions extends Omit<GatekeeperOptions, "bound" | "path" | "askNetwork"> {
  readonly gate: BoundGate | null;
  readonly targets: HeldTargets;
}

/** The gate of one cage. */
export interface Gatekeeper extends SocketListener {
  /** Number of connections that are open, those that wait for a person's answer included. */
  connections(): number;
}

/** Opens the gate of one cage. Closing it ends every connection. Rejects when it cannot listen. */
export async function openGatekeeper(options: GatekeeperOptions): Promise<Gatekeeper> {
  const visits = new Set<Visit>();
  const onNet = onceAMinute(options);
  const gate = options.bound ? new BoundGate(options.bound, options.clock) : null;
  const targets = new HeldTargets(options.rules, options.askNetwork);
  const listener = await options.network.listen(options.path, (client) => {
    if (visits.size >= MAX_CONNECTIONS) {
      onNet({ kind: "refused", host: "", port: 0, reason: "too-many" });
      return client.destroy();
    }
    const visit = new Visit(client, { ...options, onNet, gate, targets });
    visits.add(visit);
    void visit.serve().finally(() => visits.delete(visit));
  });
  return {
    connections: () => visits.size,
    async close(): Promise<void> {
      await listener.close();
      for (const visit of visits) visit.end();
      targets.close();
    },
  };
}

/** One connection of the plugin. */
class Visit {
  readonly #raw: Socket;
  /** The plugin's side: from a handshake on inside TLS, over the raw connection. */
  #client: Socket;
  #reader: ByteReader;
  readonly #options: VisitOptions;
  readonly #ended = new AbortController();
  #upstream: Socket | null = null;
  /** Why the last attempt to connect failed. */
  #whyNot = "";
  #cancelTimer: () => void = () => {};

  constructor(client: Socket, options: VisitOptions) {
    this.#raw = this.#client = client;
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
    } catch (error) {
      // Else either side went away, or sent what cannot be read: nobody is left to answer.
      if (error instanceof RequestFailure && error.event) this.#options.onNet(error.event);
    } finally {
      this.#cancelTimer();
      this.end();
    }
  }

  /** Ends both sides at once. */
  end(): void {
    this.#ended.abort(new Error("The connection ended"));
    this.#client.destroy();
    this.#raw.destroy();
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
    const { gate, onNet } = this.#options;
    const request = readRequestHead(found.text);
    if (request.kind === "bad") {
      const { reason, target } = request;
      for (const event of gate?.misusedIn(found.text, "wrong-place") ?? []) onNet(event);
      const refused = { refused: reason, host: shownHost(target), port: 0 };
      return await this.#answer(refused, reason === "bad-request" ? 400 : 403);
    }
    if (request.kind === "lookup") return await this.#answerLookup(request.host);
    const target = await this.#judge(request.host, request.port);
    if ("refused" in target) {
      for (const event of gate?.misusedIn(found.text, "other-host", target) ?? []) onNet(event);
      return await this.#answer(target, isFault(target.refused) ? 502 : 403);
    }
    if (request.kind === "forward" && gate && (gate.secrets.length > 0 || gate.covers(target))) {
      const whole = { ...request, authority: null, keepAlive: false, upgrade: false };
      return await forwardBound(this.#boundTo(target, gate, false), whole);
    }
    const established = latin1Bytes("HTTP/1.1 200 Connection established\r\n\r\n");
    if (request.kind === "connect" && gate?.covers(target)) return await this.#serveBound(target, gate, established);
    const upstream = await this.#dial(target);
    if ("refused" in upstream) return await this.#answer(upstream, 502);
    if (request.kind === "connect") return await this.#join(target, upstream, established);
    await upstream.write(latin1Bytes(forwardedHead(request, target.host)));
    await Promise.all([
      pour(upstream, this.#client).then(() => this.#linger()),
      sendBody(this.#reader, upstream, bodyCounter(request.body)),
    ]);
  }

  /** Reports a name that was looked up, unless it was granted. The relay answers the question itself. */
  async #answerLookup(name: string): Promise<void> {
    const { rules, gate, onNet } = this.#options;
    const refused = judgeLookup(name, rules);
    if (refused === null) return await this.#say(textAnswer(200, "granted"));
    for (const event of gate?.misusedIn(name, "other-host", refused) ?? []) onNet(event);
    await this.#answer(refused, 403);
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
    const { gate } = this.#options;
    const target = await this.#judge(request.host, request.port);
    const refuse = async (refused: Refusal): Promise<void> => {
      this.#report(refused);
      await this.#say(isFault(refused.refused) ? SOCKS_REPLIES.unreachable : SOCKS_REPLIES.notAllowed);
    };
    if ("refused" in target) return await refuse(target);
    if (gate?.covers(target)) return await this.#serveBound(target, gate, SOCKS_REPLIES.connected);
    const upstream = await this.#dial(target);
    if ("refused" in upstream) return await refuse(upstream);
    await this.#join(target, upstream, SOCKS_REPLIES.connected);
  }

  /** Passes bytes both ways until both directions have ended, unread but for placeholders in the clear. */
  async #join(target: HostPort, upstream: Socket, established: Uint8Array): Promise<void> {
    await this.#client.write(established);
    const { gate } = this.#options;
    await Promise.all([
      pour(this.#reader, upstream, gate?.tunnelWatch(target)),
      pour(upstream, this.#client),
    ]);
  }

  /** Serves a connection to a bound host, whose client speaks TLS or plain HTTP. */
  async #serveBound(target: JudgedTarget, gate: BoundGate, established: Uint8Array): Promise<void> {
    const { network, clock } = this.#options;
    await this.#client.write(established);
    const isSecure = await this.#reader.peek() === TLS_HANDSHAKE;
    if (isSecure) {
      const reader = this.#reader;
      const raw: Socket = { ...this.#raw, read: () => reader.read() };
      const identity = await gate.identityFor(target.host);
      this.#cancelTimer = clock.after(HEAD_TIMEOUT_MS, () => this.end());
      const secure = await network.acceptSecure(raw, identity, this.#ended.signal).catch(() => null);
      this.#cancelTimer();
      if (secure === null) return this.#report({ ...target, refused: "handshake" });
      [this.#client, this.#reader] = [secure, new ByteReader(secure)];
      const { serverName } = secure;
      if (serverName !== null && canonicalHost(serverName) !== target.host) {
        return this.#report({ refused: "not-allowed", host: shownHost(serverName), port: target.port });
      }
    }
    await serveBound(this.#boundTo(target, gate, isSecure));
  }

  #boundTo(target: JudgedTarget, gate: BoundGate, isSecure: boolean): BoundConnection {
    const { host, port } = target;
    const { secrets, limits, roots } = gate;
    return {
      host,
      port,
      client: this.#client,
      reader: this.#reader,
      isSecure,
      isPrivate: isSecure || isLoopback(host),
      secrets,
      limits,
      hold: (bytes) => gate.hold(bytes),
      dial: async () => {
        const upstream = await this.#dial(target, isSecure ? roots : null);
        if (!("refused" in upstream)) return upstream;
        throw failed(502, upstream.refused, isSecure ? this.#whyNot : ADVICE[upstream.refused](upstream));
      },
      report: this.#options.onNet,
      refuse: (status, message) => this.#say(textAnswer(status, message)),
      linger: () => {
        this.#client.end();
        this.#linger();
      },
    };
  }

  /** Judges a target and finds its addresses. */
  async #judge(host: string, port: number): Promise<JudgedTarget | Refusal> {
    const { targets, network } = this.#options;
    const judged = await targets.judge(host, port);
    this.#ended.signal.throwIfAborted(); // A name is not looked up for a connection that ended while it was held.
    if ("refused" in judged) return judged;
    const addresses = await addressesOf(judged, (name) => network.resolve(name));
    return "refused" in addresses ? addresses : { host: judged.host, port, addresses };
  }

  /** Connects to one of the very addresses that were judged; over TLS where there are roots to believe. */
  async #dial(target: JudgedTarget, roots: readonly string[] | null = null): Promise<Socket | Refusal> {
    const { host, port, addresses } = target;
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      const upstream = await this.#connect(address, port, roots && { name: literalAddress(host) ?? host, roots });
      this.#ended.signal.throwIfAborted();
      if (upstream === null) continue;
      this.#options.onNet({ kind: "opened", host, port });
      return upstream;
    }
    return { refused: "unreachable", host, port };
  }

  async #connect(
    address: string,
    port: number,
    tls: { readonly name: string; readonly roots: readonly string[] } | null,
  ): Promise<Socket | null> {
    const { network, clock } = this.#options;
    const attempt = new AbortController();
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => attempt.abort(new Error("It took too long")));
    try {
      const signal = AbortSignal.any([attempt.signal, this.#ended.signal]);
      const upstream =
        await (tls ? network.connectSecure(address, port, { ...tls, signal }) : network.connect(address, port, signal));
      if (this.#ended.signal.aborted) upstream.destroy();
      return this.#upstream = upstream;
    } catch (error) {
      this.#whyNot = messageOf(error);
      return null;
    } finally {
      cancel();
    }
  }

  #report({ refused, host, port, source }: Refusal): void {
    // A host that is down is no rule broken.
    if (isFault(refused)) return;
    this.#options.onNet({ kind: "refused", host, port, reason: refused, ...(source && { source }) });
  }

  async #answer(refused: Refusal, status: RefusalStatus): Promise<void> {
    this.#report(refused);
    await this.#say(textAnswer(status, `${refused.refused}: ${ADVICE[refused.refused](refused)}`));
  }

  /** Says the last word, and waits for the client to have heard it. */
  async #say(bytes: Uint8Array): Promise<void> {
    await this.#client.write(bytes);
    this.#client.end();
    this.#linger();
    while (await this.#reader.read() !== null);
  }
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
