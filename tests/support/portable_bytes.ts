/**
 * Work on bytes with nothing but web standards, for tests and for runtimes that have nothing faster.
 *
 * @module
 */
import type { Bytes } from "../../src/core/ports/ports.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** {@link Bytes} made of `Uint8Array` and `TextDecoder`. */
export const portableBytes: Bytes = {
  indexOfNewline: (bytes, from) => bytes.indexOf(0x0a, from),
  decode: (bytes) => decoder.decode(bytes),
  byteLength(text) {
    let count = text.length;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit < 0x80) continue;
      count += unit < 0x800 ? 1 : 2;
      // Both halves of a pair make four bytes together; a lone half is written as U+FFFD, three bytes.
      if (isHigh(unit) && isLow(text.charCodeAt(at + 1))) at++;
    }
    return count;
  },
};

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;
