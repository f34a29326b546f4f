/**
 * UTF-8 through `Buffer`, which is the fastest decoder in each runtime for the line sizes of the wire.
 *
 * @module
 */
import { Buffer, isUtf8 } from "node:buffer";
import type { Bytes } from "../../core/ports/ports.ts";

/** Makes the byte port of a runtime from its fastest way to find a newline. */
export function bytesWith(indexOfNewline: Bytes["indexOfNewline"]): Bytes {
  return { indexOfNewline, decode, byteLength: (text) => Buffer.byteLength(text, "utf8") };
}

function decode(bytes: Uint8Array): string {
  const view = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = view.toString("utf8");
  // Broken bytes come out as U+FFFD; only a text that holds one can be broken, so others are spared the second look.
  if (text.includes("\ufffd") && !isUtf8(view)) throw new TypeError("The bytes are not UTF-8");
  return text;
}
