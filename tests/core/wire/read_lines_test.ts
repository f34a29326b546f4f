import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_LINE_BYTES } from "../../../src/core/wire/connection_types.ts";
import { portableBytes } from "../../support/portable_bytes.ts";
import { LineReader } from "../../../src/core/wire/read_lines.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function readerOf(maxLineBytes: number = MAX_LINE_BYTES) {
  const seen: string[] = [];
  const reader = new LineReader({
    line: (text, start, end) => void seen.push(text.slice(start, end)),
    undecodable: (start) => void seen.push(`undecodable ${start}`),
    oversize: () => void seen.push("oversize"),
  }, { bytes: portableBytes, maxLineBytes });
  return { reader, seen };
}

function linesOf(chunks: (string | Uint8Array)[], maxLineBytes?: number): string[] {
  const { reader, seen } = readerOf(maxLineBytes);
  for (const chunk of chunks) reader.push(typeof chunk === "string" ? encode(chunk) : chunk);
  return seen;
}

test("K-001 LineReader gives the lines of one chunk in order", () => {
  assert.deepEqual(linesOf(["a\nbb\nccc\n"]), ["a", "bb", "ccc"]);
});

test("K-001 LineReader buffers a partial line until its newline comes", () => {
  assert.deepEqual(linesOf(["a\nb", "b", "b\nc"]), ["a", "bbb"]);
  assert.deepEqual(linesOf(["a\nb", "b", "b\nc", "\n"]), ["a", "bbb", "c"]);
});

test("K-001 LineReader joins a character that two chunks share", () => {
  const bytes = encode("é€😀\n");
  assert.deepEqual(linesOf([...bytes].map((byte) => Uint8Array.of(byte))), ["é€😀"]);
});

test("LineReader drops one trailing carriage return and ignores empty lines", () => {
  assert.deepEqual(linesOf(["a\r\n\r\n\n", "b\r", "\nc\rd\r\r\n"]), ["a", "b", "c\rd\r"]);
});

test("LineReader keeps a byte order mark, NULs and other separators inside a line", () => {
  assert.deepEqual(linesOf(["\ufeffa\u0000b\u2028c\vd\n"]), ["\ufeffa\u0000b\u2028c\vd"]);
});

test("LineReader sets aside a line that is not UTF-8 and reads its neighbours", () => {
  const chunk = Uint8Array.of(...encode("a\n"), 0xff, 0x62, ...encode("\nc\n"), 0xc3, 0x0a, ...encode("d\n"));
  assert.deepEqual(linesOf([chunk]), ["a", "undecodable \ufffdb", "c", "undecodable \ufffd", "d"]);
  assert.deepEqual(linesOf([Uint8Array.of(0xe2, 0x82), encode("\nx\n")]), ["undecodable \ufffd", "x"]);
});

test("K-002 LineReader passes a line of exactly 4,194,304 bytes and stops at one byte more", () => {
  const longest = "x".repeat(4_194_304);
  assert.deepEqual(linesOf([`${longest}\nb\n`]), [longest, "b"]);
  assert.deepEqual(linesOf([longest, "\nb\n"]), [longest, "b"]);
  assert.deepEqual(linesOf([`a\n${longest}x\nb\n`, "c\n"]), ["a", "oversize"]);
  assert.deepEqual(linesOf(["a\n", longest, "x\nb\n", "c\n"]), ["a", "oversize"]);
  assert.deepEqual(linesOf([longest, "x", "x", "\nb\n"]), ["oversize"]);
});

test("K-002 LineReader counts bytes, not characters", () => {
  assert.deepEqual(linesOf(["éé\n"], 4), ["éé"]);
  assert.deepEqual(linesOf(["éé\n"], 3), ["oversize"]);
  assert.deepEqual(linesOf(["é", "é", "\n"], 3), ["oversize"]);
});

test("K-002 LineReader finds the one long line among short ones in a chunk above the cap", () => {
  assert.deepEqual(linesOf(["ab\ncd\nefg\nh\n"], 2), ["ab", "cd", "oversize"]);
});

test("LineReader reads a line that comes byte by byte without rescanning it", () => {
  let searched = 0;
  const seen: string[] = [];
  const reader = new LineReader({
    line: (text, start, end) => void seen.push(text.slice(start, end)),
    undecodable: () => assert.fail("the line is UTF-8"),
    oversize: () => assert.fail("the line is within the cap"),
  }, {
    bytes: { ...portableBytes, indexOfNewline: (bytes, from) => (searched += bytes.length, bytes.indexOf(10, from)) },
    maxLineBytes: MAX_LINE_BYTES,
  });
  const byte = encode("x");
  for (let count = 0; count < 100_000; count++) reader.push(byte);
  reader.push(encode("\n"));
  assert.deepEqual(seen, ["x".repeat(100_000)]);
  assert.equal(searched, 100_001);
});

test("LineReader keeps pieces of all sizes in order", () => {
  const pieces = Array.from({ length: 60 }, (_, at) => String.fromCharCode(97 + at % 26).repeat(1 + (at * 997) % 9000));
  assert.deepEqual(linesOf([...pieces, "\n", ...pieces, "\n"]), [pieces.join(""), pieces.join("")]);
});

test("LineReader stops between two lines when paused and goes on without loss", () => {
  const seen: string[] = [];
  const reader: LineReader = new LineReader({
    line: (text, start, end) => (seen.push(text.slice(start, end)), reader.pause()),
    undecodable: () => (seen.push("undecodable"), reader.pause()),
    oversize: () => assert.fail("no line is long"),
  }, { bytes: portableBytes, maxLineBytes: 100 });
  reader.push(encode("a\nb\nc"));
  assert.deepEqual(seen, ["a"]);
  reader.push(encode("c\n"));
  reader.push(Uint8Array.of(0xff, 0x0a, 0x64, 0x0a));
  assert.deepEqual(seen, ["a"]);
  for (let count = 0; count < 6; count++) reader.resume();
  assert.deepEqual(seen, ["a", "b", "cc", "undecodable", "d"]);
});

test("LineReader goes on with the next line after a listener threw", () => {
  const seen: string[] = [];
  const reader = new LineReader({
    line(text, start, end) {
      const line = text.slice(start, end);
      if (line === "bad") throw new Error("thrown by the listener");
      seen.push(line);
    },
    undecodable: () => {},
    oversize: () => {},
  }, { bytes: portableBytes, maxLineBytes: 100 });
  assert.throws(() => reader.push(encode("a\nbad\nb\n")), /thrown by the listener/);
  reader.push(encode("c\n"));
  assert.deepEqual(seen, ["a", "b", "c"]);
});

test("LineReader ignores everything after its end", () => {
  const { reader, seen } = readerOf();
  reader.push(encode("a\nb"));
  reader.end();
  reader.push(encode("c\n"));
  reader.resume();
  assert.deepEqual(seen, ["a"]);
});

test("portableBytes measures text as UTF-8 writes it", () => {
  for (const text of ["", "a", "é", "€", "😀", "\ud83d", "\ude00x", "\ud83d\ud83d\ude00", "\u0000"]) {
    assert.equal(portableBytes.byteLength(text), encode(text).length, JSON.stringify(text));
  }
});
