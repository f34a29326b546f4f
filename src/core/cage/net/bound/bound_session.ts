/**
 * One connection of a plugin to a bound host: HTTP/1.1, request after request, on one connection to the server. The
 * values of secrets go in, and are masked on the way back.
 *
 * @module
 */
import { messageOf } from "../../../errors/host_error.ts";
import { canonicalHost } from "../../../manifest/net_host.ts";
import type { Socket } from "../../../ports/ports.ts";
import type { BoundSecret } from "../bound_secret.ts";
import { ByteReader } from "../byte_reader.ts";
import { joined, latin1Bytes } from "../bytes.ts";
import type { NetEvent } from "../net_event.ts";
import { pour } from "../pour.ts";
import { type OriginRequest, readAuthority, readOriginHead, valuesOf } from "../request_head.ts";
import { type AnswerHead, readAnswerHead } from "./answer_head.ts";
import { bodyPieces, chunkOf, collect, LAST_CHUNK, type Pieces } from "./body_flow.ts";
import { frameWatch } from "./frame_watch.ts";
import { maskSwaps } from "./masks.ts";
import type { Allowance, NetLimits } from "./net_limits.ts";
import { type FilledHead, Placeholders } from "./placeholders.ts";
import { failed, type HostPort, misused, type RefusalStatus, refusedRequest, RequestFailure } from "./refused.ts";
import { headOf, MAX_SEARCHED_BYTES, pass, relayAnswer } from "./relay_answer.ts";
import { ByteSwapper, type Swap, swapAll } from "./swap_bytes.ts";

const MAX_HEAD_BYTES = 16 * 1024;
const MAX_ANSWER_HEAD_BYTES = 64 * 1024;

/** A plugin's connection to a bound host, with all that its requests need. */
export interface BoundConnection extends HostPort {
  /** Where answers go: inside TLS if the client speaks it. */
  readonly client: Socket;
  readonly reader: ByteReader;
  /** Whether the client speaks TLS, and the server then too. */
  readonly isSecure: boolean;
  /** Whether nobody on the way can read: TLS, or a connection that stays on this machine. */
  readonly isPrivate: boolean;
  /** Every secret of the cage. */
  readonly secrets: readonly BoundSecret[];
  readonly limits: NetLimits;
  /** Makes room for a body to be held; the returned function gives it back. Throws a {@link RequestFailure}. */
  hold(bytes: number): () => void;
  /** Opens a connection to the server. Rejects with a {@link RequestFailure}. */
  dial(): Promise<Socket>;
  report(event: NetEvent): void;
  /** Answers in the place of the server, and ends the connection. */
  refuse(status: RefusalStatus, message: string): Promise<void>;
  /** Ends the sending side, and gives the client some time to end its own. */
  linger(): void;
}

/** Serves a connection to its end. Rejects when either side breaks. */
export async function serveBound(connection: BoundConnection): Promise<void> {
  const session = new BoundSession(connection);
  await session.answering(async () => {
    while (await session.next());
  });
}

/** Serves one request that came to the gatekeeper as to a proxy; the connection ends with its answer. */
export async function forwardBound(connection: BoundConnection, request: OriginRequest): Promise<void> {
  const session = new BoundSession(connection);
  await session.answering(() => session.exchange(request));
}

/** A body on its way to the server. */
interface Outgoing {
  /** Fields that say its length. */
  readonly framing: readonly string[];
  /** Bytes that go out together with the head. */
  readonly first: Uint8Array;
  /** Sends the rest; null when there is none. */
  readonly send: ((write: (bytes: Uint8Array) => Promise<void>) => Promise<void>) | null;
}

const NOTHING = new Uint8Array(0);

/** The body of a request; rejects with a {@link RequestFailure} when it is malformed. */
async function* requestPieces(reader: ByteReader, framing: OriginRequest["body"]): Pieces {
  try {
    yield* bodyPieces(reader, framing);
  } catch (error) {
    throw error instanceof TypeError ? failed(400, "bad-request", messageOf(error)) : error;
  }
}

class BoundSession {
  readonly #connection: BoundConnection;
  readonly #placeholders: Placeholders;
  #upstream: { readonly socket: Socket; readonly reader: ByteReader } | null = null;
  #hasBegun = false;

  constructor(connection: BoundConnection) {
    this.#connection = connection;
    this.#placeholders = new Placeholders(connection);
  }

  /**
   * Runs some work and lets the client hear the last of it; answers the failure of a request where nothing was answered
   * yet. An answer that failed half-way is cut off, so that nobody takes it for a whole one.
   */
  async answering(work: () => Promise<unknown>): Promise<void> {
    const { report, refuse, linger, reader } = this.#connection;
    try {
      await work();
      this.#upstream?.socket.destroy();
      linger();
      while (await reader.read() !== null);
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      if (error.event) report(error.event);
      if (!this.#hasBegun) await refuse(error.status, error.message);
    } finally {
      this.#upstream?.socket.destroy();
    }
  }

  /** Serves the next request; whether another may follow. */
  async next(): Promise<boolean> {
    const { reader, host, port } = this.#connection;
    const defaultPort = this.#defaultPort();
    // A server that ends a connection between two requests ends the client's with it: the client knows what to do.
    const gone = this.#upstream?.reader.peek().then(() => true, () => true);
    const isGone = gone && await Promise.race([gone, reader.peek().then(() => false)]);
    if (isGone) return false;
    this.#hasBegun = false;
    const found = await reader.head(MAX_HEAD_BYTES);
    if ("failure" in found) {
      if (found.failure === "ended") return false;
      throw failed(found.failure === "too-large" ? 431 : 400, "bad-request", "send HTTP/1.1, lines end in CR LF");
    }
    const request = readOriginHead(found.text);
    if (request === null) {
      this.#placeholders.refuseIn(found.text);
      throw failed(400, "bad-request", "send a path, one Host, and one length of the body");
    }
    const named = request.authority === null ? { host, port } : readAuthority(request.authority, defaultPort);
    const isHere = named !== null && canonicalHost(named.host) === host && [port, defaultPort].includes(named.port);
    if (!isHere) {
      this.#placeholders.refuseIn(found.text, "other-host");
      throw refusedRequest(request, this.#connection, "other-host");
    }
    return await this.exchange(request);
  }

  /** Sends a request on and its answer back; whether another request may follow. */
  async exchange(request: OriginRequest): Promise<boolean> {
    const allowance = this.#connection.limits.judge(request, this.#connection);
    const filled = this.#placeholders.inHead(request);
    const masks = this.#masks(filled);
    const send = await this.#begin(request, { allowance, filled, isMasked: masks.length > 0 });
    const { socket } = this.#upstream!;
    if (!send) {
      this.#endWithClient(socket);
      return await this.#answer(request, masks, allowance);
    }
    let failure: unknown = null;
    let isSent = false;
    let isTaken = true;
    const sending = send(async (bytes) => {
      // A server may answer and close before it has read the body: its answer still counts.
      if (isTaken) isTaken = await socket.write(bytes).then(() => true, () => false);
    }).then(() => {
      isSent = true;
      this.#endWithClient(socket);
    }, (error: unknown) => {
      failure = error;
      socket.destroy(); // The server must not take the part it has for the whole.
    });
    const mayFollow = await this.#answer(request, masks, allowance).catch((error: unknown) => {
      throw failure ?? error;
    });
    if (isSent) return mayFollow;
    this.#connection.linger();
    await sending;
    if (failure !== null) throw failure;
    return false;
  }

  /** Sends the head, and a small body with it; returns the function that sends the rest, if there is any. */
  async #begin(
    request: OriginRequest,
    { allowance, filled, isMasked }: { allowance: Allowance; filled: FilledHead; isMasked: boolean },
  ): Promise<Outgoing["send"]> {
    const { kind, bytes } = { bytes: 0, ...request.body };
    const release = this.#connection.hold(kind === "length" && bytes <= MAX_SEARCHED_BYTES ? bytes : 0);
    try {
      const body = await this.#outgoing(request, allowance);
      const { socket } = this.#upstream ??= await this.#dial();
      const head = latin1Bytes(this.#head(request, filled, body, isMasked));
      allowance.up(head.length);
      await socket.write(joined([head, body.first]));
      return body.send;
    } finally {
      release();
    }
  }

  /** The port that a Host without one stands for. */
  #defaultPort(): number {
    return this.#connection.isSecure ? 443 : 80;
  }

  /** Ends the server's side when the client goes away before it has the whole answer; TLS has no other early end. */
  #endWithClient(socket: Socket): void {
    if (!this.#connection.isSecure) return;
    this.#connection.reader.peek().then((byte) => byte === null && socket.destroy(), () => socket.destroy());
  }

  async #dial(): Promise<{ socket: Socket; reader: ByteReader }> {
    const socket = await this.#connection.dial();
    return { socket, reader: new ByteReader(socket) };
  }

  #masks({ credentials }: FilledHead): Swap[] {
    const masks = this.#placeholders.bound().flatMap(({ placeholder, value }) => {
      try {
        return [{ placeholder, value: value() }];
      } catch {
        return []; // Without a value there is nothing to mask.
      }
    });
    return maskSwaps(masks, credentials);
  }

  #head(request: OriginRequest, filled: FilledHead, { framing }: Outgoing, isMasked: boolean): string {
    const { host, port } = this.#connection;
    // Frames that the server could ask to have compressed could not be read along.
    const dropped = isMasked ? ["expect", "accept-encoding", "sec-websocket-extensions"] : ["expect"];
    const lines = [
      `${request.method} ${filled.path} HTTP/1.1`,
      `Host: ${host}${port === this.#defaultPort() ? "" : `:${port}`}`,
      ...filled.fields.filter(([name]) => !dropped.includes(name.toLowerCase())).map(([name, value]) =>
        `${name}: ${value}`
      ),
      ...(isMasked ? ["Accept-Encoding: identity"] : []),
      ...framing,
      ...(request.upgrade ? ["Connection: Upgrade", "Upgrade: websocket"] : []),
      ...(request.keepAlive || request.upgrade ? [] : ["Connection: close"]),
    ];
    return `${lines.join("\r\n")}\r\n\r\n`;
  }

  /** Takes in a small body, or gets ready to send a large one on as it comes. */
  async #outgoing(request: OriginRequest, allowance: Allowance): Promise<Outgoing> {
    const { body, fields } = request;
    const { reader, client, report } = this.#connection;
    if (body.kind === "length" && body.bytes === 0) {
      return { framing: body.stated ? ["Content-Length: 0"] : [], first: NOTHING, send: null };
    }
    if (body.kind === "length") allowance.up(body.bytes); // Before any of it is asked for.
    let searched = 0;
    const isOver = (): boolean => searched > MAX_SEARCHED_BYTES;
    const onLeft = (name: string): void => report(misused(name, this.#connection, "too-large").event!);
    const isEncoded = valuesOf(fields, "content-encoding").some((value) => value.toLowerCase() !== "identity");
    const [type = null] = valuesOf(fields, "content-type");
    const swaps = isEncoded ? [] : this.#placeholders.inBody(type, { isOver, onLeft });
    // The gatekeeper itself asks for the body: it has judged the head, and the server will answer in any case.
    if (valuesOf(fields, "expect").length > 0) await client.write(latin1Bytes("HTTP/1.1 100 Continue\r\n\r\n"));
    if (body.kind === "length" && body.bytes <= MAX_SEARCHED_BYTES) {
      const first = swapAll(await collect(requestPieces(reader, body)), swaps);
      return { framing: [`Content-Length: ${first.length}`], first, send: null };
    }
    if (body.kind === "length") searched = body.bytes;
    const counted = async function* (): Pieces {
      for await (const piece of requestPieces(reader, body)) {
        if (body.kind === "chunked") {
          allowance.up(piece.length);
          searched += piece.length;
        }
        yield piece;
      }
    };
    const swapper = new ByteSwapper(swaps);
    if (body.kind === "length") {
      const framing = [`Content-Length: ${body.bytes}`];
      return { framing, first: NOTHING, send: (write) => pass(counted(), swapper, write) };
    }
    return {
      framing: ["Transfer-Encoding: chunked"],
      first: NOTHING,
      send: async (write) => {
        await pass(counted(), swapper, (bytes) => write(chunkOf(bytes)));
        await write(LAST_CHUNK);
      },
    };
  }

  async #answer(request: OriginRequest, masks: readonly Swap[], allowance: Allowance): Promise<boolean> {
    const { client, hold } = this.#connection;
    const { reader } = this.#upstream!;
    const answer = await this.#answerHead(request, allowance);
    if (answer.status === 101) {
      await this.#switch(answer, { request, masks, allowance });
      return false;
    }
    const keepAlive = request.keepAlive && answer.keepAlive;
    await relayAnswer(answer, reader, {
      client,
      masks,
      keepAlive,
      hold,
      readsChunks: request.version === "HTTP/1.1",
      onPiece: ({ length }) => allowance.down(length),
      onBegin: () => this.#hasBegun = true,
    });
    return keepAlive;
  }

  /** Reads heads up to that of the answer itself: the gatekeeper has spoken for those before it. */
  async #answerHead({ method }: OriginRequest, allowance: Allowance): Promise<AnswerHead> {
    for (;;) {
      const found = await this.#upstream!.reader.head(MAX_ANSWER_HEAD_BYTES).catch(() => ({ failure: "ended" }));
      if ("failure" in found) throw failed(502, "bad-answer", `the server's answer is ${found.failure}`);
      allowance.down(found.text.length);
      const answer = readAnswerHead(found.text, method);
      if (answer === null) throw failed(502, "bad-answer", "the head of the server's answer cannot be read");
      if (answer.status >= 200 || answer.status === 101) return answer;
    }
  }

  /** Joins both sides after the server has agreed to speak WebSocket: what passes then is not changed. */
  async #switch(
    answer: AnswerHead,
    { request, masks, allowance }: { request: OriginRequest; masks: readonly Swap[]; allowance: Allowance },
  ): Promise<void> {
    const { client, reader, secrets, report } = this.#connection;
    const { socket, reader: fromServer } = this.#upstream!;
    if (!request.upgrade) throw failed(502, "bad-answer", "the server changed the protocol unasked");
    this.#hasBegun = true;
    await client.write(headOf(answer, ["Connection: Upgrade", "Upgrade: websocket"], { masks, keepAlive: true }));
    const watch = frameWatch(secrets, (name) => report(misused(name, this.#connection, "web-socket").event!));
    const onSent = (bytes: Uint8Array): void => {
      allowance.up(bytes.length);
      watch(bytes);
    };
    await Promise.all([
      pour(reader, socket, onSent),
      pour(fromServer, client, ({ length }) => allowance.down(length)),
    ]);
  }
}
