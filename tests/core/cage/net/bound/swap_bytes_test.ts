import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteSwapper, type Swap, swapAll } from "../../../../../src/core/cage/net/bound/swap_bytes.ts";
import { latin1Bytes, latin1Text } from "../../../../../src/core/cage/net/bytes.ts";
import fc from "../../../../support/fast_check.ts";

const swap = (find: string, put: string): Swap => ({ find: latin1Bytes(find), put: () => latin1Bytes(put) });

/** Swaps in a text that comes in pieces; returns each piece that went on. */
function swapped(pieces: readonly string[], swaps: readonly Swap[], options = {}): string[] {
  const swapper = new ByteSwapper(swaps, options);
  return [...pieces.map((piece) => latin1Text(swapper.push(latin1Bytes(piece)))), latin1Text(swapper.finish())];
}

test("a swapper puts other bytes in the place of those it finds, as soon as it has them", () => {
  assert.deepEqual(swapped(["a secret b", "c"], [swap("secret", "***")]), ["a *** b", "c", ""]);
  assert.deepEqual(swapped(["a sec", "ret b"], [swap("secret", "***")]), ["a ", "*** b", ""]);
  assert.deepEqual(swapped(["a sec", "ond"], [swap("secret", "***")]), ["a ", "second", ""]);
  assert.deepEqual(swapped(["a sec"], [swap("secret", "***")]), ["a ", "sec"]);
});

test("of two finds the earlier counts, and of two that begin together the longer", () => {
  assert.deepEqual(swapped(["xabcx"], [swap("bc", "2"), swap("ab", "1")]), ["x1cx", ""]);
  assert.deepEqual(swapped(["xabcx"], [swap("ab", "1"), swap("abc", "2")]), ["x2x", ""]);
  assert.deepEqual(swapped(["xab", "cx"], [swap("ab", "1"), swap("abc", "2")]), ["x", "2x", ""]);
  assert.deepEqual(swapped(["xabc", "dx"], [swap("bc", "1"), swap("abcd", "2")]), ["x", "2x", ""]);
});

test("a short end can be let through, and is remembered: the replacement follows it", () => {
  const swaps = [swap("secret", "***")];
  assert.deepEqual(swapped(["a sec", "ret b"], swaps, { leastHeld: 4 }), ["a sec", "*** b", ""]);
  assert.deepEqual(swapped(["a se", "c", "re", "t b"], swaps, { leastHeld: 4 }), ["a se", "c", "", "*** b", ""]);
  assert.deepEqual(swapped(["a secr", "et b"], swaps, { leastHeld: 4 }), ["a ", "*** b", ""]);
  assert.deepEqual(swapped(["a se", "cond secret"], swaps, { leastHeld: 4 }), ["a se", "cond ***", ""]);
  assert.deepEqual(swapped(["a se", "cre", "do"], swaps, { leastHeld: 4 }), ["a se", "", "credo", ""]);
});

test("a swapper gives the same however its bytes are cut into pieces", () => {
  const text = fc.stringMatching(/^[ab]{0,40}$/);
  const find = fc.stringMatching(/^[ab]{1,6}$/);
  fc.assert(fc.property(text, fc.uniqueArray(find, { maxLength: 3 }), fc.array(fc.nat(8)), (whole, finds, cuts) => {
    const swaps = finds.map((one, index) => swap(one, `<${index}>`));
    const pieces: string[] = [];
    let at = 0;
    for (const cut of cuts) pieces.push(whole.slice(at, at += cut));
    pieces.push(whole.slice(at));
    assert.equal(swapped(pieces, swaps).join(""), latin1Text(swapAll(latin1Bytes(whole), swaps)));
  }));
});

test("a swap that throws keeps back everything from its place on", () => {
  const refuse: Swap = {
    find: latin1Bytes("secret"),
    put: () => {
      throw new RangeError("not here");
    },
  };
  const swapper = new ByteSwapper([refuse]);
  assert.equal(latin1Text(swapper.push(latin1Bytes("a secr"))), "a ");
  assert.throws(() => swapper.push(latin1Bytes("et b")), RangeError);
});
