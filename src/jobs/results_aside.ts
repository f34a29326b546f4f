/**
 * Results beside their records. A record stays small, so that lists never read an answer; the answer itself lies in
 * pieces that a client can fetch as a stream.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Job, ResultAside } from "./types.ts";

/** Characters of a result that its record holds. A longer one would make each list of jobs read it. */
const MAX_IN_RECORD = 4096;
/** Small enough to be sent on while the next one is read. */
const PIECE_CHARS = 256 * 1024;

/** A record, and the result to keep beside it; null when the record holds it, or there is none. */
export interface SplitJob {
  readonly record: Job;
  readonly aside: string | null;
}

/** Takes a long result out of a job. A job without one is returned as it is. */
export function setAside(job: Job): SplitJob {
  const { result, ...rest } = job;
  if (result === undefined || result.length <= MAX_IN_RECORD) return { record: job, aside: null };
  return { record: { ...rest, resultAside: asideOf(result) }, aside: result };
}

/** Returns a job with its result in place of `resultAside`. */
export function withResult({ resultAside: _, ...job }: Job, result: string): Job {
  return { ...job, result };
}

/** Returns a job as lists have it: `resultAside` stands for any result. */
export function withoutResult(job: Job): Job {
  if (job.result === undefined) return job;
  const { result, ...rest } = job;
  return { ...rest, resultAside: asideOf(result) };
}

/** Returns a job with its result, where that has at most so many bytes. */
export function withinBytes(job: Job, maxBytes: number): Job {
  const { result = "" } = job;
  return result.length * 3 <= maxBytes || utf8Bytes(result) <= maxBytes ? job : withoutResult(job);
}

function asideOf(result: string): ResultAside {
  return { truncated: true, bytes: utf8Bytes(result) };
}

/** Yields a text as UTF-8, in pieces that end between two characters. */
export function* piecesOf(text: string): Generator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + PIECE_CHARS);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to--;
    yield encoder.encode(text.slice(from, to));
    from = to;
  }
}

/** Returns pieces that are read one by one, or null when there is not even a first one. */
export async function piecesFrom(
  read: (part: number) => Promise<Uint8Array | null>,
): Promise<AsyncIterable<Uint8Array> | null> {
  const first = await read(0);
  if (first === null) return null;
  return (async function* () {
    yield first;
    for (let part = 1;; part++) {
      const piece = await read(part);
      if (piece === null) return;
      yield piece;
    }
  })();
}

/** Reads pieces as one text. */
export async function joined(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

/** Counts without a copy: the text may be hundreds of megabytes. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) bytes += code > 0x7ff && (code & 0xf800) !== 0xd800 ? 2 : 1;
  }
  return bytes;
}

/** Throws `jobs.result_too_large` for an answer beyond the limit. */
export function checkSize(output: string, maxBytes: number): void {
  if (output.length * 3 <= maxBytes) return;
  // The characters alone are too many: nothing reads a text of that length.
  const bytes = output.length > maxBytes ? output.length : utf8Bytes(output);
  if (bytes <= maxBytes) return;
  const count = output.length > maxBytes ? `at least ${bytes}` : `${bytes}`;
  const hint = "Let the agent write it to a file and answer with its path, or raise maxResultBytes";
  // The record of a job has the message alone.
  const message = `The answer has ${count} bytes, and a result may have ${maxBytes}. ${hint}`;
  throw new HostError("jobs.result_too_large", message, { data: { bytes, max_bytes: maxBytes }, hint });
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
