import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { createRawPeer, flushed, rejection, request, result } from "./raw_peer.ts";

const ended = new HostError("protocol.closed", "The plugin has ended");

test("K-002 a request or notification above the cap is never sent", async () => {
  const peer = createRawPeer({ maxLineBytes: 100 });
  const paramsOf = (lineBytes: number, method: string, id: string) => {
    const envelope = `{"jsonrpc":"2.0",${id}"method":"${method}","params":["é"]}`;
    return [`é${"x".repeat(lineBytes - new TextEncoder().encode(envelope).length)}`];
  };
  void rejection(peer.connection.call("a.b", paramsOf(100, "a.b", '"id":1,')));
  peer.connection.notify("a.b", paramsOf(100, "a.b", ""));
  const tooLong = await rejection(peer.connection.call("a.b", paramsOf(101, "a.b", '"id":2,')));
  assert.deepEqual([tooLong?.["code"], tooLong?.["data"]], [
    "protocol.oversize_message",
    { method: "a.b", limit_bytes: 100 },
  ]);
  assert.throws(() => peer.connection.notify("a.b", paramsOf(101, "a.b", "")), { code: "protocol.oversize_message" });
  await flushed();
  assert.deepEqual(peer.writes.join("").split("\n").map((line) => new TextEncoder().encode(line).length), [
    100,
    100,
    0,
  ]);
  assert.equal(peer.connection.pending, 1);
});

test("K-002 a call of exactly 4,194,304 bytes goes out", async () => {
  const peer = createRawPeer();
  const envelope = '{"jsonrpc":"2.0","id":1,"method":"a.b","params":[""]}';
  void rejection(peer.connection.call("a.b", ["x".repeat(4_194_304 - envelope.length)]));
  await flushed();
  assert.equal(peer.writes.join("").length, 4_194_305);
});

test("a plugin that stops reading gets 8 MiB of calls, then calls fail with -32005 and nothing grows", async () => {
  const peer = createRawPeer();
  const call = () => peer.connection.call("a.b", { text: "x".repeat(1_000_000) });
  const accepted = Array.from({ length: 8 }, () => rejection(call()));
  await flushed();
  peer.buffered = peer.writes.join("").length;
  const writes = peer.writes.length;
  const refused = await rejection(call());
  assert.deepEqual([refused?.["code"], refused?.["rpc"]], ["protocol.busy", -32005]);
  assert.throws(() => peer.connection.notify("a.b", { text: "x".repeat(1_000_000) }), { code: "protocol.busy" });
  await flushed();
  assert.deepEqual([peer.connection.pending, peer.writes.length], [8, writes]);
  peer.buffered = 0;
  peer.connection.drained();
  void rejection(call());
  assert.equal(peer.connection.pending, 9);
  peer.connection.close(ended);
  await Promise.all(accepted);
});

test("the bound counts the lines that wait in this tick, in bytes", async () => {
  const peer = createRawPeer({ maxQueuedBytes: 200 });
  void rejection(peer.connection.call("a.b", ["é".repeat(60)])); // 173 bytes, 113 characters
  assert.equal((await rejection(peer.connection.call("a.b")))?.["code"], "protocol.busy");
  assert.equal(peer.connection.pending, 1);
  void rejection(peer.connection.call("a.b")); // The first line has been written meanwhile and the wire took it.
  assert.equal(peer.connection.pending, 2);
});

test("system.cancel is not queued for a plugin that has stopped reading", async () => {
  const peer = createRawPeer({ maxQueuedBytes: 200 });
  peer.connection.features = new Set(["cancel"]);
  void rejection(peer.connection.call("a.b"));
  await flushed();
  peer.buffered = 200;
  peer.clock.advance(30_000);
  assert.equal((await peer.sent()).length, 1);
});

test("reading pauses while 64 requests run, and no line of the chunk is lost", async () => {
  const running = new Map<unknown, () => void>();
  const peer = createRawPeer({
    onRequest: ({ id }) => new Promise<void>((resolve) => running.set(id, resolve)),
  });
  const ids = Array.from({ length: 70 }, (_, at) => at + 1);
  void rejection(peer.connection.call("a.b"));
  peer.send(...ids.map((id) => request(id, "a.b")), result(1, "behind the requests"));
  assert.deepEqual([running.size, peer.paused], [64, true]);
  peer.send(request(71, "a.b"));
  assert.equal(running.size, 64);
  running.get(3)!();
  await flushed();
  assert.deepEqual([running.size, peer.paused, peer.connection.pending], [65, true, 1]);
  for (const id of ids) {
    running.get(id)!();
    await flushed();
  }
  assert.deepEqual([running.size, peer.paused, peer.connection.pending], [71, false, 0]);
  assert.equal((await peer.sent()).length, 71);
});

test("a plugin that asks without reading is not read beyond twice the bound", async () => {
  const peer = createRawPeer({ maxQueuedBytes: 1000, onRequest: () => "x".repeat(400) });
  peer.send(...Array.from({ length: 100 }, (_, id) => request(id, "a.b")));
  assert.equal(peer.paused, true);
  const written = () => peer.writes.join("");
  peer.buffered = Infinity;
  await flushed();
  assert.ok(written().length <= 2200, `${written().length} bytes for a bound of 2,000`);
  const answers = written().trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(answers.slice(0, 5).map(({ result, error }) => result?.length ?? error.code), [
    400,
    400,
    400,
    400,
    -32005,
  ]);
  peer.buffered = 2001;
  peer.connection.drained();
  assert.equal(peer.paused, true);
  const before = peer.writes.length;
  peer.buffered = 0;
  peer.connection.drained();
  await flushed();
  assert.ok(peer.writes.length > before, "the rest of the chunk is read");
});

test("every request is answered in the end when the plugin reads again", async () => {
  const peer = createRawPeer({ maxQueuedBytes: 1000, onRequest: () => "x".repeat(400) });
  peer.send(...Array.from({ length: 100 }, (_, id) => request(id, "a.b")));
  for (let round = 0; peer.paused && round < 100; round++) {
    await flushed();
    peer.connection.drained();
  }
  assert.deepEqual((await peer.sent()).map(({ id }) => id), Array.from({ length: 100 }, (_, id) => id));
});

test("reading goes on by itself when the wire takes a tick's answers at once", async () => {
  const peer = createRawPeer({ maxQueuedBytes: 100, onRequest: () => "x".repeat(50) });
  peer.send(...Array.from({ length: 20 }, (_, id) => request(id, "a.b")));
  assert.equal(peer.paused, true);
  for (let round = 0; round < 20; round++) await flushed();
  assert.deepEqual([(await peer.sent()).length, peer.paused], [20, false]);
});

test("a flood of batches pauses reading too", () => {
  const peer = createRawPeer({ maxQueuedBytes: 1000 });
  peer.buffered = 2001;
  peer.send([], [], []);
  assert.deepEqual([peer.paused, peer.irregularities.length], [true, 1]);
});

test("an answer above the cap is replaced by a -32603 that names the limit", async () => {
  const peer = createRawPeer({ maxLineBytes: 200, onRequest: () => "x".repeat(200) });
  peer.send(request(1, "a.b"));
  const message = 'Cannot answer "a.b": the line would be longer than 200 bytes';
  assert.deepEqual(await peer.sent(), [{ jsonrpc: "2.0", id: 1, error: { code: -32603, message } }]);
});

test("a method or an id of almost 4 MiB makes no answer above the cap", async () => {
  const long = "x".repeat(4_194_304 - 100);
  const peer = createRawPeer({
    onRequest: ({ method }) => {
      throw new HostError("protocol.method_unknown", `No method "${method}"`.padEnd(4_194_304));
    },
  });
  peer.send(request(1, long), request(long, "a.b"));
  const answers = await peer.sent();
  assert.deepEqual(answers.map(({ id, error }) => [id, (error as { code: number }).code]), [[1, -32603], [
    null,
    -32600,
  ]]);
  assert.ok(peer.writes.join("").length < 1000);
});

test("close() lets bytes flow again so that the end of the stream is seen", () => {
  const peer = createRawPeer({ maxIncoming: 1, onRequest: () => new Promise(() => {}) });
  peer.send(request(1, "a.b"));
  assert.equal(peer.paused, true);
  peer.connection.close(ended);
  assert.equal(peer.paused, false);
});

test("a burst of text is written in pieces instead of one endless string", async () => {
  const peer = createRawPeer();
  for (let count = 0; count < 120; count++) peer.connection.notify("a.b", ["x".repeat(10_000)]);
  assert.ok(peer.writes.length >= 4, "written before the tick ends");
  assert.equal((await peer.sent()).length, 120);
});
