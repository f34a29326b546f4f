/**
 * Lines of a file, read piece by piece from either end.
 *
 * @module
 */
import type { Files } from "../ports/ports.ts";

const LF = 0x0a;
const PIECE_BYTES = 64 * 1024;
/** A longer line is no event of ours: it is skipped without being held in memory. */
export const MAX_LINE_BYTES: number = 4 * 1024 * 1024;

/** Returns the first line of a file without its break; of a line longer than 64 KiB, its beginning. */
export async function firstLine(path: string, files: Files): Promise<string> {
  const bytes = await files.readHead(path, PIECE_BYTES);
  const end = bytes.indexOf(LF);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Yields the lines that end before byte `end`, the last first, with the byte each begins at; null for one too long. */
export async function* linesBackward(
  path: string,
  end: number,
  files: Files,
): AsyncGenerator<{ readonly start: number; readonly text: string | null }> {
  const decoder = new TextDecoder();
  let pieces: Uint8Array[] = []; // Of the line that is being put together, the last piece first.
  let held = 0;
  let isWhole = false; // Behind the last line break stands the half of a line, or nothing.
  const take = (): string | null => {
    const text = held > MAX_LINE_BYTES ? null : decoder.decode(joined(pieces.reverse(), held));
    [pieces, held] = [[], 0];
    return text;
  };
  for (let position = end; position > 0;) {
    const from = Math.max(0, position - PIECE_BYTES);
    const piece = await files.readRange(path, from, position - from);
    let until = piece.length;
    for (let at = piece.lastIndexOf(LF); at >= 0; at = at === 0 ? -1 : piece.lastIndexOf(LF, at - 1)) {
      hold(piece.subarray(at + 1, until));
      const text = take();
      if (isWhole) yield { start: from + at + 1, text };
      isWhole = true;
      until = at;
    }
    hold(piece.subarray(0, until));
    position = from;
  }
  if (isWhole && held > 0) yield { start: 0, text: take() };

  function hold(piece: Uint8Array): void {
    if (held <= MAX_LINE_BYTES) pieces.push(piece);
    else pieces = [];
    held += piece.length;
  }
}

/** A line, its number in the file and its bytes without the line break; null for one too long to be held. */
export interface FileLine {
  readonly number: number;
  readonly bytes: Uint8Array | null;
  /** False for bytes behind the last line break: the half of a line. */
  readonly isWhole: boolean;
}

/** Yields the lines of a file from the first to the last that stood there when reading began. */
export async function* linesForward(path: string, files: Files): AsyncGenerator<FileLine> {
  const size = (await files.info(path))?.size ?? 0;
  let pieces: Uint8Array[] = [];
  let held = 0;
  let number = 0;
  const hold = (piece: Uint8Array): void => {
    if (held <= MAX_LINE_BYTES) pieces.push(piece);
    else pieces = [];
    held += piece.length;
  };
  const take = (isWhole: boolean): FileLine => {
    const bytes = held > MAX_LINE_BYTES ? null : joined(pieces, held);
    [pieces, held] = [[], 0];
    return { number: ++number, bytes, isWhole };
  };
  for (let position = 0; position < size;) {
    const piece = await files.readRange(path, position, Math.min(PIECE_BYTES, size - position));
    if (piece.length === 0) break;
    position += piece.length;
    let from = 0;
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, from)) {
      hold(piece.subarray(from, at));
      yield take(true);
      from = at + 1;
    }
    hold(piece.subarray(from));
  }
  if (held > 0) yield take(false);
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  if (pieces.length === 1) return pieces[0]!;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
