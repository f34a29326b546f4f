/**
 * Bounds of what a server may answer: a message of MCP is as long over HTTP as over stdio.
 *
 * @module
 */
import { MAX_LINE_BYTES } from "../wire/connection_types.ts";

/** Takes the pieces of a body. Throws a `RangeError` once there is too much. */
export interface BodyBound {
  take(piece: Uint8Array): void;
}

const LF = 0x0a;
const CR = 0x0d;

/** Room for `data:` before each line of an event, its id and its name. */
const FRAMING_BYTES = 64 * 1024;

/** Returns the bound of a body of this type: of each event of a stream, or of the whole; `most` for any other type. */
export function boundOf(contentType: string, most: number): BodyBound {
  if (/^text\/event-stream\b/i.test(contentType)) return eventBound(MAX_LINE_BYTES + FRAMING_BYTES);
  return wholeBound(/^application\/json\b/i.test(contentType) ? MAX_LINE_BYTES : most);
}

function wholeBound(most: number): BodyBound {
  let bytes = 0;
  return {
    take(piece): void {
      bytes += piece.length;
      if (bytes > most) throw tooLong(most);
    },
  };
}

/** Counts from one empty line to the next; a stream as a whole may go on for ever. */
function eventBound(most: number): BodyBound {
  let bytes = 0;
  let isLineEmpty = true;
  let last = 0;
  return {
    take(piece): void {
      for (const byte of piece) {
        bytes++;
        const isSecondHalf = byte === LF && last === CR; // Of one line end.
        if ((byte === LF || byte === CR) && !isSecondHalf) {
          if (isLineEmpty) bytes = 0;
          isLineEmpty = true;
        } else if (!isSecondHalf) isLineEmpty = false;
        last = byte;
        if (bytes > most) throw tooLong(most);
      }
    },
  };
}

function tooLong(most: number): RangeError {
  return new RangeError(`A message of the server is longer than ${most} bytes`);
}
