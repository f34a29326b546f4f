import assert from "node:assert/strict";
import { test } from "node:test";
import { frameWatch } from "../../../../../src/core/cage/net/bound/frame_watch.ts";

const TOKEN = { name: "token", placeholder: `kaged_secret_${"a1".repeat(16)}` };
const OTHER = { name: "other", placeholder: `kaged_secret_${"b2".repeat(16)}` };
const KEY = [0x12, 0xfe, 0x00, 0x77];
const [TEXT, CONTINUED, PING] = [0x81, 0x80, 0x89];

/** A frame as a client sends it. */
function frame(text: string, first: number = TEXT): Uint8Array {
  const payload = new TextEncoder().encode(text);
  const { length } = payload;
  const size = length < 126
    ? [length]
    : length < 65_536
    ? [126, length >> 8, length & 255]
    : [127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
  const head = [first, size[0]! | 0x80, ...size.slice(1), ...KEY];
  return Uint8Array.from([...head, ...payload.map((byte, at) => byte ^ KEY[at & 3]!)]);
}

const bytesOf = (...frames: Uint8Array[]): Uint8Array => Uint8Array.from(frames.flatMap((one) => [...one]));

/** Returns the names found in bytes that come in pieces of some size. */
function found(bytes: Uint8Array, size: number = bytes.length): string[] {
  const names: string[] = [];
  const watch = frameWatch([TOKEN, OTHER], (name) => names.push(name));
  for (let at = 0; at < bytes.length; at += size) watch(bytes.subarray(at, at + size));
  return names;
}

test("frameWatch() finds a placeholder in frames of every length, however the bytes are cut", () => {
  for (const around of ["", "x".repeat(100), "x".repeat(5_000), "x".repeat(70_000)]) {
    const bytes = bytesOf(frame("hello"), frame(`${around}${TOKEN.placeholder}${around}`), frame(""));
    for (const size of [1, 7, 4_096, bytes.length]) assert.deepEqual(found(bytes, size), ["token"]);
  }
});

test("frameWatch() finds a placeholder that is split over frames, with a ping between them, and names each secret once", () => {
  const [start, end] = [TOKEN.placeholder.slice(0, 20), TOKEN.placeholder.slice(20)];
  const split = bytesOf(frame(start, TEXT & 0x7f), frame("still here", PING), frame(end, CONTINUED));
  assert.deepEqual(found(split), ["token"]);
  const twice = frame(`${OTHER.placeholder} ${TOKEN.placeholder} ${TOKEN.placeholder}`);
  assert.deepEqual(found(bytesOf(twice, twice)).sort(), ["other", "token"]);
  assert.deepEqual(found(frame(TOKEN.placeholder, PING)), ["token"]);
});

test("frameWatch() finds nothing where no placeholder passes, and reads bytes that are no frames to their end", () => {
  assert.deepEqual(found(bytesOf(frame(TOKEN.placeholder.slice(0, -1)), frame("kaged_secret_"))), []);
  assert.deepEqual(found(Uint8Array.from({ length: 10_000 }, (_, at) => (at * 31) & 255), 13), []);
});
