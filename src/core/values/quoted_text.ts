/**
 * Short texts as JSON.
 *
 * @module
 */

let last = "";
let lastCode = NaN;
let lastInner = "";

/**
 * Returns a text as JSON without the quotes around it: a usual one is the very text, and no other is made. The one that
 * was last asked for is kept: an id stands in several texts about one call.
 */
export function jsonInner(text: string): string {
  const code = text.charCodeAt(text.length - 1);
  // Ids differ at their end, and this way are not compared from their beginning.
  if (code === lastCode && text === last) return lastInner;
  lastCode = code;
  last = text;
  return lastInner = isPlain(text) ? text : JSON.stringify(text).slice(1, -1);
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}
