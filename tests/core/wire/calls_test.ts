import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { createRawPeer, flushed, rejection, result } from "./raw_peer.ts";

const ended = new HostError("protocol.closed", "The plugin has ended");

test("K-006 call() counts ids from 1, and only calls that go out take one", async () => {
  const { connection, sent } = createRawPeer();
  void rejection(connection.call("a.one"));
  await rejection(connection.call("a.bad", 1n));
  void rejection(connection.call("a.two", { x: 1 }));
  connection.notify("a.three");
  assert.deepEqual(await sent(), [
    { jsonrpc: "2.0", id: 1, method: "a.one" },
    { jsonrpc: "2.0", id: 2, method: "a.two", params: { x: 1 } },
    { jsonrpc: "2.0", method: "a.three" },
  ]);
});

test("K-013 ten pipelined calls are written at once and settle in any order of answers", async () => {
  const peer = createRawPeer();
  const calls = Array.from({ length: 10 }, (_, at) => peer.connection.call("a.b", { at }));
  assert.equal((await peer.sent()).length, 10);
  assert.equal(peer.writes.length, 1);
  peer.send(...[7, 1, 10, 3, 2, 9, 4, 8, 6, 5].map((id) => result(id, { id })));
  assert.deepEqual(await Promise.all(calls), calls.map((_, at) => ({ id: at + 1 })));
  assert.equal(peer.connection.pending, 0);
  assert.deepEqual(peer.irregularities, []);
});

test("K-017 an error response rejects with its code, number, message and data", async () => {
  const codes: Record<number, string> = {
    [-32601]: "protocol.method_unknown",
    [-32602]: "protocol.params_invalid",
    [-32603]: "protocol.internal",
    [-32000]: "plugin.error",
    [-32001]: "plugin.capability_denied",
    [-32002]: "plugin.not_initialized",
    [-32003]: "plugin.storage_denied",
    [-32004]: "plugin.config_invalid",
    [-32005]: "protocol.busy",
    [-32006]: "plugin.not_applicable",
    [-32050]: "plugin.error",
    [7]: "plugin.error",
  };
  const peer = createRawPeer();
  for (const [number, code] of Object.entries(codes)) {
    const call = peer.connection.call("a.b");
    const error = { code: Number(number), message: `says ${number}`, data: { why: number } };
    peer.send({ jsonrpc: "2.0", id: (await peer.sent()).length, error });
    const seen = await rejection(call);
    assert.ok(seen instanceof HostError);
    assert.deepEqual([seen.code, seen.rpc, seen.message, seen.data], [code, Number(number), error.message, error.data]);
  }
});

test("a malformed error object still settles its call, with the object kept", async () => {
  const errors = [null, 1, "text", [], {}, { code: "x", message: "m" }, { code: 1.5, message: "m" }, { code: 1 }];
  for (const error of errors) {
    const peer = createRawPeer();
    const call = peer.connection.call("a.b");
    peer.send({ jsonrpc: "2.0", id: 1, error });
    const seen = await rejection(call);
    assert.deepEqual([seen?.["code"], seen?.["data"]], ["plugin.error", { error }]);
  }
});

test("a response that breaks the format fails its call at once and is reported", async () => {
  for (
    const broken of [{ id: 1, result: 1 }, { jsonrpc: "2.0", id: 1 }, { jsonrpc: "2.0", id: 1, result: 1, error: {} }]
  ) {
    const peer = createRawPeer();
    const call = peer.connection.call("a.b");
    peer.send(broken);
    assert.equal((await rejection(call))?.["code"], "protocol.invalid");
    assert.deepEqual(peer.irregularities.map(({ kind }) => kind), ["invalid"]);
    assert.equal((await peer.sent()).length, 1, "nothing is answered");
  }
});

test("only the integer id settles a call", async () => {
  const peer = createRawPeer();
  const call = peer.connection.call("a.b");
  peer.send(result("1", "string"), result(1.5, "fraction"), result(-1, "negative"), result(null, "null"));
  peer.send('{"jsonrpc":"2.0","id":-0,"result":0}', '{"jsonrpc":"2.0","id":1e400,"result":0}');
  assert.equal(peer.connection.pending, 1);
  assert.deepEqual(peer.irregularities.map((seen) => "id" in seen ? seen.id : seen.kind), [
    "1",
    1.5,
    -1,
    null,
    -0,
    "invalid",
  ]);
  peer.send('{"jsonrpc":"2.0","id":1.0,"result":"integer"}');
  assert.equal(await call, "integer");
});

test("a response to nobody and a second answer are reported, not thrown", async () => {
  const peer = createRawPeer();
  const call = peer.connection.call("a.b");
  peer.send(result(99, 1), result(1, "first"), result(1, "second"));
  assert.equal(await call, "first");
  assert.deepEqual(peer.irregularities, [{ kind: "unknown_response", id: 99 }, { kind: "unknown_response", id: 1 }]);
});

test("K-013 a call without an answer times out after 30 s with -32603", async () => {
  const peer = createRawPeer();
  const call = rejection(peer.connection.call("a.b"));
  peer.clock.advance(29_999);
  assert.equal(peer.connection.pending, 1);
  peer.clock.advance(1);
  const { code, rpc, message, data } = (await call)!;
  assert.deepEqual(
    { code, rpc, message, data },
    {
      code: "protocol.timeout",
      rpc: -32603,
      message: 'No answer to "a.b" within 30000 ms',
      data: { method: "a.b", timeout_ms: 30_000 },
    },
  );
});

test("onTimeout hears each call that timed out, and none that settled otherwise", async () => {
  const heard: string[] = [];
  const peer = createRawPeer({
    onTimeout(error) {
      heard.push(error.message);
      if (heard.length === 2) peer.connection.close(ended);
    },
  });
  const answered = peer.connection.call("a.answered");
  const calls = ["a.one", "a.two", "a.three"].map((method) => rejection(peer.connection.call(method)));
  peer.send(result(1, "answer"));
  peer.clock.advance(30_000);
  assert.deepEqual(heard, ['No answer to "a.one" within 30000 ms', 'No answer to "a.two" within 30000 ms']);
  assert.equal(await answered, "answer");
  assert.deepEqual((await Promise.all(calls)).map((error) => error?.["code"]), [
    "protocol.timeout",
    "protocol.timeout",
    "protocol.closed",
  ]);
});

test("one timer watches every deadline and stays armed when calls settle", async () => {
  const peer = createRawPeer();
  const calls = Array.from({ length: 100 }, () => peer.connection.call("a.b"));
  assert.equal(peer.clock.waiting, 1);
  peer.send(...calls.map((_, at) => result(at + 1, at)));
  await Promise.all(calls);
  assert.deepEqual([peer.clock.waiting, peer.clock.nextInMs], [1, 30_000]);
  peer.clock.advance(10_000);
  const late = rejection(peer.connection.call("a.c"));
  assert.deepEqual([peer.clock.waiting, peer.clock.nextInMs], [1, 20_000]);
  peer.clock.advance(20_000);
  assert.deepEqual([peer.clock.waiting, peer.clock.nextInMs], [1, 10_000]);
  peer.clock.advance(10_000);
  assert.equal((await late)?.["code"], "protocol.timeout");
  assert.equal(peer.clock.waiting, 0);
});

test("a shorter deadline moves the timer forward; none and a distant one are respected", async () => {
  const peer = createRawPeer({ timeoutMs: 1000 });
  const forever = peer.connection.call("a.forever", {}, { timeoutMs: Infinity });
  const distant = peer.connection.call("a.distant", {}, { timeoutMs: 2 ** 40 });
  const usual = rejection(peer.connection.call("a.usual"));
  const short = rejection(peer.connection.call("a.short", {}, { timeoutMs: 10 }));
  const zero = rejection(peer.connection.call("a.zero", {}, { timeoutMs: 0 }));
  peer.clock.advance(1);
  assert.match((await zero)!.message, /within 0 ms/);
  peer.clock.advance(9);
  assert.match((await short)!.message, /within 10 ms/);
  peer.clock.advance(990);
  assert.match((await usual)!.message, /within 1000 ms/);
  assert.equal(peer.clock.nextInMs! <= 2 ** 31 - 1, true, "timers take no longer delay");
  peer.clock.advance(2 ** 32);
  assert.equal(peer.connection.pending, 2);
  peer.send(result(1, "forever"), result(2, "distant"));
  assert.deepEqual(await Promise.all([forever, distant]), ["forever", "distant"]);
});

test("a timeout that is no number of milliseconds is refused", async () => {
  for (const timeoutMs of [-1, NaN]) {
    assert.equal((await rejection(createRawPeer().connection.call("a.b", {}, { timeoutMs })))?.["code"], "host.misuse");
  }
});

test("cancelling rejects at once and notifies a plugin that understands it", async () => {
  const peer = createRawPeer();
  peer.connection.features = new Set(["cancel"]);
  const controller = new AbortController();
  const call = rejection(peer.connection.call("a.b", {}, { signal: controller.signal }));
  controller.abort(new Error("changed my mind"));
  const error = (await call)!;
  assert.deepEqual([error["code"], (error.cause as Error).message], ["protocol.cancelled", "changed my mind"]);
  assert.match(error.message, /^The call of "[^"]+" was cancelled: changed my mind$/);
  assert.deepEqual((await peer.sent())[1], { jsonrpc: "2.0", method: "system.cancel", params: { id: 1 } });
});

test("neither cancelling nor a timeout sends system.cancel to a plugin that did not ask for it", async () => {
  const peer = createRawPeer();
  const controller = new AbortController();
  const cancelled = rejection(peer.connection.call("a.b", {}, { signal: controller.signal }));
  const late = rejection(peer.connection.call("a.c"));
  controller.abort();
  peer.clock.advance(30_000);
  assert.deepEqual([(await cancelled)?.["code"], (await late)?.["code"]], ["protocol.cancelled", "protocol.timeout"]);
  assert.equal((await peer.sent()).length, 2);
});

test("a timeout sends system.cancel when features has it", async () => {
  const peer = createRawPeer();
  peer.connection.features = new Set(["cancel"]);
  void rejection(peer.connection.call("a.b"));
  peer.clock.advance(30_000);
  assert.deepEqual((await peer.sent())[1], { jsonrpc: "2.0", method: "system.cancel", params: { id: 1 } });
});

test("a call whose signal is aborted already never goes out", async () => {
  const peer = createRawPeer();
  const call = peer.connection.call("a.b", {}, { signal: AbortSignal.abort() });
  assert.equal((await rejection(call))?.["code"], "protocol.cancelled");
  assert.deepEqual(await peer.sent(), []);
});

test("a late answer to an abandoned call is ignored once, a second one is reported", () => {
  const peer = createRawPeer();
  void rejection(peer.connection.call("a.b"));
  peer.clock.advance(30_000);
  peer.send(result(1, "late"));
  assert.deepEqual(peer.irregularities, []);
  peer.send(result(1, "again"));
  assert.deepEqual(peer.irregularities, [{ kind: "unknown_response", id: 1 }]);
});

test("only the latest 1,024 abandoned calls are kept in mind", () => {
  const peer = createRawPeer();
  for (let count = 0; count < 1025; count++) void rejection(peer.connection.call("a.b"));
  peer.clock.advance(30_000);
  peer.send(result(1, "forgotten"), result(2, "late"));
  assert.deepEqual(peer.irregularities, [{ kind: "unknown_response", id: 1 }]);
});

test("progress reaches the caller and starts the time anew", async () => {
  const peer = createRawPeer();
  peer.connection.features = new Set(["progress"]);
  const seen: unknown[] = [];
  const call = rejection(peer.connection.call("a.b", {}, { onProgress: (progress) => void seen.push(progress) }));
  const report = { id: 1, progress: 1, total: 2, message: "half" };
  peer.clock.advance(20_000);
  peer.send({ jsonrpc: "2.0", method: "system.progress", params: report });
  assert.deepEqual(seen, [report]);
  peer.clock.advance(29_999);
  assert.equal(peer.connection.pending, 1);
  peer.clock.advance(1);
  assert.equal((await call)?.["code"], "protocol.timeout");
  assert.deepEqual(peer.notifications, []);
});

test("progress of an unknown call, of a string id or without params changes nothing", () => {
  const peer = createRawPeer();
  peer.connection.features = new Set(["progress"]);
  const onProgress = () => assert.fail("nothing was reported for this call");
  void rejection(peer.connection.call("a.b", {}, { onProgress }));
  for (const params of [{ id: 2 }, { id: "1" }, {}, [], undefined]) {
    peer.send({ jsonrpc: "2.0", method: "system.progress", params });
  }
  peer.clock.advance(30_000);
  assert.equal(peer.connection.pending, 0);
});

test("progress from a plugin that did not announce it extends nothing and is a plain notification", () => {
  const peer = createRawPeer();
  void rejection(peer.connection.call("a.b"));
  peer.clock.advance(20_000);
  peer.send({ jsonrpc: "2.0", method: "system.progress", params: { id: 1 } });
  peer.clock.advance(10_000);
  assert.equal(peer.connection.pending, 0);
  assert.deepEqual(peer.notifications, [{ method: "system.progress", params: { id: 1 } }]);
});

test("a progress listener that throws fails its own call only", async () => {
  const peer = createRawPeer();
  peer.connection.features = new Set(["progress"]);
  const onProgress = () => {
    throw new TypeError("listener broke");
  };
  const failing = rejection(peer.connection.call("a.b", {}, { onProgress }));
  const other = peer.connection.call("a.c");
  peer.send({ jsonrpc: "2.0", method: "system.progress", params: { id: 1 } }, result(2, "fine"));
  assert.deepEqual([(await failing)?.message, await other], ["listener broke", "fine"]);
});

test("close() rejects each waiting call once with the reason, and later calls at once", async () => {
  const peer = createRawPeer();
  let settled = 0;
  const calls = [1, 2, 3].map(() => peer.connection.call("a.b"));
  for (const call of calls) void call.finally(() => settled++).catch(() => {});
  peer.connection.close(ended);
  peer.connection.close(new HostError("protocol.closed", "again"));
  assert.equal(peer.clock.waiting, 0);
  peer.send(result(1, "too late"));
  for (const call of [...calls, peer.connection.call("a.c")]) assert.equal(await rejection(call), ended);
  await flushed();
  assert.deepEqual([settled, peer.connection.pending, peer.connection.closed], [3, 0, true]);
  assert.throws(() => peer.connection.notify("a.d"), ended);
  assert.deepEqual(peer.irregularities, []);
});

test("close() writes accepted lines first", () => {
  const peer = createRawPeer();
  peer.connection.notify("shutdown");
  peer.connection.close(ended);
  assert.deepEqual(peer.writes, ['{"jsonrpc":"2.0","method":"shutdown"}\n']);
});

test("a settled call leaves no listener on its signal", async () => {
  const peer = createRawPeer();
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const watched = new Proxy(signal, {
    get(target, key) {
      if (key === "addEventListener") return (_: string, listener: unknown) => void listeners.add(listener);
      if (key === "removeEventListener") return (_: string, listener: unknown) => void listeners.delete(listener);
      return Reflect.get(target, key, target);
    },
  });
  const calls = [1, 2].map(() => peer.connection.call("a.b", {}, { signal: watched }));
  const last = rejection(peer.connection.call("a.b", {}, { signal: watched, timeoutMs: 5 }));
  assert.equal(listeners.size, 3);
  peer.send(result(1, "a"));
  peer.clock.advance(5);
  peer.connection.close(ended);
  assert.equal(await calls[0], "a");
  assert.equal(await rejection(calls[1]!), ended);
  assert.equal((await last)?.["code"], "protocol.timeout");
  assert.equal(listeners.size, 0);
});
