/**
 * A gatekeeper for one test, with names and addresses that lead to servers on loopback and nowhere else.
 *
 * @module
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { BoundOptions } from "../../src/core/cage/net/bound/bound_gate.ts";
import { type NetEvent, openGatekeeper } from "../../src/core/cage/net/gatekeeper.ts";
import type { AskNetwork } from "../../src/core/cage/net/held_targets.ts";
import { hostRules, type NetRule } from "../../src/core/cage/net/net_parts.ts";
import { readCapabilities } from "../../src/core/manifest/capability.ts";
import type { Network } from "../../src/core/ports/ports.ts";
import { createFakeClock, type FakeClock } from "./fake_clock.ts";
import { scratchDir } from "./scratch_dir.ts";

/** A server on loopback. */
export interface Upstream {
  /** Its port. */
  readonly port: number;
  /** Everything that was sent to it, one text per connection. */
  readonly heard: string[];
}

/** Starts a server that answers with the request it got, or as `serve` does. */
export async function upstream(t: TestContext, serve?: (socket: Socket) => void): Promise<Upstream> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const at = heard.push("") - 1;
    sockets.add(socket);
    socket.setEncoding("latin1").on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.on("data", (text: string) => void (heard[at] += text));
    (serve ?? answerOnce)(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, heard };
}

/** Answers the first bytes with a whole response and ends. */
function answerOnce(socket: Socket): void {
  socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
}

/** A gatekeeper under a test's hand. */
export interface Gate {
  /** Its socket. */
  readonly path: string;
  /** Its clock. */
  readonly clock: FakeClock;
  /** Its audit events so far. */
  readonly events: NetEvent[];
  /** Addresses it connected to, as `address:port`. */
  readonly dialled: string[];
  /** Sends text and returns everything that is answered up to the end. */
  ask(text: string | Uint8Array): Promise<string>;
  /** Opens a connection. */
  open(): Socket;
  /** Closes it. */
  close(): Promise<void>;
}

/** Whom a gatekeeper may let through, and where names lead. */
export interface GateOptions {
  /** Capabilities of the plugin. */
  readonly capabilities: readonly string[];
  /** Addresses of names. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Port on loopback that every address but loopback leads to; without it nobody answers there. */
  readonly port?: number;
  /** Secrets and limits. */
  readonly bound?: BoundOptions;
  /** Asks a person about a target that was not granted. */
  readonly askNetwork?: AskNetwork | undefined;
  /** Parts of the network to replace. */
  readonly network?: Partial<Network>;
}

/** Opens a gatekeeper that goes away with the test. */
export async function openGate(t: TestContext, options: GateOptions): Promise<Gate> {
  const { capabilities, names = {}, port, bound = null, askNetwork } = options;
  const runtime = await detectRuntime();
  const path = `${await scratchDir(t)}/gate`;
  const clock = createFakeClock();
  const events: NetEvent[] = [];
  const dialled: string[] = [];
  const network: Network = {
    ...runtime.network,
    resolve: (name) => Promise.resolve([...names[name] ?? []]),
    connect(address, asked, signal) {
      dialled.push(`${address}:${asked}`);
      if (address === "127.0.0.1") return runtime.network.connect(address, asked, signal);
      if (port === undefined) return Promise.reject(new Error("Nobody there"));
      return runtime.network.connect("127.0.0.1", port, signal);
    },
    connectSecure(address, asked, secure) {
      dialled.push(`${address}:${asked}`);
      return runtime.network.connectSecure("127.0.0.1", port ?? asked, secure);
    },
    ...options.network,
  };
  const rules = hostRules(readCapabilities(capabilities).filter((asked): asked is NetRule => asked.kind === "net"));
  const onNet = (event: NetEvent): void => void events.push(event);
  const gatekeeper = await openGatekeeper({ path, rules, network, clock, bound, onNet, askNetwork });
  t.after(() => gatekeeper.close());
  const open = (): Socket => connect({ path, allowHalfOpen: true }).on("error", () => {});
  return {
    path,
    clock,
    events,
    dialled,
    open,
    async ask(text): Promise<string> {
      const socket = open().setEncoding("latin1");
      let answer = "";
      socket.on("data", (part: string) => void (answer += part)).on("end", () => socket.end());
      socket.write(text);
      await once(socket, "close");
      return answer;
    },
    close: () => gatekeeper.close(),
  };
}

/** Resolves when the other side has ended a connection, in whatever way. */
export async function untilEnded(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) socket.once(event, () => resolve());
  });
  socket.destroy();
}
