// The relay of @kaged/plugin-host: runs in a cage whose network is empty but for itself. It passes connections to the
// gatekeeper's socket, and runs the plugin with its own stdin, stdout and stderr. One port of that network is a proxy,
// whose clients name their host themselves; each other address and port stands for one granted host. Where it may listen
// on port 53, it is the cage's name server too.
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import process from "node:process";
import { MAX_MESSAGE_BYTES } from "./dns_message.ts";
import { createResolver } from "./resolver.ts";

const { command, env, heard, port, resolver, socket, standIns } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const SERVER = { allowHalfOpen: true };
/** Time in which a client that was refused may show that it speaks HTTP. Others may wait for the server to begin. */
const FIRST_WORD_MS = 1_000;
/** Time within which the gatekeeper hears of a name, and a client of the name server asks its next question. */
const LOOKUP_MS = 5_000;
/** Clients of the name server that may hold a connection at a time, and answers that one may leave unread. */
const MAX_CLIENTS = 32;
const MAX_UNREAD_BYTES = 64 * 1024;

// A stop signals the whole group, the plugin among it: the relay stays until the plugin has ended.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR2"]) process.on(signal, () => {});

// First the ports, then the plugin: it may connect at once.
await Promise.all([
  listening(createServer(SERVER, (client) => join(client, connect({ path: socket, ...SERVER }))), port, "127.0.0.1"),
  ...standIns.filter((place) => !heard.includes(place.port)).map((place) =>
    listening(createServer(SERVER, (client) => standIn(client, place)), place.port, place.address)
  ),
  ...heard.map(hearing),
  ...(resolver ? nameServer(resolver) : []),
]);
const [file, ...args] = command;
const plugin = spawn(file, args, { env, stdio: "inherit" });
plugin.on("error", (error) => fail(`Cannot run ${file}: ${error.message}`));
plugin.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

function listening(server, port, address) {
  return new Promise((resolve) => {
    // A kernel without IPv6 has no ::1; what is reached there is reached at 127.0.0.1 too.
    const isOptional = address.includes(":");
    server.on(
      "error",
      (error) => isOptional ? resolve() : fail(`Cannot listen on ${address}:${port}: ${error.message}`),
    );
    server.listen(port, address, () => resolve());
  });
}

/** Listens on one port of every address of the network. */
function hearing(port) {
  const serve = (client) => standIn(client, { host: hostAt(client.localAddress ?? "", port), port });
  return new Promise((done) => {
    const server = createServer(SERVER, serve);
    // A kernel without IPv6 has addresses of IPv4 alone.
    server.once("error", () => done(listening(createServer(SERVER, serve), port, "0.0.0.0")));
    server.listen(port, "::", () => done());
  });
}

/** Returns the host that an address stands for: the one granted there, or the address itself. */
function hostAt(local, port) {
  const address = local.replace(/^::ffff:(?=\d+\.)/i, "");
  const places = standIns.filter((place) => place.address === address);
  // On loopback different ports may stand for localhost and for the address; any other has one host.
  const isShared = address === "127.0.0.1" || address === "::1";
  const place = places.find((one) => one.port === port) ?? (isShared ? undefined : places[0]);
  return place?.host ?? (address.includes(":") ? `[${address}]` : address);
}

/** Answers questions about names, by UDP and by TCP. */
function nameServer({ address, port, names }) {
  const resolve = createResolver({ names, report, now: () => performance.now() });
  const server = createServer((client) => answerStream(client, resolve));
  server.maxConnections = MAX_CLIENTS;
  // Also for programs that name a server of their own. A socket of all addresses would answer from another of them.
  const places = [address, "0.0.0.0"];
  return [...places.map((one) => answerDatagrams(one, port, resolve)), listening(server, port, address)];
}

/** Answers each datagram that is a question; resolves when the port is bound. */
function answerDatagrams(address, port, resolve) {
  const datagrams = createSocket({ type: "udp4", reuseAddr: true });
  datagrams.on("message", (message, from) => {
    void resolve(message).then((answer) => answer && datagrams.send(answer, from.port, from.address, () => {}));
  });
  return new Promise((done) => {
    datagrams.on("error", (error) => fail(`Cannot listen on ${address}:${port}: ${error.message}`));
    datagrams.bind(port, address, () => {
      datagrams.removeAllListeners("error").on("error", () => {});
      done();
    });
  });
}

/** Answers the questions of one connection: each has its length in two bytes before it (RFC 1035 §4.2.2). */
function answerStream(client, resolve) {
  let rest = Buffer.alloc(0);
  client.setTimeout(LOOKUP_MS, () => client.destroy());
  client.on("error", () => client.destroy());
  client.on("data", (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 2 && !client.destroyed) {
      const length = rest.readUInt16BE(0);
      if (length > MAX_MESSAGE_BYTES || client.writableLength > MAX_UNREAD_BYTES) return client.destroy();
      if (rest.length < 2 + length) return;
      void resolve(rest.subarray(2, 2 + length)).then((answer) => {
        if (answer === null) return client.destroy();
        if (!client.destroyed) {
          client.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]));
        }
      });
      rest = rest.subarray(2 + length);
    }
  });
}

/** Tells the gatekeeper of a name that was looked up; resolves when it has answered or is gone. */
function report(name) {
  return new Promise((done) => {
    const gate = connect({ path: socket });
    gate.setTimeout(LOOKUP_MS, () => gate.destroy());
    gate.on("error", () => {});
    gate.on("close", () => done());
    gate.on("data", () => gate.destroy());
    gate.write(`LOOKUP ${name} HTTP/1.1\r\n\r\n`);
  });
}

/** Passes everything on, both ways. */
function join(client, gate) {
  const end = () => (client.destroy(), gate.destroy());
  for (const [from, to] of [[client, gate], [gate, client]]) {
    from.on("error", end);
    from.pipe(to);
    from.on("close", () => from.errored && end());
  }
}

/** Asks the gatekeeper for the host that the client means, and joins the two when the answer is yes. */
function standIn(client, { host, port }) {
  const gate = connect({ path: socket, ...SERVER });
  const end = () => (client.destroy(), gate.destroy());
  let head = Buffer.alloc(0);
  const read = (chunk) => {
    head = Buffer.concat([head, chunk]);
    const at = head.indexOf("\r\n\r\n");
    if (at < 0) return;
    gate.off("data", read);
    gate.off("end", end);
    gate.pause();
    if (!head.toString("latin1").startsWith("HTTP/1.1 200 ")) return refuse(client, gate, head);
    if (head.length > at + 4) client.write(head.subarray(at + 4));
    join(client, gate);
  };
  client.on("error", end);
  client.on("close", () => gate.destroy());
  gate.on("error", end);
  gate.on("end", end);
  gate.on("data", read);
  gate.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
}

/** Passes the gatekeeper's refusal on to a client of HTTP, and hangs up on any other: it could not read the words. */
function refuse(client, gate, head) {
  const end = () => (client.destroy(), gate.destroy());
  const timer = setTimeout(end, FIRST_WORD_MS);
  client.once("end", end);
  client.once("data", (asked) => {
    clearTimeout(timer);
    client.off("end", end);
    if (!/^[A-Z]+ \S+ HTTP\//.test(asked.toString("latin1"))) return end();
    client.write(head);
    gate.pipe(client);
    client.resume();
  });
}

function fail(message) {
  process.stderr.write(`relay: ${message}\n`);
  process.exit(127);
}
