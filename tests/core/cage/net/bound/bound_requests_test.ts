import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../../../../src/adapters/default.ts";
import {
  HOST,
  openBoundGate,
  PLACEHOLDER,
  rawUpstream,
  secretFor,
  secureUpstream,
  VALUE,
} from "../../../../support/bound_gate.ts";
import { upstream } from "../../../../support/gate.ts";
import { until } from "../../../../support/until.ts";

const MIB = 1024 * 1024;
const CLOSE = "Connection: close";
const request = (line: string, fields: readonly string[] = [], body = ""): string =>
  [`${line} HTTP/1.1`, `Host: ${HOST}`, ...fields, "", body].join("\r\n");
const post = (type: string, body: string): string =>
  request("POST /", [`Content-Type: ${type}`, `Content-Length: ${body.length}`, CLOSE], body);
const utf8 = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

test("N-022 a placeholder becomes the secret in fields, Basic credentials and the query, as each place writes it", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const basic = btoa(`me:${PLACEHOLDER}`);
  const fields = [`Authorization: Basic ${basic}`, `X-Token: Bearer ${PLACEHOLDER}; ${PLACEHOLDER}`, CLOSE];
  const answer = await gate.request(request(`GET /a?b=1&t=${PLACEHOLDER}&c=2`, fields));
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*ok/);
  const [heard] = server.heard;
  assert.equal(heard?.url, `/a?b=1&t=${encodeURIComponent(VALUE)}&c=2`);
  assert.equal(heard?.headers["authorization"], `Basic ${btoa(utf8(`me:${VALUE}`))}`);
  assert.equal(heard?.headers["x-token"], utf8(`Bearer ${VALUE}; ${VALUE}`));
  assert.equal(heard?.headers["accept-encoding"], "identity");
  assert.equal(heard?.headers["host"], HOST);
  assert.deepEqual(gate.events, [{ kind: "opened", host: HOST, port: 443 }]);
});

test("a placeholder becomes the secret in bodies of JSON, forms and text, and their length is made right", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  await gate.request(post("application/json; charset=utf-8", JSON.stringify({ token: PLACEHOLDER, n: 1 })));
  await gate.request(post("application/x-www-form-urlencoded", `a=${PLACEHOLDER}&b=2`));
  await gate.request(post("text/plain", `<${PLACEHOLDER}>`));
  await gate.request(post("application/vnd.api+json", `"${PLACEHOLDER}"`));
  assert.deepEqual(server.heard.map(({ body }) => body), [
    JSON.stringify({ token: VALUE, n: 1 }),
    `a=${encodeURIComponent(VALUE)}&b=2`,
    `<${VALUE}>`,
    JSON.stringify(VALUE),
  ]);
});

test("a body in chunks is filled as it passes, also where a chunk ends inside the placeholder", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const client = await gate.secure();
  const chunk = (text: string): string => `${text.length.toString(16)};x=1\r\n${text}\r\n`;
  client.send(request("POST /", ["Content-Type: text/plain", "Transfer-Encoding: chunked", CLOSE]));
  for (const part of ["one kaged", PLACEHOLDER.slice(5, 20), `${PLACEHOLDER.slice(20)} two `]) client.send(chunk(part));
  client.send(`${chunk(PLACEHOLDER.slice(0, 9))}0\r\nX-Trailer: 1\r\n\r\n`);
  assert.match(await client.ended(), /^HTTP\/1\.1 200/);
  assert.equal(server.heard[0]?.body, `one ${VALUE} two ${PLACEHOLDER.slice(0, 9)}`);
});

test("requests follow each other on one connection, sent one by one or all at once", async (t) => {
  const server = await secureUpstream(t, (response, { url }) => void response.end(`answer ${url};`));
  const gate = await openBoundGate(t, { port: server.port });
  const client = await gate.secure();
  client.send(request(`GET /1?${PLACEHOLDER}`));
  await client.until(/answer \/1/);
  client.send(request("GET /2") + request("POST /3", ["Content-Length: 2"], "xy") + request("GET /4", [CLOSE]));
  const answer = await client.ended();
  assert.deepEqual(answer.match(/answer \/[0-9]/g), ["answer /1", "answer /2", "answer /3", "answer /4"]);
  assert.deepEqual([server.connections(), gate.dialled.length], [1, 1]);
});

test("a secret that was changed is used by the next request on the same connection", async (t) => {
  const server = await secureUpstream(t);
  let value = "first-value";
  const gate = await openBoundGate(t, { port: server.port, secrets: [secretFor({ value: () => value })] });
  const client = await gate.secure();
  client.send(request("GET /1", [`X-Token: ${PLACEHOLDER}`]));
  await client.until(/\bok/);
  value = "second-value";
  client.send(request("GET /2", [`X-Token: ${PLACEHOLDER}`, CLOSE]));
  await client.ended();
  assert.deepEqual(server.heard.map(({ headers }) => headers["x-token"]), ["first-value", "second-value"]);
});

test("large bodies pass both ways at the pace of whoever reads, with and without a stated length", async (t) => {
  const size = 3 * MIB;
  const server = await secureUpstream(t, (response, { body, url }) => {
    if (url === "/stated") response.setHeader("Content-Length", `${body.length}`);
    response.end(body);
  });
  const gate = await openBoundGate(t, { port: server.port });
  for (const path of ["/stated", "/chunked"]) {
    const answer = await gate.request(request(`POST ${path}`, [`Content-Length: ${size}`, CLOSE], "x".repeat(size)));
    assert.equal(answer.match(/x{100}/g)?.length, Math.floor(size / 100), path);
    assert.equal(server.heard.at(-1)?.body.length, size);
  }
});

test("past 1 MiB nothing is put in: the server sees the placeholder, and that is reported once", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const body = "x".repeat(MIB) + PLACEHOLDER;
  await gate.request(post("text/plain", body));
  await gate.request(post("text/plain", body));
  assert.deepEqual(server.heard.map((heard) => heard.body), [body, body]);
  assert.deepEqual(gate.events.slice(1), [
    { kind: "secret_misused", name: "token", host: HOST, port: 443, reason: "too-large" },
  ]);
});

test("a client that waits for 100 Continue is asked for its body, but not when its head is refused", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const client = await gate.secure();
  const fields = ["Expect: 100-continue", "Content-Type: text/plain", `Content-Length: ${PLACEHOLDER.length}`, CLOSE];
  client.send(request("POST /", fields));
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  client.send(PLACEHOLDER);
  assert.match(await client.ended(), /\r\n\r\nHTTP\/1\.1 200 OK/);
  assert.equal(server.heard[0]?.body, VALUE);
  assert.match(await gate.request(request(`POST /${PLACEHOLDER}`, fields)), /^HTTP\/1\.1 403 /);
});

test("events of a server come through one by one, before the answer has ended", async (t) => {
  const responses: { write(text: string): unknown; end(): unknown }[] = [];
  const server = await secureUpstream(t, (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.flushHeaders();
    responses.push(response);
  });
  const gate = await openBoundGate(t, { port: server.port });
  const client = await gate.secure();
  client.send(request("GET /events", [CLOSE]));
  await client.until(/text\/event-stream[^]*\r\n\r\n/);
  for (const count of [1, 2, 3]) {
    responses[0]?.write(`data: ${count} ${VALUE}\n\n`);
    await client.until(new RegExp(`data: ${count} ${PLACEHOLDER}\\n\\n`));
  }
  responses[0]?.end();
  assert.match(await client.ended(), /0\r\n\r\n$/);
});

test("a client that goes away ends the server's side of an answer that goes on", async (t) => {
  let isClosed = false;
  const port = await rawUpstream(t, (socket) => {
    socket.on("close", () => void (isClosed = true));
    socket.once(
      "data",
      () => void socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n"),
    );
  });
  const gate = await openBoundGate(t, { port });
  const client = await gate.secure();
  client.send(request("GET /events"));
  await client.until(/data: 1/);
  client.close();
  await until(() => isClosed, "the end of the server's connection");
});

test("WebSocket upgrades carry the secret in their head, and what follows passes as it is, both ways", async (t) => {
  let head = "";
  const port = await rawUpstream(t, (socket) => {
    socket.once("data", (text: Uint8Array) => {
      head = String(new TextDecoder().decode(text));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello`);
      socket.on("data", (bytes: Uint8Array) => void socket.write(bytes));
    });
  });
  const gate = await openBoundGate(t, { port });
  const client = await gate.secure();
  const upgrade = ["Connection: keep-alive, Upgrade", "Upgrade: websocket", `Authorization: Bearer ${PLACEHOLDER}`];
  client.send(
    request("GET /ws", [...upgrade, "Sec-WebSocket-Key: abc", "Sec-WebSocket-Extensions: permessage-deflate"]),
  );
  await client.until(/^HTTP\/1\.1 101 [^]*Upgrade: websocket\r\n\r\nhello$/);
  client.send(`\x01${String.fromCharCode(PLACEHOLDER.length)}${PLACEHOLDER}`); // A frame of text, with no key on top.
  await client.until(new RegExp(`${PLACEHOLDER}$`));
  client.close();
  const misuse = { kind: "secret_misused", name: "token", host: HOST, port: 443, reason: "web-socket" };
  assert.deepEqual(gate.events, [{ kind: "opened", host: HOST, port: 443 }, misuse]);
  assert.doesNotMatch(head, /permessage-deflate/);
  assert.match(head, /^GET \/ws HTTP\/1\.1\r\n[^]*Connection: Upgrade\r\nUpgrade: websocket\r\n/);
  assert.match(head, new RegExp(`Authorization: Bearer gh/p`));
});

test("a server that switches protocols unasked, or to HTTP/2, is not believed", async (t) => {
  const port = await rawUpstream(t, (socket) => {
    socket.once(
      "data",
      () => void socket.write("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nx"),
    );
  });
  const gate = await openBoundGate(t, { port });
  for (const fields of [[], ["Connection: Upgrade", "Upgrade: h2c"]]) {
    assert.match(await gate.request(request("GET /", fields)), /^HTTP\/1\.1 502 [^]*bad-answer/);
  }
});

test("a secret goes out in plain HTTP only to this machine, through a tunnel or a proxy request", async (t) => {
  const server = await upstream(t);
  const target = `127.0.0.1:${server.port}`;
  const gate = await openBoundGate(t, {
    capabilities: [`net:${target}`],
    secrets: [secretFor({ hosts: [{ host: "127.0.0.1", port: server.port }] })],
  });
  const client = await gate.plain(target);
  client.send(`GET /?${PLACEHOLDER} HTTP/1.1\r\nHost: ${target}\r\nConnection: close\r\n\r\n`);
  assert.match(await client.ended(), /^HTTP\/1\.1 200 OK/);
  await gate.ask(`POST http://${target}/ HTTP/1.1\r\nContent-Length: ${PLACEHOLDER.length}\r\n\r\n${PLACEHOLDER}`);
  assert.match(server.heard[0] ?? "", new RegExp(`^GET /\\?gh%2Fp[^]*Host: ${target}\r\n`));
  assert.ok(server.heard[1]?.endsWith(utf8(VALUE)), server.heard[1]);
});

test("a server whose certificate is not trusted, or for another name, gets nothing: 502 says why", async (t) => {
  const server = await secureUpstream(t);
  const untrusted = await openBoundGate(t, {
    port: server.port,
    roots: [(await openBoundGate(t, {})).authority.certificate],
  });
  const answer = await untrusted.request(request("GET /", [`X-Token: ${PLACEHOLDER}`]));
  assert.match(answer, /^HTTP\/1\.1 502 [^]*unreachable: .*certificate/);
  const other = await openBoundGate(t, {
    port: server.port,
    capabilities: ["net:other.example:443"],
    names: { "other.example": ["93.184.216.34"] },
    secrets: [secretFor({ hosts: [{ host: "other.example", port: 443 }] })],
  });
  const client = await other.secure({ target: "other.example:443", name: "other.example" });
  client.send(`GET / HTTP/1.1\r\nHost: other.example\r\nX-Token: ${PLACEHOLDER}\r\n\r\n`);
  assert.match(await client.ended(), /^HTTP\/1\.1 502 [^]*unreachable: /);
  assert.deepEqual(server.heard, []);
});

test("hosts that are granted and not bound stay tunnels that nobody reads", async (t) => {
  const server = await upstream(t, (socket) => void socket.pipe(socket));
  const gate = await openBoundGate(t, {
    port: server.port,
    capabilities: [`net:${HOST}:443`, "net:db.example:5432"],
    names: { "db.example": ["93.184.216.34"] },
  });
  const client = await gate.plain("db.example:5432");
  client.send("\x00\x01 anything at all \r\n\r\n");
  await client.until(/anything at all \r\n\r\n$/);
  client.close();
});

test("a server that answers and takes no more before it has read a large body is heard", async (t) => {
  const { network } = await detectRuntime();
  const port = await rawUpstream(t, (socket) => {
    socket.once("data", () => void socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"));
  });
  const gate = await openBoundGate(t, {
    network: {
      async connectSecure(_address, _port, options) {
        const socket = await network.connectSecure("127.0.0.1", port, options);
        let writes = 0; // Only the head goes out: the answer is there, and the way to the server is closed.
        return {
          ...socket,
          write: (bytes) => writes++ === 0 ? socket.write(bytes) : Promise.reject(new Error("EPIPE")),
        };
      },
    },
  });
  const client = await gate.secure();
  client.send(request("POST /", [`Content-Length: ${2 * MIB}`]));
  client.send("x".repeat(MIB));
  await client.until(/^HTTP\/1\.1 413 [^]*big$/);
  client.close();
});

test("a request that comes byte by byte is read like one that comes at once", async (t) => {
  const server = await secureUpstream(t, (response, { body }) => void response.end(`<${body}>`));
  const gate = await openBoundGate(t, { port: server.port });
  const client = await gate.secure();
  const chunked = request("POST /?1", ["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
  const parts = `2d\r\n${PLACEHOLDER}\r\n0\r\n\r\n`;
  for (const char of chunked + parts + post("text/plain", PLACEHOLDER)) client.send(char);
  const answer = await client.ended();
  assert.deepEqual(server.heard.map(({ body }) => body), [VALUE, VALUE]);
  assert.equal(answer.match(new RegExp(PLACEHOLDER, "g"))?.length, 2);
});
