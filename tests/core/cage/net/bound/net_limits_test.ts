import assert from "node:assert/strict";
import { test } from "node:test";
import { isPathAllowed, readingsOf } from "../../../../../src/core/cage/net/bound/path_rules.ts";
import {
  HOST,
  limitOf,
  openBoundGate,
  PLACEHOLDER,
  rawUpstream,
  secureUpstream,
} from "../../../../support/bound_gate.ts";

const request = (line: string, ...fields: string[]): string =>
  [`${line} HTTP/1.1`, `Host: ${HOST}`, ...fields, "Connection: close", "", ""].join("\r\n");
const post = (bytes: number): string => `${request("POST /", `Content-Length: ${bytes}`)}${"x".repeat(bytes)}`;
const refused = (method: string, path: string, reason: string) => ({
  kind: "request_refused",
  host: HOST,
  port: 443,
  method,
  path,
  reason,
});

test("N-024 a request that a limit leaves out gets 403 with why, and is reported without its query", async (t) => {
  const server = await secureUpstream(t);
  const limits = [limitOf({ methods: ["GET"], paths: ["/repos/*", "/user"] })];
  const gate = await openBoundGate(t, { port: server.port, limits });
  assert.match(await gate.request(request("GET /repos/a/b?x=1")), /^HTTP\/1\.1 200 /);
  assert.match(await gate.request(request("GET /user")), /^HTTP\/1\.1 200 /);
  assert.match(
    await gate.request(request(`POST /user?private=${PLACEHOLDER}`)),
    /^HTTP\/1\.1 403 [^]*method: a net_rule/,
  );
  assert.match(await gate.request(request("GET /users?private=1")), /^HTTP\/1\.1 403 [^]*path: a net_rule/);
  assert.match(await gate.request(request("get /user")), /^HTTP\/1\.1 403 /);
  assert.deepEqual(gate.events.slice(1), [
    refused("POST", "/user", "method"),
    refused("GET", "/users", "path"),
    refused("get", "/user", "method"),
  ]);
  assert.equal(server.heard.length, 2);
});

test("a field that asks a server for another method or path than the request line is refused", async (t) => {
  const server = await secureUpstream(t);
  const limits = [limitOf({ methods: ["GET", "POST"], paths: ["/user"] })];
  const gate = await openBoundGate(t, { port: server.port, limits });
  for (const name of ["X-HTTP-Method-Override", "x-method-override", "X-HTTP-Method"]) {
    assert.match(await gate.request(request("POST /user", `${name}: DELETE`)), /^HTTP\/1\.1 403 [^]*method/, name);
  }
  for (const name of ["X-Original-URL", "X-Rewrite-Url"]) {
    assert.match(await gate.request(request("GET /user", `${name}: /admin`)), /^HTTP\/1\.1 403 [^]*path/, name);
  }
  assert.deepEqual(server.heard, []);
});

test("limits of one host are alternatives: one that allows a request is enough", async (t) => {
  const server = await secureUpstream(t);
  const limits = [limitOf({ methods: ["GET"] }), limitOf({ methods: ["POST"], paths: ["/gists"] })];
  const gate = await openBoundGate(t, { port: server.port, limits });
  assert.match(await gate.request(request("GET /anything")), /^HTTP\/1\.1 200 /);
  assert.match(await gate.request(request("POST /gists")), /^HTTP\/1\.1 200 /);
  assert.match(await gate.request(request("POST /user")), /^HTTP\/1\.1 403 /);
});

test("a path gets around a limit by no spelling: dots, percent signs, slashes, backslashes, parameters", () => {
  const patterns = ["/repos/*", "/user"];
  const allowed = [
    "/user",
    "/repos/",
    "/repos/a/b",
    "/repos/a%20b",
    "/repos/x%2Fy",
    "/user?a=/../admin",
    "/repos/a;v=1",
  ];
  for (const path of allowed) assert.equal(isPathAllowed(path, patterns), true, path);
  const around = [
    ...["/repos/../admin", "/repos/%2e%2e/admin", "/repos/.%2E/admin", "/repos/%252e%252e/admin", "/repos/..%2fadmin"],
    ...["/repos/..%5cadmin", "/repos/..\\admin", "//admin", "/repos//../admin", "/repos/..;/admin", "/./admin", "/"],
    ...["/repos/..;x=1/admin", "/repos/%25252e%25252e/admin", "/repos/%00", "/repos/%0d%0a", "/repos/%", "/repos/%zz"],
    ...["/users", "/USER", "/user/", "/user/keys", "/reposx/a", "*", "", "/user%2fkeys", "/%72epos/../admin"],
    `/repos/${"%25".repeat(1)}${"25".repeat(8)}2e`,
  ];
  for (const path of around) assert.equal(isPathAllowed(path, patterns), false, path);
});

test("a star stands for any rest of the path, also in its middle", () => {
  assert.equal(isPathAllowed("/a/b/c/d", ["/a/*/d"]), true);
  assert.equal(isPathAllowed("/a/d", ["/a/*/d"]), false);
  assert.equal(isPathAllowed("/a/b/c", ["/a/*/d"]), false);
  assert.equal(isPathAllowed("/aXaYb", ["/a*a*b"]), true);
  assert.equal(isPathAllowed("/ab", ["/ab*b"]), false);
  assert.equal(isPathAllowed("/anything", ["*"]), true);
  assert.deepEqual(readingsOf("/a/%2e/b"), ["/a/%2e/b", "/a/b"]);
});

test("bytes up are counted within a minute: what is too much is refused before it is sent", async (t) => {
  const server = await secureUpstream(t);
  const gate = await openBoundGate(t, { port: server.port, limits: [limitOf({ upBytesPerMinute: 2000 })] });
  assert.match(await gate.request(post(1500)), /^HTTP\/1\.1 200 /);
  assert.match(await gate.request(post(1500)), /^HTTP\/1\.1 403 [^]*up-limit/);
  const chunked = request("POST /", "Transfer-Encoding: chunked");
  assert.match(await gate.request(`${chunked}5dc\r\n${"x".repeat(1500)}\r\n0\r\n\r\n`), /^HTTP\/1\.1 403 [^]*up-limit/);
  assert.equal(server.heard.length, 1);
  gate.clock.advance(60_000);
  assert.match(await gate.request(post(1500)), /^HTTP\/1\.1 200 /);
  assert.deepEqual(gate.events.filter(({ kind }) => kind === "request_refused"), [refused("POST", "/", "up-limit")]);
});

test("bytes down are counted within a minute: an answer that is too much is cut off and reported", async (t) => {
  const server = await secureUpstream(t, (response) => void response.end("y".repeat(3_000_000)));
  const gate = await openBoundGate(t, { port: server.port, limits: [limitOf({ downBytesPerMinute: 2_000_000 })] });
  const answer = await gate.request(request("GET /"));
  assert.ok(answer.length < 2_100_000, `${answer.length}`);
  assert.deepEqual(gate.events.slice(1), [refused("GET", "/", "down-limit")]);
});

test("bytes of a WebSocket count as well", async (t) => {
  const port = await rawUpstream(t, (socket) => {
    const head = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    socket.once("data", () => {
      socket.on("data", () => {});
      socket.write(head);
    });
  });
  const gate = await openBoundGate(t, { port, limits: [limitOf({ upBytesPerMinute: 2000 })] });
  const client = await gate.secure();
  client.send(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  await client.until(/101/);
  client.send("z".repeat(3000));
  await client.ended();
  assert.deepEqual(gate.events.slice(1), [refused("GET", "/", "up-limit")]);
});
