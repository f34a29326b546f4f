/**
 * Writes the few parts of DER (ITU-T X.690) that a certificate is made of.
 *
 * @module
 */

const [INTEGER, BIT_STRING, OCTET_STRING, OID, UTF8, UTC_TIME, GENERALIZED_TIME] = [2, 3, 4, 6, 12, 0x17, 0x18];
const [SEQUENCE, SET] = [0x30, 0x31];

/** Bytes of one value: tag, length, content. */
export type Der = Uint8Array<ArrayBuffer>;

/** One value of any tag. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Der {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const size: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) size.unshift(left % 256);
  const head = length < 128 ? [tag, length] : [tag, 0x80 | size.length, ...size];
  const bytes = new Uint8Array(head.length + length);
  bytes.set(head);
  let at = head.length;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** `SEQUENCE` of the parts, in their order. */
export const sequence = (...parts: readonly Uint8Array[]): Der => tagged(SEQUENCE, ...parts);
/** `SET` of one part: more would have to be sorted. */
export const setOf = (part: Uint8Array): Der => tagged(SET, part);
/** `OCTET STRING` around the bytes. */
export const octets = (bytes: Uint8Array): Der => tagged(OCTET_STRING, bytes);
/** `UTF8String` of a text. */
export const utf8 = (text: string): Der => tagged(UTF8, new TextEncoder().encode(text));
/** `BOOLEAN`, true: false is always the default and left out. */
export const TRUE: Der = Uint8Array.of(1, 1, 0xff);

/** `BIT STRING`; `unused` bits at its end do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Der => tagged(BIT_STRING, Uint8Array.of(unused), bytes);

/** `INTEGER` of a number that is not negative, given as big-endian bytes. */
export function integer(bytes: Uint8Array): Der {
  const first = bytes.findIndex((byte) => byte !== 0);
  const trimmed = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  // A leading bit of 1 would make it negative.
  return (trimmed[0] ?? 0) >= 0x80 ? tagged(INTEGER, Uint8Array.of(0), trimmed) : tagged(INTEGER, trimmed);
}

/** `OBJECT IDENTIFIER` of numbers joined by dots. */
export function oid(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const groups = rest.flatMap((number) => {
    const septets = [number % 128];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128)) {
      septets.unshift(left % 128 | 128);
    }
    return septets;
  });
  return tagged(OID, Uint8Array.of(first * 40 + second, ...groups));
}

/** A time to the second: `UTCTime` before 2050, `GeneralizedTime` from then on (RFC 5280 §4.1.2.5). */
export function time(ms: number): Der {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\..*$/g, "");
  const isLate = Number(digits.slice(0, 4)) >= 2050;
  const text = `${isLate ? digits : digits.slice(2)}Z`;
  return tagged(isLate ? GENERALIZED_TIME : UTC_TIME, new TextEncoder().encode(text));
}

/** Text of a DER value between the usual lines. */
export function pem(label: string, der: Uint8Array): string {
  let binary = "";
  for (const byte of der) binary += String.fromCharCode(byte);
  const lines = btoa(binary).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
