import assert from "node:assert/strict";
import { test } from "node:test";
import { portableBytes } from "../../support/portable_bytes.ts";
import { Outbox } from "../../../src/core/wire/outbox.ts";
import { createRawPeer, flushed, result } from "./raw_peer.ts";

/** Returns how many lines each write had. */
function linesOf(writes: readonly string[]): number[] {
  return writes.map((text) => text.split("\n").length - 1);
}

test("the calls of a turn are written in parts that grow, so that the other side begins before the last one is made", async () => {
  const peer = createRawPeer();
  const params = { text: "x".repeat(200) };
  let left = 64;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await peer.connection.call("a.b", params);
  };
  const callers = Array.from({ length: 32 }, caller);
  await flushed();
  peer.writes.length = 0;
  peer.send(...Array.from({ length: 32 }, (_, at) => result(at + 1, null)));
  await flushed();
  assert.deepEqual(linesOf(peer.writes), [4, 4, 4, 4, 6, 8, 2]);
  peer.send(...Array.from({ length: 32 }, (_, at) => result(at + 33, null)));
  await Promise.all(callers);
});

test("lines of a turn that are few, or no calls, are written together", async () => {
  const writes: string[] = [];
  const wire = { write: (text: string) => void writes.push(text), bufferedBytes: () => 0, pause() {}, resume() {} };
  const outbox = new Outbox(wire, portableBytes, () => {});
  const line = `${"x".repeat(99)}\n`;
  for (let at = 0; at < 9; at++) outbox.push(line, 9); // A part has 1,024 characters at least.
  await flushed();
  for (let at = 0; at < 100; at++) outbox.push(line);
  await flushed();
  assert.deepEqual(linesOf(writes), [9, 100]);
  for (let at = 0; at < 400; at++) outbox.push(line);
  await flushed();
  assert.deepEqual(linesOf(writes).slice(2), [328, 72], "no write is much longer than 32 Ki characters");
});
