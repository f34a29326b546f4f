/**
 * Cuts text to a number of bytes.
 *
 * @module
 */

const encoder = new TextEncoder();

/** Returns the longest start of `text` that takes at most `maxBytes` as UTF-8 and ends between two characters. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  // encodeInto() writes no half character, and returns how far it read.
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, Math.min(maxBytes, text.length * 3))));
  return text.slice(0, read);
}

/** Returns how many bytes `text` takes as UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}
