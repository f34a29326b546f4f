/**
 * Reads the name out of a question to a name server: a program without a network asks, and gets no answer.
 *
 * @module
 */
import { canonicalHost } from "../../core/manifest/net_host.ts";

const HEADER = 12;
/** Longest label of a name; a longer one is a pointer, which no question holds. */
const MAX_LABEL = 63;
/** The types A and AAAA: a lookup asks for both, and other types are asked for no connection. */
const ADDRESS_TYPES = [1, 28];
const INTERNET = 1;

/**
 * Returns the host that a DNS message (RFC 1035 §4.1) asks an address of, one character per byte; null for an answer,
 * for another question and for bytes that are no such message.
 */
export function askedName(message: string): string | null {
  const byte = (at: number): number => message.charCodeAt(at); // NaN past the end, which equals nothing.
  const word = (at: number): number => byte(at) * 256 + byte(at + 1);
  const isQuestion = byte(2) < 0x80 && word(4) === 1 && word(6) === 0 && word(8) === 0;
  if (!isQuestion) return null;
  const labels: string[] = [];
  let at = HEADER;
  for (let length = byte(at); length !== 0; length = byte(at)) {
    if (!(length <= MAX_LABEL)) return null;
    labels.push(message.slice(at + 1, at + 1 + length));
    at += 1 + length;
  }
  const isAddress = ADDRESS_TYPES.includes(word(at + 1)) && word(at + 3) === INTERNET;
  return isAddress ? canonicalHost(labels.join(".")) : null;
}
