import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { mkdir, readdir, stat } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket as NetSocket } from "node:net";
import process from "node:process";
import { Duplex } from "node:stream";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createAuthority } from "../../src/core/cage/net/tls/authority.ts";
import type { SecureSocket, Socket } from "../../src/core/ports/ports.ts";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { scratchDir } from "../support/scratch_dir.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "../support/tls_identity.ts";
import { turn, until } from "../support/until.ts";

const { network } = await detectRuntime();
const never = new AbortController().signal;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (chunk: Uint8Array | null): string | null => chunk && new TextDecoder().decode(chunk);

/** Reads to the end. */
async function all(socket: Socket): Promise<number> {
  let size = 0;
  for (let chunk = await socket.read(); chunk; chunk = await socket.read()) size += chunk.length;
  return size;
}

/** A TCP server on loopback for one test; returns its port. */
async function tcpServer(t: TestContext, onConnection: (socket: NetSocket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, onConnection).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("a listener takes connections at a path that only its user may open, and removes it", async (t) => {
  const path = `${await scratchDir(t)}/s`;
  const sockets: Socket[] = [];
  const listener = await network.listen(path, (socket) => void sockets.push(socket));
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const client = connect(path);
  client.end("hello");
  await Promise.all([once(client.resume(), "close"), served()]);
  await listener.close();
  await assert.rejects(stat(path), { code: "ENOENT" });

  async function served(): Promise<void> {
    await until(() => sockets.length > 0, "a connection", "turn");
    const [socket] = sockets as [Socket];
    assert.deepEqual([text(await socket.read()), await socket.read()], ["hello", null]);
    socket.end();
  }
});

test("a listener takes a path of any length", async (t) => {
  const dir = `${await scratchDir(t)}/${"long/".repeat(40)}`;
  await mkdir(dir, { recursive: true });
  const listener = await network.listen(`${dir}s`, () => {});
  assert.deepEqual(await readdir(dir), ["s"]);
  await listener.close();
  assert.deepEqual(await readdir(dir), []);
});

test("a listener that cannot be made rejects", async (t) => {
  const dir = await scratchDir(t);
  await assert.rejects(network.listen(`${dir}/absent/s`, () => {}));
});

test("a connection carries bytes both ways, and each side ends on its own", async (t) => {
  const port = await tcpServer(t, (socket) => {
    let heard = "";
    socket.on("data", (chunk) => void (heard += chunk));
    socket.on("end", () => socket.end(`heard ${heard}`));
  });
  const socket = await network.connect("127.0.0.1", port, never);
  await socket.write(bytes("a"));
  await socket.write(bytes("b"));
  socket.end();
  assert.equal(text(await socket.read()), "heard ab");
  assert.equal(await socket.read(), null);
  assert.equal(await socket.read(), null);
});

test("a connection that nobody reads holds the sender back", async (t) => {
  const size = 64 * 1024 * 1024;
  let taken = false;
  const port = await tcpServer(t, (socket) => {
    socket.end(new Uint8Array(size), () => taken = true);
  });
  const socket = await network.connect("127.0.0.1", port, never);
  const first = await socket.read();
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  assert.equal(taken, false);
  assert.equal((first?.length ?? 0) + await all(socket), size);
  socket.destroy();
});

test("writing resolves when the bytes are taken, so a reader that stands still holds the writer back", async (t) => {
  let server!: NetSocket;
  const port = await tcpServer(t, (socket) => void (server = socket.pause()));
  const socket = await network.connect("127.0.0.1", port, never);
  let written = false;
  const writing = socket.write(new Uint8Array(64 * 1024 * 1024)).then(() => written = true, () => {});
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  assert.equal(written, false);
  socket.destroy();
  server.destroy();
  await writing;
});

test("destroy() ends a waiting read, and later writes are refused", async (t) => {
  const port = await tcpServer(t, (socket) => void socket.on("error", () => {}).resume().on("end", () => socket.end()));
  const socket = await network.connect("127.0.0.1", port, never);
  const reading = socket.read();
  socket.destroy();
  assert.equal(await reading, null);
  await assert.rejects(socket.write(bytes("x")));
  socket.end();
  socket.destroy();
});

test("connecting rejects where nobody listens, and when its signal is aborted", async (t) => {
  const port = await tcpServer(t, () => {});
  const closed = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
  await assert.rejects(network.connect("127.0.0.1", closed, never), { code: "ECONNREFUSED" });
  const aborted = AbortSignal.abort(new Error("enough"));
  await assert.rejects(async () => await network.connect("127.0.0.1", port, aborted), { message: "enough" });
});

test("resolving gives every address of a name, and rejects for one that has none", async () => {
  const addresses = await network.resolve("localhost");
  assert.ok(addresses.some((address) => address === "127.0.0.1" || address === "::1"), addresses.join());
  await assert.rejects(network.resolve("no-such-name.invalid"));
});

/** A TLS server on loopback that says hello in capitals; its port, and how many were let in. */
async function tlsServer(t: TestContext): Promise<number> {
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => socket.end(String(chunk).toUpperCase()));
  }).listen(0, "127.0.0.1");
  server.on("tlsClientError", () => {});
  await once(server, "listening");
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("connectSecure() goes to the address it is given and believes only a certificate for the name", async (t) => {
  const port = await tlsServer(t);
  const options = { name: "hooks.example", signal: never, trusted: [AUTHORITY] };
  const socket = await network.connectSecure("127.0.0.1", port, options);
  await socket.write(bytes("hello"));
  assert.equal(text(await socket.read()), "HELLO");
  socket.destroy();
  await assert.rejects(network.connectSecure("127.0.0.1", port, { ...options, name: "other.example" }), {
    code: "ERR_TLS_CERT_ALTNAME_INVALID",
  });
  const byAddress = await network.connectSecure("127.0.0.1", port, { ...options, name: "127.0.0.1" });
  byAddress.destroy();
});

test("connectSecure() believes no certificate that nobody trusted has signed, whatever the environment says", async (t) => {
  const port = await tlsServer(t);
  const former = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  try {
    await assert.rejects(network.connectSecure("127.0.0.1", port, { name: "hooks.example", signal: never }), {
      code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    });
  } finally {
    if (former === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = former;
  }
});

test("connectSecure() gives up on a server that does not answer when the signal says so", async (t) => {
  const port = await tcpServer(t, (socket) => void t.after(() => void socket.destroy()));
  const giveUp = new AbortController();
  const opening = network.connectSecure("127.0.0.1", port, { name: "hooks.example", signal: giveUp.signal });
  setImmediate(() => giveUp.abort(new Error("enough")));
  await assert.rejects(opening, { message: "enough" });
});

test("connectSecure() believes the roots it is given in the place of the runtime's own", async (t) => {
  const port = await tlsServer(t);
  const options = { name: "hooks.example", signal: never };
  (await network.connectSecure("127.0.0.1", port, { ...options, roots: [AUTHORITY] })).destroy();
  const { certificate } = await createAuthority(await detectRuntime());
  await assert.rejects(network.connectSecure("127.0.0.1", port, { ...options, roots: [certificate] }));
});

/** Listens for a connection and ends TLS on it; `accepted` settles as acceptSecure() does. */
async function acceptOne(
  t: TestContext,
  path: string,
  signal: AbortSignal,
): Promise<{ accepted: Promise<SecureSocket> }> {
  let settle: (socket: Promise<SecureSocket>) => void = () => {};
  const accepted = new Promise<SecureSocket>((resolve) => settle = resolve);
  const identity = { key: KEY, certificate: CERTIFICATE };
  const listener = await network.listen(path, (socket) => settle(network.acceptSecure(socket, identity, signal)));
  t.after(() => listener.close());
  return { accepted };
}

test("acceptSecure() ends TLS over a socket, gives the name that was asked for, and offers HTTP/1.1 alone", async (t) => {
  const path = `${await scratchDir(t)}/secure`;
  const { accepted } = await acceptOne(t, path, never);
  const client = connectTls({
    socket: connect({ path }),
    servername: "hooks.example",
    ca: AUTHORITY,
    ALPNProtocols: ["h2", "http/1.1"],
  });
  t.after(() => void client.destroy());
  const socket = await accepted;
  assert.equal(socket.serverName, "hooks.example");
  client.write("hello");
  assert.equal(text(await socket.read()), "hello");
  assert.equal(client.alpnProtocol, "http/1.1");
  await socket.write(bytes("good bye"));
  socket.end();
  const [answer] = await once(client, "data");
  assert.equal(String(answer), "good bye");
  client.end();
  assert.equal(await socket.read(), null);
  socket.destroy();
});

test("acceptSecure() takes in no more than its reader does, and gives out no more than can be sent", async (t) => {
  const path = `${await scratchDir(t)}/paced`;
  const size = 8 * 1024 * 1024;
  const slowly = async (): Promise<void> => {
    for (let count = 0; count < 5; count++) await turn();
  };
  let [pulled, read, given, sent, mostAhead, mostBehind] = [0, 0, 0, 0, 0, 0];
  let settle: (socket: Promise<SecureSocket>) => void = () => {};
  const accepted = new Promise<SecureSocket>((resolve) => settle = resolve);
  const listener = await network.listen(path, (raw) => {
    const counted: Socket = {
      ...raw,
      async read() {
        const chunk = await raw.read();
        pulled += chunk?.length ?? 0;
        mostAhead = Math.max(mostAhead, pulled - read);
        return chunk;
      },
      async write(chunk) {
        await slowly();
        await raw.write(chunk);
        sent += chunk.length;
      },
    };
    settle(network.acceptSecure(counted, { key: KEY, certificate: CERTIFICATE }, never));
  });
  t.after(() => listener.close());
  const client = connectTls({ socket: connect({ path }), servername: "hooks.example", ca: AUTHORITY });
  t.after(() => void client.destroy());
  let answered = 0;
  client.on("data", (chunk: Uint8Array) => void (answered += chunk.length));
  client.write(new Uint8Array(size));
  const socket = await accepted;
  while (read < size) {
    read += (await socket.read())?.length ?? NaN;
    await slowly();
  }
  for (; given < size; given += 64 * 1024) {
    await socket.write(new Uint8Array(64 * 1024));
    mostBehind = Math.max(mostBehind, given - sent);
  }
  await until(() => answered === size, () => `${answered} of ${size} bytes`);
  assert.ok(mostAhead < 1024 * 1024 && mostBehind < 1024 * 1024, `${mostAhead} in, ${mostBehind} out`);
  socket.destroy();
});

test("acceptSecure() survives a client that sends garbage with, or after, the end of its handshake, or goes away", async (t) => {
  const dir = await scratchDir(t);
  for (const spoiled of ["with", "after", "gone"]) {
    const { accepted } = await acceptOne(t, `${dir}/${spoiled}`, never);
    const raw = connect({ path: `${dir}/${spoiled}` }).on("error", () => {});
    t.after(() => void raw.destroy());
    let flights = 0;
    const between: Duplex = new Duplex({
      read() {},
      write(chunk: Uint8Array, _encoding, done) {
        // The first flight is the client's hello, the second ends the handshake.
        const isSpoiled = spoiled === "with" && ++flights === 2;
        raw.write(isSpoiled ? Buffer.concat([chunk, Buffer.alloc(100, 0x17)]) : chunk, () => done());
      },
    });
    raw.on("data", (chunk) => void between.push(chunk)).on("close", () => void between.push(null));
    const client = connectTls({ socket: between, servername: "hooks.example", ca: AUTHORITY }).on("error", () => {});
    await new Promise((resolve) => client.once("secureConnect", resolve));
    const heard = accepted.then(async (socket) => {
      const chunk = await socket.read();
      await socket.write(bytes("x"));
      return chunk;
    }).catch(() => null);
    if (spoiled === "with") client.write("x"); // In case the handshake had a flight less.
    if (spoiled === "after") raw.write(Buffer.alloc(100, 0x17));
    if (spoiled === "gone") raw.destroy();
    const chunk = await heard;
    assert.ok(!chunk || text(chunk) === "x", spoiled);
  }
});

test("acceptSecure() rejects when the client speaks no TLS, goes away, or the signal says so", async (t) => {
  const dir = await scratchDir(t);
  const giveUp = new AbortController();
  const clients: [string, (client: NetSocket) => void][] = [
    ["garbage", (client) => void client.write("GET / HTTP/1.1\r\n\r\n")],
    ["gone", (client) => void client.end()],
    ["silent", () => void setImmediate(() => giveUp.abort(new Error("enough")))],
  ];
  for (const [name, act] of clients) {
    const { accepted } = await acceptOne(t, `${dir}/${name}`, name === "silent" ? giveUp.signal : never);
    const client = connect({ path: `${dir}/${name}` }).on("error", () => {});
    t.after(() => void client.destroy());
    await once(client, "connect");
    act(client);
    await assert.rejects(accepted, name);
  }
});
