import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { openGate, untilEnded, upstream } from "../../../support/gate.ts";
import { until } from "../../../support/until.ts";

const statusOf = (answer: string): string => answer.slice("HTTP/1.1 ".length).split(" ")[0] ?? "";
const reasonOf = (answer: string): string => (answer.split("\r\n\r\n")[1] ?? "").split(":")[0] ?? "";
const get = (url: string, ...fields: string[]): string => [`GET ${url} HTTP/1.1`, ...fields, "", ""].join("\r\n");
const tunnel = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const NAME = "api.example.com";
const PUBLIC = "93.184.216.34";

test("CONNECT opens a tunnel to an allowed host, at the very address its name had", async (t) => {
  const server = await upstream(t, (socket) => void socket.pipe(socket));
  let lookups = 0;
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:443`],
    port: server.port,
    network: { resolve: () => Promise.resolve(lookups++ === 0 ? [PUBLIC] : ["127.0.0.1"]) },
  });
  const socket = gate.open().setEncoding("latin1");
  let answer = "";
  socket.on("data", (part: string) => void (answer += part));
  socket.end(`${tunnel(`${NAME}:443`)}early bytes`);
  await once(socket, "end");
  assert.equal(answer, "HTTP/1.1 200 Connection established\r\n\r\nearly bytes");
  assert.deepEqual([gate.dialled, lookups], [[`${PUBLIC}:443`], 1]);
  assert.deepEqual(gate.events, [{ kind: "opened", host: NAME, port: 443 }]);
});

test("plain HTTP goes to the target it names, with a Host that cannot lie", async (t) => {
  const server = await upstream(t);
  const gate = await openGate(t, { capabilities: [`net:${NAME}:80`], names: { [NAME]: [PUBLIC] }, port: server.port });
  const answer = await gate.ask(get(`http://${NAME}/x`, "Host: evil.example", "Connection: keep-alive", "A: 1"));
  assert.equal(answer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  assert.deepEqual(server.heard, [`GET /x HTTP/1.1\r\nHost: ${NAME}\r\nA: 1\r\nConnection: close\r\n\r\n`]);
});

test("a second request on one connection is not sent on, wherever the first one's body ends", async (t) => {
  const second = get("http://evil.example/secret", "Host: evil.example");
  const requests = [
    ["GET", "", ""],
    ["POST", "Content-Length: 3", "abc"],
    ["POST", "Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n"],
  ];
  for (const [method, framing, body] of requests) {
    const server = await upstream(t, (socket) => {
      // Answers only once the client ended, so everything it will hear has been heard.
      socket.once("data", () => setImmediate(() => socket.end("HTTP/1.1 200 OK\r\n\r\nok")));
    });
    const gate = await openGate(t, { capabilities: ["net:localhost:*"] });
    const fields = framing ? `${framing}\r\n` : "";
    const target = `http://localhost:${server.port}/`;
    const answer = await gate.ask(`${method} ${target} HTTP/1.1\r\n${fields}\r\n${body}${second}`);
    assert.equal(answer, "HTTP/1.1 200 OK\r\n\r\nok");
    const head = [`${method} / HTTP/1.1`, `Host: localhost:${server.port}`, ...(framing ? [framing] : [])];
    assert.deepEqual(server.heard, [`${head.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`]);
  }
});

test("a body goes through whole, at the pace of the server, and so does the answer", async (t) => {
  const size = 4 * 1024 * 1024;
  const server = await upstream(t, (socket) => {
    let got = -1;
    socket.on("data", (text: string) => {
      got += got < 0 ? 1 + text.split("\r\n\r\n").slice(1).join("\r\n\r\n").length : text.length;
      if (got === size) socket.end(`HTTP/1.1 200 OK\r\n\r\n${"y".repeat(size)}`);
    });
  });
  const gate = await openGate(t, { capabilities: ["net:localhost:*"] });
  const head = `POST http://localhost:${server.port}/ HTTP/1.1\r\nContent-Length: ${size}\r\n\r\n`;
  const answer = await gate.ask(head + "x".repeat(size));
  assert.equal(answer.length, "HTTP/1.1 200 OK\r\n\r\n".length + size);
});

test("K-043 what no rule names is refused with 403 and a short reason, and nobody is dialled", async (t) => {
  // With nobody to ask, and with people who say no.
  for (const askNetwork of [undefined, () => null, () => Promise.resolve({ isAllowed: false, lasts: false })]) {
    const gate = await openGate(t, {
      capabilities: [`net:${NAME}:443`],
      names: { [NAME]: [PUBLIC] },
      port: 1,
      askNetwork,
    });
    const others = ["evil.example:443", `x.${NAME}:443`, "127.0.0.1:443", "[::ffff:127.0.0.1]:443"];
    for (const target of [`${NAME}:80`, `${PUBLIC}:443`, ...others]) {
      const answer = await gate.ask(tunnel(target));
      assert.deepEqual([statusOf(answer), reasonOf(answer)], ["403", "not-allowed"], target);
    }
    for (const target of ["127.1:443", "0x7f000001:443", "2130706433:443", "[fe80::1%25a]:443", "a b:443", NAME]) {
      const answer = await gate.ask(tunnel(target));
      assert.match(`${statusOf(answer)} ${reasonOf(answer)}`, /^40[03] bad-(target|request)$/, target);
    }
    for (const url of [`http://${NAME}:443@evil.example/`, `http://${NAME}@evil.example/`, `https://${NAME}/`, "/"]) {
      const answer = await gate.ask(get(url, `Host: ${NAME}`));
      assert.deepEqual([statusOf(answer), reasonOf(answer)], ["403", "bad-target"], url);
    }
    assert.deepEqual(gate.dialled, []);
  }
});

test("an allowed name that leads to this machine or its networks is refused", async (t) => {
  const addresses = ["127.0.0.1", "169.254.169.254", "10.1.2.3", "::1", "64:ff9b::a00:1", "::ffff:192.168.0.1"];
  for (const address of addresses) {
    const gate = await openGate(t, { capabilities: [`net:${NAME}:80`], names: { [NAME]: [address] }, port: 1 });
    for (const ask of [tunnel(`${NAME}:80`), get(`http://${NAME}/`)]) {
      const answer = await gate.ask(ask);
      assert.deepEqual([statusOf(answer), reasonOf(answer)], ["403", "resolves-to-private"], address);
    }
    assert.deepEqual(gate.dialled, []);
    assert.deepEqual(gate.events, [{ kind: "refused", host: NAME, port: 80, reason: "resolves-to-private" }]);
  }
});

test("an address that is granted itself may be private, and localhost is the host's loopback", async (t) => {
  const server = await upstream(t);
  const gate = await openGate(t, {
    capabilities: ["net:10.0.0.5:80", `net:localhost:${server.port}`],
    port: server.port,
  });
  assert.equal(statusOf(await gate.ask(get("http://10.0.0.5/"))), "200");
  assert.equal(statusOf(await gate.ask(get(`http://LOCALHOST.:${server.port}/`))), "200");
  assert.deepEqual(gate.dialled, ["10.0.0.5:80", `127.0.0.1:${server.port}`]);
});

test("a name without an address and a host that does not answer give 502, and are no refusals", async (t) => {
  const gate = await openGate(t, {
    capabilities: ["net:gone.example:80", `net:${NAME}:80`],
    names: { [NAME]: [PUBLIC] },
  });
  const gone = await gate.ask(tunnel("gone.example:80"));
  const down = await gate.ask(tunnel(`${NAME}:80`));
  assert.deepEqual([statusOf(gone), reasonOf(gone)], ["502", "unresolved"]);
  assert.deepEqual([statusOf(down), reasonOf(down)], ["502", "unreachable"]);
  assert.deepEqual(gate.events, []);
});

test("the next address of a name is tried when one does not answer, and a silent one is given up after 10 s", async (t) => {
  const server = await upstream(t);
  const tried: string[] = [];
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:80`],
    names: { [NAME]: ["1.1.1.1", "1.1.1.2", "1.1.1.3"] },
    port: server.port,
  });
  const slow = await openGate(t, {
    capabilities: [`net:${NAME}:80`],
    names: { [NAME]: ["1.1.1.1", "1.1.1.2"] },
    network: {
      connect: (address, _port, signal) =>
        new Promise((_, reject) => {
          tried.push(address);
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    },
  });
  assert.equal(statusOf(await gate.ask(get(`http://${NAME}/`))), "200");
  assert.deepEqual(gate.dialled, ["1.1.1.1:80"]);
  const answer = slow.ask(get(`http://${NAME}/`));
  for (const count of [1, 2]) {
    await until(() => tried.length >= count, `attempt ${count}`, "turn");
    slow.clock.advance(10_000);
  }
  assert.equal(statusOf(await answer), "502");
  assert.deepEqual(tried, ["1.1.1.1", "1.1.1.2"]);
});

test("a head of more than 16 KiB, or with lines that end in anything but CR LF, is refused", async (t) => {
  const gate = await openGate(t, { capabilities: ["net:*"] });
  const fields = (bytes: number): string => `X: ${"x".repeat(bytes)}`;
  assert.equal(statusOf(await gate.ask(get("http://a.example/", fields(17_000)))), "431");
  assert.equal(statusOf(await gate.ask(`GET http://a.example/ HTTP/1.1\r\n${fields(20_000)}`)), "431");
  assert.equal(statusOf(await gate.ask(get("http://a.example/", fields(16_000)))), "403");
  for (
    const text of [
      "GET http://a.example/ HTTP/1.1\n\n",
      "GET http://a.example/ HTTP/1.1\r\nX: 1\n\r\n",
      "\n",
      "\r\n\r\n",
    ]
  ) {
    assert.equal(statusOf(await gate.ask(text)), "400", JSON.stringify(text));
  }
  assert.equal(statusOf(await gate.ask(get("http://a.example/", " folded: 1"))), "400");
});

test("a client has 15 s to complete its head, byte by byte or not at all", async (t) => {
  const gate = await openGate(t, { capabilities: [`net:${NAME}:80`] });
  for (const beginning of ["", "GET http://", "\x05\x01", "\x05\x01\x00\x05\x01"]) {
    const socket = gate.open().resume();
    if (beginning) socket.write(beginning, "latin1");
    await until(() => gate.clock.isDueIn(15_000), "the timer of the head", "turn");
    gate.clock.advance(14_999);
    assert.equal(socket.destroyed || socket.readableEnded, false);
    const ended = untilEnded(socket);
    gate.clock.advance(1);
    await ended;
  }
});

test("a tunnel may be silent for as long as it likes", async (t) => {
  const server = await upstream(t, () => {});
  const gate = await openGate(t, { capabilities: [`net:localhost:*`] });
  const socket = gate.open();
  socket.write(tunnel(`localhost:${server.port}`));
  await once(socket, "data");
  assert.equal(gate.clock.waiting, 0);
  socket.destroy();
});

test("SOCKS 5 connects to names and addresses that rules name, and to no other", async (t) => {
  const server = await upstream(t, (socket) => void socket.pipe(socket));
  const gate = await openGate(t, {
    capabilities: [`net:${NAME}:443`, "net:10.0.0.5:443", "net:[2001:db8::1]:443"],
    names: { [NAME]: [PUBLIC] },
    port: server.port,
  });
  const [hello, ok] = ["\x05\x02\x00\x02", "\x05\x00"];
  const name = (host: string): string => `\x03${String.fromCharCode(host.length)}${host}`;
  const request = (address: string, command = 1, port = 443): string =>
    `\x05${String.fromCharCode(command)}\x00${address}${String.fromCharCode(port >> 8, port & 255)}`;
  const ask = async (text: string): Promise<string> => await gate.ask(Uint8Array.from(text, (c) => c.charCodeAt(0)));
  const code = async (text: string): Promise<number> => (await ask(hello + text)).charCodeAt(3);

  const ipv6 = `\x04\x20\x01\x0d\xb8${"\x00".repeat(11)}\x01`;
  for (const address of [name(NAME), name("10.0.0.5"), "\x01\x0a\x00\x00\x05", ipv6]) {
    const socket = gate.open().setEncoding("latin1");
    let answer = "";
    socket.on("data", (part: string) => void (answer += part)).on("end", () => socket.end());
    socket.end(`${hello}${request(address)}bytes`, "latin1");
    await once(socket, "close");
    assert.equal(answer, `${ok}\x05\x00\x00\x01${"\x00".repeat(6)}bytes`, JSON.stringify(address));
  }
  for (const address of [name("evil.example"), name("127.1"), "\x01\x7f\x00\x00\x01", "\x01\x01\x01\x01\x01"]) {
    assert.equal(await code(request(address)), 2, JSON.stringify(address));
  }
  assert.equal(await code(request(name(NAME), 1, 80)), 2);
  for (const command of [2, 3]) assert.equal(await code(request(name(NAME), command)), 7);
  assert.equal(await code(request("\x09")), 8);
  assert.equal(await ask("\x05\x01\x02"), "\x05\xff");
  assert.equal(gate.dialled.length, 4);
});

test("a refusal is reported once a minute for each host and port, and of at most 100 in a minute", async (t) => {
  const gate = await openGate(t, { capabilities: [`net:${NAME}:443`] });
  const refused = (port: number) => ({ kind: "refused", host: "evil.example", port, reason: "not-allowed" });
  for (let round = 0; round < 2; round++) {
    for (const port of [1, 2, 1]) await gate.ask(tunnel(`evil.example:${port}`));
    assert.deepEqual(gate.events.splice(0), [refused(1), refused(2)]);
    gate.clock.advance(60_000);
  }
  for (let port = 1; port <= 110; port++) await gate.ask(tunnel(`evil.example:${port}`));
  assert.equal(gate.events.length, 100);
});

test("a plugin holds at most 128 connections; the next is closed, and reported", async (t) => {
  const gate = await openGate(t, { capabilities: [`net:${NAME}:443`] });
  const sockets = Array.from({ length: 128 }, () => gate.open());
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  await until(() => gate.clock.waiting >= 128, "128 connections", "turn");
  const next = gate.open().resume();
  await untilEnded(next);
  assert.deepEqual(gate.events, [{ kind: "refused", host: "", port: 0, reason: "too-many" }]);
  for (const socket of sockets) socket.destroy();
});

test("close() ends every connection on both sides and takes the socket away", async (t) => {
  const server = await upstream(t, () => {});
  const gate = await openGate(t, { capabilities: ["net:localhost:*"] });
  const [open, half] = [gate.open(), gate.open().resume()];
  open.write(tunnel(`localhost:${server.port}`));
  await Promise.all([once(open, "data"), once(half, "connect")]);
  const ended = [untilEnded(open.resume()), untilEnded(half)];
  await until(() => gate.clock.waiting >= 1, "a connection", "turn");
  await gate.close();
  await Promise.all(ended);
  await untilEnded(gate.open());
});
