/**
 * The chain of an audit trail: each line holds its number and the SHA-256 of the line before it.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import { sha256 } from "../values/sha256.ts";

/** The place in a chain that one line takes. */
export interface Link {
  readonly seq: number;
  /** SHA-256 of the line before, without its line break, in hex. */
  readonly prev: string;
}

/** The newest line of a chain: its number and the SHA-256 of its bytes without the line break. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** The head of a chain without lines: the first line gets seq 1 and 64 zeros. */
export const NO_LINES: ChainHead = { seq: 0, hash: "0".repeat(64) };

const encoder = new TextEncoder();

/** Lines that continue a chain. */
export interface ChainedLines {
  /** The lines with their breaks, and the number of bytes they take. */
  readonly text: string;
  readonly size: number;
  readonly head: ChainHead;
}

/** Returns events, each a JSON object as text, as lines that continue the chain behind `head`. */
export async function chainLines(events: readonly string[], { seq, hash }: ChainHead): Promise<ChainedLines> {
  const lines: string[] = [];
  let size = 0;
  for (const event of events) {
    const line = `{"seq":${++seq},"prev":"${hash}",${event.slice(1)}`;
    const bytes = encoder.encode(line);
    hash = await sha256(bytes);
    lines.push(line);
    size += bytes.length + 1;
  }
  return { text: `${lines.join("\n")}\n`, size, head: { seq, hash } };
}

/** Reads a line of a trail; null for one that is no JSON object. */
export function parseLine(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isMap(value) ? value : null;
  } catch {
    return null;
  }
}

/** Returns the link in a parsed line, or null where it has none. */
export function linkOf(line: Readonly<Record<string, unknown>> | null): Link | null {
  const { seq, prev } = line ?? {};
  return Number.isSafeInteger(seq) && typeof prev === "string" ? { seq: seq as number, prev } : null;
}

const HEAD = /^([0-9]{1,15}):([0-9a-f]{64})$/;

/** Returns a head as one word, to be kept elsewhere. */
export function headText({ seq, hash }: ChainHead): string {
  return `${seq}:${hash}`;
}

/** Reads {@link headText}; null for another text. */
export function parseHead(text: string): ChainHead | null {
  const [, seq, hash] = HEAD.exec(text.trim()) ?? [];
  return seq === undefined ? null : { seq: Number(seq), hash: hash! };
}
