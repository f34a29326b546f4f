/**
 * Messages without the bytes of their pictures and files: a compaction would count them as text, and send them to
 * plugins.
 *
 * @module
 */
import { isMap } from "../core/values/plain_data.ts";

/** A text that is longer, and all in the letters of base64 and of data URLs, is taken for bytes. */
const MAX_WORD = 1024;
const BYTES = /^[\w+/=:;,.-]*$/;

/** Returns a part of a message with its bytes shortened: how many there are, and how they begin and end. */
export function withoutBytes<T>(value: T): T {
  return shortened(value) as T;
}

function shortened(value: unknown): unknown {
  if (typeof value === "string") {
    const isBytes = value.length > MAX_WORD && BYTES.test(value);
    return isBytes ? `[${value.length} characters: ${value.slice(0, 32)}…${value.slice(-32)}]` : value;
  }
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof URL) return shortened(value.href);
  if (Array.isArray(value)) return value.map(shortened);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)]));
}
