import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import type { IncomingRequest } from "../../../src/core/wire/connection_types.ts";
import { createConnectionPair } from "../../support/memory_pair.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { createRawPeer, flushed, request } from "./raw_peer.ts";

const ended = new HostError("protocol.closed", "The plugin has ended");

test("a request is answered with its handler's result, now or later", async () => {
  const peer = createRawPeer({
    onRequest: ({ method, params }) => method === "a.later" ? Promise.resolve({ params }) : undefined,
  });
  peer.send(request(1, "a.later", [1]), request("two", "a.nothing"));
  assert.deepEqual(await peer.sent(), [
    { jsonrpc: "2.0", id: "two", result: null },
    { jsonrpc: "2.0", id: 1, result: { params: [1] } },
  ]);
});

test("ids of 1.5, -0, the empty string and a number as text come back as they were", async () => {
  const peer = createRawPeer({ onRequest: () => 1 });
  peer.send(...["1.5", "-0", '""', '"1"', "-7"].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"a.b"}`));
  assert.deepEqual((await peer.sent()).map(({ id }) => id), [1.5, 0, "", "1", -7]);
});

test("K-017 a HostError thrown by a handler goes out with its number, message, data and hint", async () => {
  const thrown = [
    new HostError("plugin.storage_denied", "Not yours", { data: { table: "x" }, hint: "Use your own" }),
    new HostError("plugin.capability_denied", "No", { hint: "Ask" }),
    new HostError("plugin.error", "List", { data: [1], hint: "Look" }),
    new HostError("protocol.method_unknown", "None"),
  ];
  const peer = createRawPeer({ onRequest: ({ id }) => Promise.reject(thrown[Number(id)]) });
  peer.send(...thrown.map((_, id) => request(id, "a.b")));
  assert.deepEqual((await peer.sent()).map(({ error }) => error), [
    { code: -32003, message: "Not yours", data: { table: "x", hint: "Use your own" } },
    { code: -32001, message: "No", data: { hint: "Ask" } },
    { code: -32000, message: "List", data: { value: [1], hint: "Look" } },
    { code: -32601, message: "None" },
  ]);
});

test("anything else a handler throws goes out as -32603 without its message or stack", async () => {
  const peer = createRawPeer({
    onRequest({ id }) {
      if (id === 1) throw new Error("secret of /home/operator");
      return Promise.reject(id === 2 ? "secret text" : undefined);
    },
  });
  peer.send(request(1, "a.b"), request(2, "a.b"), request(3, "a.b"));
  const answers = await peer.sent();
  assert.deepEqual(answers.map(({ error }) => error), Array(3).fill({ code: -32603, message: "Internal error" }));
});

test("a result that cannot be written as JSON becomes -32603", async () => {
  const peer = createRawPeer({ onRequest: ({ id }) => id === 1 ? 1n : () => {} });
  peer.send(request(1, "a.b"), request(2, "a.b"));
  assert.deepEqual((await peer.sent()).map(({ error }) => (error as { code: number }).code), [-32603, -32603]);
});

test("K-006 a notification is handed over and never answered", async () => {
  const peer = createRawPeer();
  peer.send({ jsonrpc: "2.0", method: "a.b", params: { x: 1 } }, { jsonrpc: "2.0", method: "a.c" });
  assert.deepEqual(peer.notifications, [{ method: "a.b", params: { x: 1 } }, { method: "a.c", params: undefined }]);
  assert.deepEqual(await peer.sent(), []);
});

test("K-005 a batch is answered with one -32600 and a null id, and nothing in it is done", async () => {
  const peer = createRawPeer({ onRequest: () => assert.fail("a batch is not carried out") });
  peer.send([request(1, "a.b"), request(2, "a.b")], []);
  const refusal = { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Batches are not supported" } };
  assert.deepEqual(await peer.sent(), [refusal, refusal]);
  assert.deepEqual(peer.irregularities.map(({ kind }) => kind), ["batch", "batch"]);
});

test("an invalid request is answered with -32600 and its id, where the id is valid", async () => {
  const peer = createRawPeer();
  peer.send(request(5, "a.b", "text"), { id: "x", method: "a.b" }, { jsonrpc: "2.0", id: 6 });
  peer.send({ jsonrpc: "2.0", id: {}, method: "a.b" }, request(null, "a.b"), { jsonrpc: "2.0", method: 1 }, "42", "{}");
  const answers = await peer.sent();
  assert.deepEqual(answers.map(({ id }) => id), [5, "x", 6, null, null, null, null, null]);
  assert.ok(answers.every(({ error }) => (error as { code: number }).code === -32600));
  assert.deepEqual(peer.irregularities.length, 8);
});

test("a line that looks like a response is never answered", async () => {
  const peer = createRawPeer();
  peer.send({ result: 1 }, { jsonrpc: "2.0", id: [], error: {} }, { jsonrpc: "2.0", id: 3, result: 1, error: 1 });
  peer.send({ jsonrpc: "2.0", id: 3, method: "a.b", result: 1 }, { jsonrpc: "2.0", id: null, error: { code: -32700 } });
  assert.deepEqual(await peer.sent(), []);
  assert.deepEqual(peer.irregularities.map(({ kind }) => kind), [...Array(4).fill("invalid"), "unknown_response"]);
});

test("K-004 a line that is not JSON is noise of at most 200 characters, and the next line is read", async () => {
  const peer = createRawPeer();
  peer.send("x".repeat(1000), "nul\u0000", "\ud800");
  peer.connection.receive(Uint8Array.of(...Array(300).fill(0xff), 0x0a));
  peer.send(request(1, "a.b", {}));
  assert.deepEqual(peer.irregularities, [
    { kind: "noise", line: "x".repeat(200) },
    { kind: "noise", line: "nul\u0000" },
    { kind: "noise", line: "\ufffd" },
    { kind: "noise", line: "\ufffd".repeat(200) },
  ]);
  assert.deepEqual(await peer.sent(), [{ jsonrpc: "2.0", id: 1, result: {} }]);
});

test("a request whose id is still in use is refused and the first one keeps running", async () => {
  const finish: (() => void)[] = [];
  const peer = createRawPeer({ onRequest: () => new Promise<void>((resolve) => finish.push(resolve)) });
  peer.send(request(1, "a.b"), request(1, "a.c"), request("1", "a.d"));
  assert.equal(finish.length, 2);
  for (const end of finish) end();
  assert.deepEqual((await peer.sent()).map(({ id, error }) => [id, error !== undefined]), [
    [1, true],
    [1, false],
    ["1", false],
  ]);
});

test("system.cancel aborts the signal of its request only, and the request is still answered", async () => {
  const running: IncomingRequest[] = [];
  const finish: (() => void)[] = [];
  const peer = createRawPeer({
    onRequest: (incoming) => (running.push(incoming), new Promise<void>((resolve) => finish.push(resolve))),
  });
  peer.send(request(1, "a.b"), request(2, "a.b"), request(3, "a.b"));
  const early = running[0]!.signal;
  for (const params of [{ id: 1 }, { id: 3 }, { id: 9 }, { id: "2" }, {}, [2], undefined]) {
    peer.send({ jsonrpc: "2.0", method: "system.cancel", params });
  }
  assert.deepEqual([early.aborted, running[1]!.signal.aborted, running[2]!.signal.aborted], [true, false, true]);
  assert.equal(early.reason.code, "protocol.cancelled");
  assert.deepEqual(peer.notifications, []);
  for (const end of finish) end();
  assert.deepEqual((await peer.sent()).map(({ id }) => id), [1, 2, 3]);
});

test("close() aborts running requests and writes no answer of theirs", async () => {
  const running: IncomingRequest[] = [];
  const finish: (() => void)[] = [];
  const peer = createRawPeer({
    onRequest: (incoming) => (running.push(incoming), new Promise<void>((resolve) => finish.push(resolve))),
  });
  peer.send(request(1, "a.b"), request(2, "a.b"));
  const { signal } = running[0]!;
  peer.connection.close(ended);
  assert.deepEqual([signal.reason, running[1]!.signal.reason], [ended, ended]);
  for (const end of finish) end();
  peer.send(request(3, "a.b"));
  assert.deepEqual([await peer.sent(), running.length], [[], 2]);
});

test("close() called by a handler stops the lines behind it", async () => {
  const peer = createRawPeer({ onRequest: () => void peer.connection.close(ended) });
  peer.send(request(1, "a.b"), request(2, "a.b"), "noise");
  assert.deepEqual([await peer.sent(), peer.irregularities], [[], []]);
});

test("K-002 a line above the cap is reported once and nothing after it is read", async () => {
  const peer = createRawPeer({ maxLineBytes: 100 });
  peer.send(request(1, "a.b", {}), "x".repeat(101), request(2, "a.b"), "x".repeat(101));
  peer.send(request(3, "a.b"));
  assert.deepEqual(peer.irregularities, [{ kind: "oversize", limitBytes: 100 }]);
  assert.deepEqual((await peer.sent()).map(({ id }) => id), [1]);
});

test("K-002 a line of 5 MiB is oversize under the default cap", () => {
  const peer = createRawPeer();
  const chunk = new TextEncoder().encode("x".repeat(64 * 1024));
  for (let count = 0; count < 80; count++) peer.connection.receive(chunk);
  assert.deepEqual(peer.irregularities, [{ kind: "oversize", limitBytes: 4_194_304 }]);
});

test("a pair of connections calls both ways at once with separate ids", async () => {
  const seen: unknown[] = [];
  const answer = ({ id, method }: IncomingRequest) => (seen.push(id), `did ${method}`);
  const { left, right } = createConnectionPair({
    clock: createFakeClock(),
    left: { onRequest: answer },
    right: { onRequest: answer },
  });
  assert.deepEqual(await Promise.all([left.call("a.b"), right.call("c.d")]), ["did a.b", "did c.d"]);
  assert.deepEqual(seen, [1, 1]);
});

test("a pair carries cancel and progress from one side to the other", async () => {
  let signal: AbortSignal | undefined;
  const { left, right } = createConnectionPair({
    clock: createFakeClock(),
    right: {
      onRequest(incoming) {
        ({ signal } = incoming);
        right.notify("system.progress", { id: incoming.id, progress: 1 });
        return new Promise(() => {});
      },
    },
  });
  left.features = new Set(["cancel", "progress"]);
  const controller = new AbortController();
  const call = left.call("a.b", {}, { signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(call, { code: "protocol.cancelled" });
  await flushed();
  assert.equal(signal?.aborted, true);
});
