import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyCounter } from "../../../../src/core/cage/net/body_end.ts";
import fc from "../../../support/fast_check.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** How many bytes of `text` belong to the body, given in pieces of `size`. */
function counted(text: string, size: number): [taken: number, done: boolean] {
  const body = bodyCounter({ kind: "chunked" });
  const whole = bytes(text);
  let taken = 0;
  for (let at = 0; at < whole.length && !body.done; at += size) taken += body.take(whole.subarray(at, at + size));
  return [taken, body.done];
}

test("a body with a length ends after so many bytes", () => {
  const body = bodyCounter({ kind: "length", bytes: 5, stated: true });
  assert.deepEqual([body.take(bytes("abc")), body.done], [3, false]);
  assert.deepEqual([body.take(bytes("defg")), body.done], [2, true]);
  assert.deepEqual(bodyCounter({ kind: "length", bytes: 0, stated: false }).done, true);
});

test("a body in chunks ends after its last chunk and its trailer, wherever it is cut", () => {
  const bodies = ["0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "a;x=1\r\n0123456789\r\n00\r\nX: 1\r\n\r\n"];
  for (const body of bodies) {
    for (const size of [1, 2, 3, 1000]) {
      assert.deepEqual(counted(`${body}GET http://evil/ HTTP/1.1\r\n\r\n`, size), [body.length, true], body);
    }
  }
  assert.deepEqual(counted("3\r\nabc\r\n", 2), [8, false]);
});

test("chunks that two programs could count differently are refused", () => {
  const broken = [
    "\r\n",
    "x\r\n",
    "-1\r\n",
    "3\nabc",
    "3;\nabc\r\n0\r\n\r\n",
    "3\r\nabcd\r\n",
    " 3\r\n",
    "0x3\r\n",
    "3\r\rabc\r\n",
    "3 4\r\n",
  ];
  for (const text of [...broken, `1;${"x".repeat(2000)}`, `0\r\n${"X: 1\r\n".repeat(4000)}`]) {
    assert.throws(() => counted(text, 7), TypeError, text.slice(0, 20));
  }
});

test("any body written in chunks is found to its last byte and not beyond", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 30 })), fc.nat(30), fc.string(), (parts, n, more) => {
      const chunks = parts.map((part) => `${bytes(part).length.toString(16)}\r\n${part}\r\n`);
      const body = `${chunks.join("")}0\r\n\r\n`;
      assert.deepEqual(counted(body + more, n + 1), [bytes(body).length, true]);
    }),
  );
});
