import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import {
  HOST,
  openBoundGate,
  PLACEHOLDER,
  rawUpstream,
  secretFor,
  secureUpstream,
  VALUE,
} from "../../../../support/bound_gate.ts";
import { until } from "../../../../support/until.ts";

const get = (path: string, ...fields: string[]): string =>
  [`GET ${path} HTTP/1.1`, `Host: ${HOST}`, ...fields, "Connection: close", "", ""].join("\r\n");
const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4);
const MIB = 1024 * 1024;

test("a server that repeats a secret in its head is masked, in the phrase and in every field", async (t) => {
  const port = await rawUpstream(t, (socket) => {
    const echo = Buffer.from(VALUE, "utf8").toString("latin1");
    const head = `HTTP/1.1 200 ${echo}\r\nX-Echo: <${echo}>\r\nLocation: /?t=${encodeURIComponent(VALUE)}`;
    socket.once("data", () => void socket.write(`${head}\r\nContent-Length: 0\r\n\r\n`, "latin1"));
  });
  const gate = await openBoundGate(t, { port });
  const answer = await gate.request(get("/", `X-Token: ${PLACEHOLDER}`));
  assert.match(answer, new RegExp(`^HTTP/1.1 200 ${PLACEHOLDER}\r\n`));
  assert.ok(answer.includes(`X-Echo: <${PLACEHOLDER}>\r\n`), answer);
  assert.ok(answer.includes(`Location: /?t=${PLACEHOLDER}\r\n`), answer);
});

test("a server that repeats a secret in its body is masked in each form that servers write, length made right", async (t) => {
  const utf8 = Buffer.from(VALUE, "utf8").toString("latin1");
  const forms = [
    VALUE,
    JSON.stringify(VALUE).slice(1, -1),
    JSON.stringify(VALUE).slice(1, -1).replaceAll("/", "\\/"),
    JSON.stringify(VALUE).slice(1, -1).replace("€", "\\u20ac"),
    encodeURIComponent(VALUE),
    encodeURIComponent(VALUE).replaceAll("%20", "+"),
    encodeURIComponent(VALUE).toLowerCase().replaceAll("%e2%82%ac", "%e2%82%ac"),
  ];
  const server = await secureUpstream(t, (response, { url }) => {
    const body = `<${forms[Number(url.slice(1))] ?? ""}>`;
    response.setHeader("Content-Length", `${Buffer.byteLength(body)}`);
    response.end(body);
  });
  const gate = await openBoundGate(t, { port: server.port });
  for (const [index, form] of forms.entries()) {
    const answer = await gate.request(get(`/${index}`));
    assert.equal(bodyOf(answer), `<${PLACEHOLDER}>`, form);
    assert.match(answer, new RegExp(`Content-Length: ${PLACEHOLDER.length + 2}\r\n`, "i"));
  }
  assert.ok(utf8.length > VALUE.length);
});

test("a server that repeats Basic credentials gives back those of the plugin, and base64 shows no secret", async (t) => {
  const server = await secureUpstream(t, (response, { headers }) => {
    const shifted = ["", "x", "xy", "xyz"].map((before) => Buffer.from(`${before}${VALUE}!`).toString("base64"));
    response.end(JSON.stringify({ authorization: headers["authorization"], shifted }));
  });
  const gate = await openBoundGate(t, { port: server.port });
  const given = btoa(`me:${PLACEHOLDER}`);
  const answer = await gate.request(get("/", `Authorization: Basic ${given}`));
  assert.ok(answer.includes(`"authorization":"Basic ${given}"`), answer);
  for (const text of answer.match(/[A-Za-z0-9+/]{8,}/g) ?? []) {
    assert.ok(!Buffer.from(text, "base64").toString("utf8").includes(VALUE.slice(3, -3)), text);
  }
});

test("a secret is masked where it is split over chunks, down to a byte each", async (t) => {
  const server = await secureUpstream(t, (response) => {
    for (const byte of Buffer.from(`one ${VALUE} two ${VALUE.slice(0, 5)}`)) response.write(Uint8Array.of(byte));
    response.end();
  });
  const gate = await openBoundGate(t, { port: server.port });
  const answer = await gate.request(get("/"));
  const content = bodyOf(answer).split("\r\n").filter((_, index) => index % 2 === 1).join("");
  // Of a value that comes this slowly the first three bytes have passed before it can be known.
  assert.equal(content, `one ${VALUE.slice(0, 3)}${PLACEHOLDER} two ${VALUE.slice(0, 5)}`);
});

test("an answer that is compressed all the same is decompressed and masked; what cannot be is refused", async (t) => {
  const packed: Record<string, Uint8Array> = {
    gzip: gzipSync(`<${VALUE}>`),
    deflate: deflateSync(`<${VALUE}>`),
    br: brotliCompressSync(`<${VALUE}>`),
    "gzip, gzip": gzipSync(gzipSync(`<${VALUE}>`)),
  };
  const server = await secureUpstream(t, (response, { url }) => {
    const encoding = decodeURIComponent(url.slice(1));
    response.writeHead(200, { "Content-Encoding": encoding, "Content-Length": `${packed[encoding]?.length}` });
    response.end(packed[encoding]);
  });
  const gate = await openBoundGate(t, { port: server.port });
  for (const encoding of ["gzip", "deflate"]) {
    const answer = await gate.request(get(`/${encoding}`, "Accept-Encoding: br, gzip"));
    assert.match(answer, new RegExp(`\r\n<${PLACEHOLDER}>\r\n0\r\n\r\n$`));
    assert.doesNotMatch(answer, /content-encoding/i);
  }
  for (const encoding of ["br", "gzip, gzip"]) {
    const answer = await gate.request(get(`/${encodeURIComponent(encoding)}`));
    assert.match(answer, /^HTTP\/1\.1 502 [^]*encoded-answer/, encoding);
  }
  assert.deepEqual(new Set(server.heard.map(({ headers }) => headers["accept-encoding"])), new Set(["identity"]));
});

test("past 1 MiB a secret is masked without changing the length that was stated", async (t) => {
  const body = `${"x".repeat(MIB)}${VALUE}${"y".repeat(100)}`;
  const server = await secureUpstream(t, (response) => {
    response.setHeader("Content-Length", `${Buffer.byteLength(body)}`);
    response.end(body);
  });
  const gate = await openBoundGate(t, { port: server.port });
  const answer = bodyOf(await gate.request(get("/")));
  assert.equal(answer.length, Buffer.byteLength(body));
  assert.equal(answer.slice(MIB, -100), PLACEHOLDER.slice(0, Buffer.byteLength(VALUE)));
});

test("HTTP/1.0 clients and servers are served too: masked, and ended by the end of the connection", async (t) => {
  const port = await rawUpstream(
    t,
    (socket) => void socket.once("data", () => void socket.end(`HTTP/1.0 200 OK\r\n\r\n<${VALUE}>`)),
  );
  const gate = await openBoundGate(t, { port });
  const answer = await gate.request(`GET / HTTP/1.0\r\nHost: ${HOST}\r\n\r\n`);
  assert.equal(bodyOf(answer), `<${PLACEHOLDER}>`);
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\nConnection: close\r\n\r\n/);
});

test("HEAD, 204 and 304 have no body, whatever length they state, and the connection lives on", async (t) => {
  const server = await secureUpstream(t, (response, { url }) => {
    response.writeHead(Number(url.slice(1)), url === "/200" ? { "Content-Length": "7" } : {}).end();
  });
  const gate = await openBoundGate(t, { port: server.port });
  const client = await gate.secure();
  client.send(`HEAD /200 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  await client.until(/Content-Length: 7\r\n([^]+\r\n)?\r\n$/i);
  for (const status of [204, 304]) {
    client.send(`GET /${status} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await client.until(new RegExp(`HTTP/1.1 ${status} [^]*\r\n\r\n$`));
  }
  client.close();
  assert.equal(server.connections(), 1);
});

test("an answer that ends early is cut off, so that no client takes it for a whole one", async (t) => {
  const heads = ["Content-Length: 2000000\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"];
  for (const head of heads) {
    const port = await rawUpstream(
      t,
      (socket) => void socket.once("data", () => void socket.end(`HTTP/1.1 200 OK\r\n${head}`)),
    );
    const gate = await openBoundGate(t, { port });
    const answer = await gate.request(get("/"));
    assert.match(answer, /abc/);
    assert.doesNotMatch(answer, /\r\n0\r\n\r\n$/);
  }
});

test("a server whose answer can be read in two ways is refused with 502", async (t) => {
  const heads = [
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4",
    "HTTP/1.1 200 OK\r\nX-A: 1\r\n folded",
    "HTTP/1.1 200 OK\nX-A: 1",
    "HTTP/2 200",
    "SSH-2.0-OpenSSH",
  ];
  for (const head of heads) {
    const port = await rawUpstream(
      t,
      (socket) => void socket.once("data", () => void socket.write(`${head}\r\n\r\nabc`)),
    );
    const gate = await openBoundGate(t, { port });
    assert.match(await gate.request(get("/")), /^HTTP\/1\.1 502 [^]*bad-answer/, head);
  }
});

test("a host that only a limit names is read and not searched: its compression stays as it is", async (t) => {
  const packed = gzipSync("hello");
  const server = await secureUpstream(t, (response) => {
    response.writeHead(200, { "Content-Encoding": "gzip", "Content-Length": `${packed.length}` }).end(packed);
  });
  const limits = [
    { host: HOST, port: 443, methods: ["GET"], paths: null, upBytesPerMinute: null, downBytesPerMinute: null },
  ];
  const gate = await openBoundGate(t, { port: server.port, secrets: [], limits });
  assert.match(await gate.request(get("/", "Accept-Encoding: gzip")), /content-encoding: gzip\r\n/i);
  assert.equal(server.heard[0]?.headers["accept-encoding"], "gzip");
  await until(() => gate.events.length > 0, "the report");
});

test("a value of a few characters is not searched for: it would be found by chance", async (t) => {
  const server = await secureUpstream(t, (response) => void response.end("12345"));
  const gate = await openBoundGate(t, { port: server.port, secrets: [secretFor({ value: () => "123" })] });
  assert.match(await gate.request(get("/")), /12345/);
});
