import assert from "node:assert/strict";
import { test } from "node:test";
import { answerTo, CODE, MAX_MESSAGE_BYTES, readQuestion, RECORD } from "../../src/relay/dns_message.ts";
import fc from "../support/fast_check.ts";

const AAAA = 28;

/** A message with one question, as clients write it; `labels` are bytes. */
function asking(labels: readonly (string | number[])[], type: number = RECORD.A, flags = 0x01): Uint8Array {
  const name = labels.flatMap((label) => [label.length, ...[...label].map((byte) => charCode(byte))]);
  return Uint8Array.from([0xab, 0xcd, flags, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, type >> 8, type & 255, 0, 1]);
}
const charCode = (byte: string | number): number => typeof byte === "number" ? byte : byte.charCodeAt(0);

const WWW = ["WWW", "example", "com"];

test("readQuestion() returns the name in small letters, the type, and where the question ends", () => {
  const message = asking(WWW, AAAA);
  assert.deepEqual(readQuestion(message), { name: "www.example.com", type: AAAA, end: message.length });
  // Clients add a record of their own after the question (RFC 6891).
  const extended = Uint8Array.from([...message, 0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(readQuestion(extended), { name: "www.example.com", type: AAAA, end: message.length });
  assert.equal((readQuestion(asking([])) as { name: string }).name, "");
});

test("a name is printable whatever its bytes are, and a dot within a label is none between two", () => {
  const strange = asking([[0x0a, 0x41, 0x2e, 0xff, 0x20], "\u001b[31m", "com"]);
  assert.equal((readQuestion(strange) as { name: string }).name, "?a???.?[31m.com");
});

test("what is no question is not answered: no head, too long, an answer itself", () => {
  assert.equal(readQuestion(new Uint8Array()), null);
  assert.equal(readQuestion(asking(WWW).subarray(0, 11)), null);
  assert.equal(readQuestion(new Uint8Array(MAX_MESSAGE_BYTES + 1)), null);
  assert.equal(readQuestion(asking(WWW, RECORD.A, 0x81)), null);
});

test("a question that cannot be read is answered by its head alone", () => {
  const format = { code: CODE.format };
  const whole = asking(WWW);
  // Cut at any place: within a label, before the end of the name, within type and class.
  for (let length = 12; length < whole.length; length++) {
    assert.deepEqual(readQuestion(whole.subarray(0, length)), format, `${length}`);
  }
  const with2 = whole.slice();
  with2[5] = 2;
  assert.deepEqual(readQuestion(with2), format);
  // A pointer, to itself or elsewhere, and the two reserved forms of a label.
  for (const first of [0xc0, 0x40, 0x80]) {
    assert.deepEqual(readQuestion(Uint8Array.from([...whole.subarray(0, 12), first, 12, 0, 1, 0, 1])), format);
  }
  const long = asking(Array.from({ length: 5 }, () => "a".repeat(63)));
  assert.deepEqual(readQuestion(long), format);
  assert.deepEqual(readQuestion(asking(WWW, RECORD.A, 0x29)), { code: CODE.notImplemented });
  const chaos = whole.slice();
  chaos[chaos.length - 1] = 3;
  assert.deepEqual(readQuestion(chaos), { code: CODE.notImplemented });
  assert.deepEqual([...answerTo(long, format, format)], [0xab, 0xcd, 0x85, 0x81, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test("answerTo() repeats the question, with one record where there is an address, and what came after it left out", () => {
  const message = asking(WWW);
  const extended = Uint8Array.from([...message, 0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]);
  const question = readQuestion(extended)!;
  const found = answerTo(extended, question, { code: CODE.ok, address: "127.0.0.2" });
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 2];
  assert.deepEqual([...found], [0xab, 0xcd, 0x85, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, ...message.subarray(12), ...record]);
  const none = answerTo(extended, question, { code: CODE.noName });
  assert.deepEqual([...none], [0xab, 0xcd, 0x85, 0x83, 0, 1, 0, 0, 0, 0, 0, 0, ...message.subarray(12)]);
});

test("no bytes make the reader throw, show what cannot be printed, or answer with much more than was asked", () => {
  const valid = asking(WWW);
  const changed = fc.tuple(fc.nat(valid.length - 1), fc.nat(255)).map(([at, byte]) => valid.with(at, byte));
  const random = fc.uint8Array({ maxLength: 600 });
  const headed = random.map((bytes) => Uint8Array.from([...valid.subarray(0, 12), ...bytes]));
  fc.assert(
    fc.property(fc.oneof(changed, random, headed), (message) => {
      const question = readQuestion(message);
      if (question === null) return;
      if ("name" in question) assert.match(question.name, /^[\x21-\x7e]{0,254}$/);
      const answer = answerTo(message, question, { code: CODE.ok, address: "127.0.0.2" });
      assert.ok(answer.length <= message.length + 16);
    }),
    { numRuns: 3_000 },
  );
});
