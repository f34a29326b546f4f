import assert from "node:assert/strict";
import { test } from "node:test";
import { forwardedHead, readRequestHead } from "../../../../src/core/cage/net/request_head.ts";
import fc from "../../../support/fast_check.ts";

const read = (...lines: string[]) => readRequestHead(lines.join("\r\n"));
const reasonOf = (...lines: string[]): string => {
  const head = read(...lines);
  return head.kind === "bad" ? head.reason : head.kind;
};

test("readRequestHead() reads CONNECT with a host and a port", () => {
  assert.deepEqual(read("CONNECT api.example.com:443 HTTP/1.1", "Host: lies.example"), {
    kind: "connect",
    host: "api.example.com",
    port: 443,
  });
  assert.deepEqual(read("CONNECT [::1]:80 HTTP/1.0"), { kind: "connect", host: "[::1]", port: 80 });
  for (const target of ["api.example.com", "/", "api.example.com:", "a:b@c:443", "http://a:1", "::1:80", "a:999999"]) {
    assert.equal(reasonOf(`CONNECT ${target} HTTP/1.1`), "bad-target", target);
  }
});

test("forwardedHead() rebuilds request line and Host, and leaves out what is about the connection", () => {
  const request = read(
    "POST http://Api.Example.com:8080?x=1 HTTP/1.1",
    "Host: other.example",
    "Accept: */*",
    "Connection: keep-alive, X-Secret",
    "X-Secret: 1",
    "Proxy-Authorization: Basic x",
    "Proxy-Connection: keep-alive",
    "Keep-Alive: timeout=5",
    "Upgrade: websocket",
    "TE: trailers",
    "Content-Length: 3",
  );
  assert.ok(request.kind === "forward");
  assert.deepEqual([request.host, request.port, request.body], [
    "Api.Example.com",
    8080,
    { kind: "length", bytes: 3, stated: true },
  ]);
  assert.deepEqual(forwardedHead(request, "api.example.com").split("\r\n"), [
    "POST /?x=1 HTTP/1.1",
    "Host: api.example.com:8080",
    "Accept: */*",
    "Content-Length: 3",
    "Connection: close",
    "",
    "",
  ]);
});

test("forwardedHead() names no port where it is 80, and chunks stay chunks", () => {
  const request = read("PUT http://a.example/x HTTP/1.1", "Transfer-Encoding: chunked");
  assert.ok(request.kind === "forward");
  const lines = ["PUT /x HTTP/1.1", "Host: a.example", "Transfer-Encoding: chunked", "Connection: close", "", ""];
  assert.deepEqual(forwardedHead(request, "a.example").split("\r\n"), lines);
});

test("readRequestHead() refuses targets that are no plain http:// address", () => {
  const targets = ["/", "*", "https://a/", "ftp://a/", "http:///", "http://", "//a/", "http:/a/", "http://a\\b/"];
  for (const target of [...targets, "http://a:80@evil/", "http://a/#x", "http://a:/"]) {
    assert.equal(reasonOf(`GET ${target} HTTP/1.1`), "bad-target", target);
  }
  // One that has user info is read as a host, and that is no host.
  const lie = read("GET http://allowed@evil/ HTTP/1.1");
  assert.equal(lie.kind === "forward" && lie.host, "allowed@evil");
});

test("readRequestHead() refuses what two programs could read as two different requests", () => {
  const get = "GET http://a/ HTTP/1.1";
  const heads = [
    ["GET http://a/  HTTP/1.1"],
    ["GET http://a/ HTTP/2"],
    ["GET http://a/"],
    [""],
    ["GET http://a/ b HTTP/1.1"],
    [get, " Host: folded"],
    [get, "X: 1", "\tfolded"],
    [get, "X : 1"],
    [get, ": 1"],
    [get, "X"],
    [get, ""],
    [get, "X: 1\n2"],
    [get, "X: 1\r2"],
    [get, "X: 1\0"],
    [get, "X\ny: 1"],
    [get, "Content-Length: 1", "Content-Length: 1"],
    [get, "Content-Length: 1, 1"],
    [get, "Content-Length: +1"],
    [get, "Content-Length: 0x1"],
    [get, "Content-Length: "],
    [get, "Content-Length: 1", "Transfer-Encoding: chunked"],
    [get, "Transfer-Encoding: gzip, chunked"],
    [get, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    [get, "Transfer-Encoding: identity"],
    ["GET http://a/ HTTP/1.0", "Transfer-Encoding: chunked"],
  ];
  for (const lines of heads) assert.equal(reasonOf(...lines), "bad-request", JSON.stringify(lines));
});

test("no text makes a head that is sent on hold a line of its own making", () => {
  const text = fc.string({ unit: "binary-ascii", maxLength: 40 });
  fc.assert(fc.property(text, text, text, (path, name, value) => {
    const request = readRequestHead(`GET http://a.example/${path} HTTP/1.1\r\n${name}: ${value}`);
    if (request.kind !== "forward") return;
    const lines = forwardedHead(request, "a.example").slice(0, -4).split("\r\n");
    assert.equal(lines.filter((line) => /^host:/i.test(line)).length, 1);
    assert.equal(
      lines.length,
      3 + request.fields.length + (request.body.kind === "chunked" || request.body.stated ? 1 : 0),
    );
    for (const line of lines) assert.doesNotMatch(line, /[\r\n\0]/);
  }));
});
