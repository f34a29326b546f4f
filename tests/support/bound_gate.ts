/**
 * A gatekeeper with bound secrets for one test, a TLS server behind it, and a client inside.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect as connectTcp, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { BoundSecret, NetLimit } from "../../src/core/cage/net/bound_secret.ts";
import { type Authority, createAuthority } from "../../src/core/cage/net/tls/authority.ts";
import { type Gate, type GateOptions, openGate } from "./gate.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "./tls_identity.ts";
import { until } from "./until.ts";

/** The name that the certificate of `tls_identity.ts` is for, and its secret. */
export const HOST = "hooks.example";
/** Public, so that a name may lead there; the gate dials loopback in its place. */
export const ADDRESS = "93.184.216.34";
/** All that a plugin holds of the secret. */
export const PLACEHOLDER: string = `kaged_secret_${"0123456789abcdef".repeat(2)}`;
/** The secret itself: with characters that URLs, JSON and forms write differently. */
export const VALUE = 'gh/p "s3cr€t"+& value=1';

/** A request as the server got it. */
export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A TLS server on loopback. */
export interface SecureUpstream {
  readonly port: number;
  readonly heard: Heard[];
  /** Connections it took. */
  connections(): number;
}

/** Starts a server that answers each request as `answer` does once its body is there; by default with `ok`. */
export async function secureUpstream(
  t: TestContext,
  answer: (response: ServerResponse, heard: Heard) => void = (response) => void response.end("ok"),
): Promise<SecureUpstream> {
  const heard: Heard[] = [];
  let connections = 0;
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request: IncomingMessage, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => void parts.push(part)).on("error", () => {});
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString("utf8") };
      heard.push(one);
      answer(response, one);
    });
  });
  server.on("secureConnection", () => void connections++).on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void (server.close(), server.closeAllConnections()));
  return { port: (server.address() as AddressInfo).port, heard, connections: () => connections };
}

/** Starts a TLS server that speaks as `serve` does, byte by byte; returns its port. */
export async function rawUpstream(t: TestContext, serve: (socket: TLSSocket) => void): Promise<number> {
  const sockets = new Set<TLSSocket>();
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  }).on("tlsClientError", () => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** A gate with a bound secret, named `token`. */
export interface BoundGate extends Gate {
  readonly authority: Authority;
  /** Opens a tunnel and speaks TLS in it. */
  secure(options?: {
    readonly target?: string;
    /** Server name that the client asks for. */
    readonly name?: string;
    /** Whether it goes on with any certificate at all. */
    readonly isCareless?: boolean;
  }): Promise<Client>;
  /** Opens a tunnel and speaks in the clear. */
  plain(target?: string): Promise<Client>;
  /** Sends one request in a tunnel of its own and returns everything that is answered. */
  request(text: string): Promise<string>;
}

/** One connection inside a tunnel. */
export interface Client {
  /** Everything that was answered so far. */
  readonly text: string;
  send(text: string | Uint8Array): void;
  /** Resolves when the answer matches. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything when the other side has ended. */
  ended(): Promise<string>;
  close(): void;
}

/** Options of {@link openBoundGate}. */
export interface BoundGateOptions extends Partial<GateOptions> {
  readonly secrets?: readonly BoundSecret[];
  readonly limits?: readonly NetLimit[];
  /** Roots that servers are believed by; default: the authority of the tests. */
  readonly roots?: readonly string[];
}

/** Returns a secret for {@link HOST}, or for other hosts. */
export const secretFor = (overrides: Partial<BoundSecret> = {}): BoundSecret => ({
  name: "token",
  placeholder: PLACEHOLDER,
  hosts: [{ host: HOST, port: 443 }],
  value: () => VALUE,
  ...overrides,
});

/** A limit that limits nothing but for the overrides. */
export const limitOf = (overrides: Partial<NetLimit>): NetLimit => ({
  host: HOST,
  port: 443,
  methods: null,
  paths: null,
  upBytesPerMinute: null,
  downBytesPerMinute: null,
  ...overrides,
});

let made: Promise<Authority> | null = null;

/** Opens a gatekeeper with bound secrets that goes away with the test. */
export async function openBoundGate(t: TestContext, options: BoundGateOptions): Promise<BoundGate> {
  const { secrets = [secretFor()], limits = [], roots = [AUTHORITY], ...rest } = options;
  const authority = await (made ??= createAuthority(await detectRuntime()));
  const gate = await openGate(t, {
    capabilities: [`net:${HOST}:443`],
    names: { [HOST]: [ADDRESS] },
    bound: { secrets, limits, authority, roots },
    ...rest,
  });
  const plain = async (target = `${HOST}:443`): Promise<Client> => clientOf(t, await tunnel(t, gate, target));
  const secure: BoundGate["secure"] = async ({ target = `${HOST}:443`, name = HOST, isCareless = false } = {}) => {
    const socket = await tunnel(t, gate, target);
    const tls = connectTls({
      socket,
      servername: name,
      ca: authority.certificate,
      rejectUnauthorized: !isCareless,
      ALPNProtocols: ["h2", "http/1.1"], // As clients of HTTP/2 offer it: they must fall back.
    });
    await new Promise((resolve, reject) => tls.once("secureConnect", resolve).once("error", reject)).catch((error) => {
      socket.destroy(); // Not every runtime ends the connection with the handshake.
      throw error;
    });
    return clientOf(t, tls);
  };
  return {
    ...gate,
    authority,
    plain,
    secure,
    async request(text): Promise<string> {
      const client = await secure();
      client.send(text);
      return await client.ended();
    },
  };
}

async function tunnel(t: TestContext, gate: Gate, target: string): Promise<Socket> {
  const socket = connectTcp({ path: gate.path }).on("error", () => {});
  t.after(() => void socket.destroy());
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [answer] = await once(socket, "data") as [Uint8Array];
  if (!String(Buffer.from(answer)).startsWith("HTTP/1.1 200")) throw new Error(String(Buffer.from(answer)));
  return socket;
}

function clientOf(t: TestContext, socket: Socket): Client {
  const parts: Uint8Array[] = [];
  let isEnded = false;
  const all = (): string => Buffer.concat(parts).toString("utf8");
  socket.on("data", (part: Uint8Array) => void parts.push(part));
  for (const event of ["end", "close", "error"]) socket.on(event, () => void (isEnded = true));
  t.after(() => void socket.destroy());
  return {
    get text(): string {
      return all();
    },
    send: (text) => void socket.write(text),
    async until(pattern): Promise<string> {
      await until(() => pattern.test(all()), () => `${pattern} in ${JSON.stringify(all().slice(-500))}`);
      return all();
    },
    async ended(): Promise<string> {
      await until(() => isEnded, () => `the end of ${JSON.stringify(all().slice(-500))}`);
      socket.destroy();
      return all();
    },
    close: () => void socket.destroy(),
  };
}
