import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnectionPair } from "../../support/memory_pair.ts";
import { portableBytes } from "../../support/portable_bytes.ts";
import { LineReader } from "../../../src/core/wire/read_lines.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import fc from "../../support/fast_check.ts";

type Sizes = readonly number[];

function* cut(bytes: Uint8Array, sizes: Sizes): Iterable<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.slice(at, at + size);
    at += size;
  }
}

function linesOf(chunks: Iterable<Uint8Array>, maxLineBytes: number, pauseEvery = Infinity): string[] {
  const seen: string[] = [];
  const note = (text: string) => {
    seen.push(text);
    if (seen.length % pauseEvery === 0) reader.pause();
  };
  const reader: LineReader = new LineReader({
    line: (text, start, end) => note(`line ${text.slice(start, end)}`),
    undecodable: (start) => note(`undecodable ${start}`),
    oversize: () => note("oversize"),
  }, { bytes: portableBytes, maxLineBytes });
  for (const chunk of chunks) {
    reader.push(chunk);
    if (seen.length % 2 === 0) reader.resume();
  }
  for (let before = -1; before !== seen.length;) {
    before = seen.length;
    reader.resume();
  }
  return seen;
}

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 10_000 })), {
  minLength: 1,
  maxLength: 20,
});

test("K-001 any chunking of any message sequence gives the same messages", () => {
  fc.assert(fc.property(fc.array(fc.jsonValue(), { maxLength: 30 }), sizes, (messages, chunking) => {
    const bytes = new TextEncoder().encode(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const lines = linesOf(cut(bytes, chunking), 1_000_000);
    assert.deepEqual(lines, messages.map((message) => `line ${JSON.stringify(message)}`));
  }));
});

test("K-002 any chunking and any pausing of any bytes gives the same lines, noise and cap", () => {
  const byte = fc.oneof(fc.constant(0x0a), fc.constant(0x0d), fc.constant(0xc3), fc.integer({ min: 0, max: 255 }));
  const bytes = fc.array(byte, { maxLength: 400 }).map((values) => Uint8Array.from(values));
  const cap = fc.integer({ min: 1, max: 60 });
  fc.assert(fc.property(bytes, sizes, cap, fc.integer({ min: 1, max: 5 }), (input, chunking, maxLineBytes, every) => {
    assert.deepEqual(linesOf(cut(input, chunking), maxLineBytes, every), expectedLines(input, maxLineBytes));
  }));
});

test("K-013 any chunking of any calls gives every call its own answer", async () => {
  const params = fc.array(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { maxKeys: 4 }), {
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(params, sizes, async (inputs, chunking) => {
      const { left, right } = createConnectionPair({
        clock: createFakeClock(),
        left: { onRequest: ({ params: given }) => given },
        right: { onRequest: ({ params: given }) => Promise.resolve(given), maxIncoming: 3 },
        chunk: (bytes) => cut(bytes, chunking),
      });
      const calls = inputs.flatMap((input) => [left.call("a.b", input), right.call("a.b", input)]);
      const expected = inputs.flatMap((input) => [input, input]);
      assert.deepEqual(
        (await Promise.all(calls)).map((value) => JSON.stringify(value)),
        expected.map((value) => JSON.stringify(value)),
      );
      assert.deepEqual([left.pending, right.pending], [0, 0]);
    }),
    { numRuns: 50 },
  );
});

/** The rules of framing once more, as plainly as can be. */
function expectedLines(input: Uint8Array, maxLineBytes: number): string[] {
  const seen: string[] = [];
  let start = 0;
  for (let at = 0; at <= input.length; at++) {
    if (at - start > maxLineBytes) return [...seen, "oversize"];
    if (at === input.length || input[at] !== 0x0a) continue;
    const line = input.slice(start, at);
    const lossy = new TextDecoder("utf-8", { ignoreBOM: true }).decode(line);
    const isText = new TextEncoder().encode(lossy).every((byte, index) => byte === line[index]);
    const text = lossy.replace(/\r$/, "");
    if (!isText) seen.push(`undecodable ${new TextDecoder().decode(line)}`);
    else if (text !== "") seen.push(`line ${text}`);
    start = at + 1;
  }
  return seen;
}
