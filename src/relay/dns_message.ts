/**
 * The part of DNS messages (RFC 1035) that a resolver needs whose answers are an address, nothing, or "no such name".
 * The bytes come from a program that is not trusted: every length is checked, and an answer is never more than a record
 * longer than its question.
 *
 * @module
 */

/** One question. */
export interface Question {
  /** In small letters, without a final dot; a byte that cannot be shown, or a dot within a label, is a `?`. */
  readonly name: string;
  readonly type: number;
  /** Index of the byte after the question. */
  readonly end: number;
}

/** Types of records. */
export const RECORD = { A: 1, ANY: 255 } as const;

/** Codes of answers (RFC 1035 §4.1.1). */
export const CODE = { ok: 0, format: 1, failed: 2, noName: 3, notImplemented: 4 } as const;

/** The message without a question that can be answered: only its head is. */
export interface Unreadable {
  readonly code: typeof CODE.format | typeof CODE.notImplemented;
}

/** Longest message that is read: that of UDP without extensions. */
export const MAX_MESSAGE_BYTES = 512;

const HEAD_BYTES = 12;
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;
const INTERNET = 1;
const TTL_SEC = 60;
/** Bits of the third and fourth byte. */
const BIT = {
  answer: 0x80,
  opcode: 0x78,
  authoritative: 0x04,
  recursionDesired: 0x01,
  recursionAvailable: 0x80,
} as const;

/** Reads the one question of a message. Null for what must not be answered: no whole head, too long, or an answer itself. */
export function readQuestion(message: Uint8Array): Question | Unreadable | null {
  if (message.length < HEAD_BYTES || message.length > MAX_MESSAGE_BYTES) return null;
  const [flags = 0, asked] = [message[2], wordAt(message, 4)];
  if ((flags & BIT.answer) !== 0) return null;
  if ((flags & BIT.opcode) !== 0) return { code: CODE.notImplemented };
  const named = asked === 1 ? readName(message) : null;
  if (named === null || named.end + 4 > message.length) return { code: CODE.format };
  const [type, family] = [wordAt(message, named.end), wordAt(message, named.end + 2)];
  if (family !== INTERNET && family !== RECORD.ANY) return { code: CODE.notImplemented };
  return { name: named.name, type, end: named.end + 4 };
}

/** Returns the answer to a message: its question again, and one address where there is one. */
export function answerTo(
  message: Uint8Array,
  question: Question | Unreadable,
  { code, address = null }: { readonly code: number; readonly address?: string | null },
): Uint8Array {
  const isWhole = "end" in question;
  const asked = isWhole ? message.subarray(HEAD_BYTES, question.end) : new Uint8Array();
  // The record's name is a pointer to the one in the question.
  const record = address === null
    ? []
    : [0xc0, HEAD_BYTES, 0, RECORD.A, 0, INTERNET, 0, 0, 0, TTL_SEC, 0, 4, ...address.split(".").map(Number)];
  const [high = 0, low = 0, flags = 0] = message;
  const head = [
    ...[high, low],
    BIT.answer | BIT.authoritative | (flags & (BIT.opcode | BIT.recursionDesired)),
    BIT.recursionAvailable | code,
    ...[0, isWhole ? 1 : 0, 0, record.length > 0 ? 1 : 0, 0, 0, 0, 0],
  ];
  return Uint8Array.from([...head, ...asked, ...record]);
}

const wordAt = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0);

/** Reads the name after the head. Null where it does not end, is too long, or points elsewhere: a first name cannot. */
function readName(message: Uint8Array): { readonly name: string; readonly end: number } | null {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > MAX_LABEL_BYTES) return null;
    at++;
    if (at - HEAD_BYTES + length > MAX_NAME_BYTES) return null;
    if (length === 0) return { name: labels.join("."), end: at };
    labels.push(shownLabel(message.subarray(at, at + length)));
    at += length;
  }
}

const shownLabel = (label: Uint8Array): string =>
  String.fromCharCode(...label).toLowerCase().replace(/[^\x21-\x7e]|\./g, "?");
