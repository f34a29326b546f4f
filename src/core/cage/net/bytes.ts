/**
 * Bytes that pass: as the text of a head (one character for each byte, so that nothing is lost either way), joined, and
 * searched.
 *
 * @module
 */

const encoder = new TextEncoder();
/** Arguments of one call that every engine takes. */
const AT_ONCE = 8192;

/** Returns the bytes of a text whose characters are U+00FF at most. */
export function latin1Bytes(text: string): Uint8Array {
  // deno-lint-ignore no-control-regex
  if (!/[^\x00-\x7f]/.test(text)) return encoder.encode(text);
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** Returns the text of bytes. */
export function latin1Text(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE) text += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return text;
}

/** Returns a text of any alphabet as its UTF-8 bytes, one character for each. */
export const utf8AsLatin1 = (text: string): string => latin1Text(encoder.encode(text));

/** Returns the index of `find` at or after `from`, or -1. */
export function indexOfBytes(bytes: Uint8Array, find: Uint8Array, from: number): number {
  const [first = 0] = find;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (isAt(bytes, find, at)) return at;
  }
  return -1;
}

/** Returns the parts as one, without a copy where there is only one. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter(({ length }) => length > 0);
  if (filled.length === 1) return filled[0]!;
  const whole = new Uint8Array(filled.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of filled) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Whether `find` stands at this very place. */
export function isAt(bytes: Uint8Array, find: Uint8Array, at: number): boolean {
  if (at + find.length > bytes.length) return false;
  for (let index = 0; index < find.length; index++) if (bytes[at + index] !== find[index]) return false;
  return true;
}
