import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, stat } from "node:fs/promises";
import { connect } from "node:net";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { requestOverSocket } from "../../src/adapters/shared/request_over_socket.ts";
import type { HttpHandler, HttpServer, WebSocketPeer } from "../../src/core/ports/http.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const { http, files } = await detectRuntime();
const LOOPBACK = { hostname: "127.0.0.1", port: 0 } as const;
const text = (body: string): HttpHandler => () => Promise.resolve(new Response(body));

async function end(server: HttpServer): Promise<void> {
  const stopped = server.stop();
  await server.destroy();
  await stopped;
}

test("a server listens at a free port and answers with the handler's response", async () => {
  const server = await http.listen({
    at: LOOPBACK,
    handler: async (request) => {
      const { pathname, search } = new URL(request.url);
      return Response.json({ at: `${request.method} ${pathname}${search}`, body: await request.text() }, {
        status: 201,
        headers: { "X-Told": request.headers.get("x-asked") ?? "" },
      });
    },
  });
  const response = await fetch(`http://127.0.0.1:${server.port}/a%20b?c=d`, {
    method: "POST",
    body: "hello",
    headers: { "X-Asked": "yes" },
  });
  assert.deepEqual([response.status, response.headers.get("x-told")], [201, "yes"]);
  assert.deepEqual(await response.json(), { at: "POST /a%20b?c=d", body: "hello" });
  await end(server);
});

test("a port that is taken rejects with the system's code", async () => {
  const server = await http.listen({ at: LOOPBACK, handler: text("first") });
  const second = http.listen({ at: { hostname: "127.0.0.1", port: server.port! }, handler: text("second") });
  await assert.rejects(second, { code: "EADDRINUSE" });
  await end(server);
});

test("a server at a path of any length is for this user alone, and gone when it stops", async (t) => {
  const dir = `${await scratchDir(t)}/${"long".repeat(30)}`;
  await mkdir(dir);
  const path = `${dir}/one.sock`;
  const server = await http.listen({ at: { path }, handler: text("hello"), background: true });
  assert.equal(server.port, null);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const response = await requestOverSocket(path, new Request("http://kaged/x"));
  assert.equal(await response.text(), "hello");
  await end(server);
  assert.equal(await files.info(path), null);
});

test("requestOverSocket() carries method, headers, body, status and query", async (t) => {
  const path = `${await scratchDir(t)}/s`;
  const handler: HttpHandler = async (request) => {
    const { pathname, search } = new URL(request.url);
    const told = [request.method, pathname + search, request.headers.get("x-asked"), await request.text()];
    return Response.json(told, { status: 422, headers: { "X-Told": "yes" } });
  };
  const server = await http.listen({ at: { path }, handler });
  const asked = new Request("http://kaged/a?b=c", { method: "PUT", body: "körper", headers: { "X-Asked": "1" } });
  const response = await requestOverSocket(path, asked);
  assert.deepEqual([response.status, response.headers.get("x-told")], [422, "yes"]);
  assert.deepEqual(await response.json(), ["PUT", "/a?b=c", "1", "körper"]);
  await end(server);
});

test("requestOverSocket() distinguishes a socket nobody listens at from a missing one", async (t) => {
  const dir = await scratchDir(t);
  const server = await http.listen({ at: { path: `${dir}/a` }, handler: text("hello") });
  await files.link(`${dir}/a`, `${dir}/left`);
  await end(server);
  await assert.rejects(requestOverSocket(`${dir}/left`, new Request("http://kaged/")), { code: "ECONNREFUSED" });
  await assert.rejects(requestOverSocket(`${dir}/none`, new Request("http://kaged/")), { code: "ENOENT" });
});

test("a streamed body arrives piece by piece, and its stream is cancelled when the reader leaves", async (t) => {
  const path = `${await scratchDir(t)}/s`;
  const left = Promise.withResolvers<void>();
  let push = (_: string): void => {};
  const handler: HttpHandler = () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        push = (part) => controller.enqueue(new TextEncoder().encode(part));
        push("one");
      },
      cancel: () => left.resolve(),
    });
    return Promise.resolve(new Response(body));
  };
  const server = await http.listen({ at: { path }, handler });
  const reader = (await requestOverSocket(path, new Request("http://kaged/"))).body!.getReader();
  const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  assert.equal(await next(), "one");
  push("two");
  assert.equal(await next(), "two");
  await reader.cancel();
  await left.promise;
  await end(server);
});

test("a connection becomes a WebSocket with the protocol that was agreed on", async () => {
  const opened = Promise.withResolvers<WebSocketPeer>();
  const closed = Promise.withResolvers<void>();
  const handler: HttpHandler = (request, connection) => {
    if (request.headers.get("sec-websocket-protocol") === null) return Promise.resolve(new Response("no"));
    connection.upgrade({ protocol: "kaged.v1", open: opened.resolve, closed: () => closed.resolve() });
    return Promise.resolve(new Response(null));
  };
  const server = await http.listen({ at: LOOPBACK, handler });
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`, ["kaged.v1", "other"]);
  const peer = await opened.promise;
  const heard = once(socket as never, "message");
  peer.send("hello");
  assert.equal((await heard)[0].data, "hello");
  assert.equal(socket.protocol, "kaged.v1");
  assert.equal(typeof peer.bufferedBytes(), "number");
  const ended = once(socket as never, "close");
  peer.close(1001, "gone");
  assert.deepEqual([(await ended)[0].code, (await closed.promise, true)], [1001, true]);
  peer.send("into the void");
  await end(server);
});

test("a request for a WebSocket that is refused gets the handler's response", async () => {
  const handler: HttpHandler = () => Promise.resolve(new Response("no", { status: 401 }));
  const server = await http.listen({ at: LOOPBACK, handler });
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`);
  await once(socket as never, "error");
  const plain = await fetch(`http://127.0.0.1:${server.port}/`);
  assert.deepEqual([plain.status, await plain.text()], [401, "no"]);
  await end(server);
});

test("a WebSocket's protocols may be joined by a bare comma", async () => {
  const handler: HttpHandler = (_, connection) => {
    connection.upgrade({ protocol: "kaged.v1", open() {}, closed() {} });
    return Promise.resolve(new Response(null));
  };
  const server = await http.listen({ at: LOOPBACK, handler });
  for (const protocols of ["other,kaged.v1", "other, kaged.v1", "kaged.v1"]) {
    const socket = connect(server.port!, "127.0.0.1");
    socket.write([
      "GET / HTTP/1.1",
      `Host: 127.0.0.1:${server.port}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      `Sec-WebSocket-Protocol: ${protocols}`,
      "",
      "",
    ].join("\r\n"));
    const [answer] = await once(socket, "data");
    assert.match(String(answer), /^HTTP\/1.1 101 [^]*\r\nsec-websocket-protocol: kaged.v1\r\n/i, protocols);
    socket.destroy();
  }
  await end(server);
});

test("a connection's signal stays quiet when its client is answered", async () => {
  const asked = Promise.withResolvers<AbortSignal | null>();
  const handler: HttpHandler = (_, { signal }) => {
    asked.resolve(signal);
    return Promise.resolve(new Response("here"));
  };
  const server = await http.listen({ at: LOOPBACK, handler });
  const response = await fetch(`http://127.0.0.1:${server.port}/`);
  assert.equal(await response.text(), "here");
  await end(server);
  assert.equal((await asked.promise)?.aborted, false);
});

test("T-008 a connection's signal aborts when its client goes away", async () => {
  const asked = Promise.withResolvers<AbortSignal | null>();
  const done = Promise.withResolvers<void>();
  const handler: HttpHandler = async (_, { signal }) => {
    asked.resolve(signal);
    await done.promise;
    return new Response("late");
  };
  const server = await http.listen({ at: LOOPBACK, handler });
  const controller = new AbortController();
  const response = fetch(`http://127.0.0.1:${server.port}/`, { signal: controller.signal });
  const signal = (await asked.promise)!;
  controller.abort();
  await assert.rejects(response);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  done.resolve();
  await end(server);
});

test("stop() lets a request that is under way come to its end", async () => {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const server = await http.listen({
    at: LOOPBACK,
    handler: async () => {
      asked.resolve();
      await go.promise;
      return new Response("done");
    },
  });
  const response = fetch(`http://127.0.0.1:${server.port}/`, { headers: { Connection: "close" } });
  await asked.promise;
  const stopped = server.stop();
  go.resolve();
  assert.equal(await (await response).text(), "done");
  await stopped;
  await server.destroy(); // There is nothing left, and that is fine.
});

test("destroy() drops a connection whose stream never ends, and lets stop() come to its end", async () => {
  const left = Promise.withResolvers<void>();
  const handler: HttpHandler = () => {
    const start = (controller: ReadableStreamDefaultController): void => controller.enqueue(new Uint8Array(1));
    return Promise.resolve(new Response(new ReadableStream({ start, cancel: () => left.resolve() })));
  };
  const server = await http.listen({ at: LOOPBACK, handler });
  const reader = (await fetch(`http://127.0.0.1:${server.port}/`)).body!.getReader();
  await reader.read();
  const stopped = server.stop();
  await server.destroy();
  await stopped;
  await left.promise;
  await reader.read().catch(() => {});
});
