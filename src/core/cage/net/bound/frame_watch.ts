/**
 * Reads along in the WebSocket frames that a plugin sends. No secret is put into frames, so a server that gets a
 * placeholder in one sees the placeholder; the operator hears of it.
 *
 * @module
 */
import type { BoundSecret } from "../bound_secret.ts";
import { latin1Text } from "../bytes.ts";

/** The head of a frame. */
interface FrameHead {
  /** Whether it is a ping, a pong or a close, which may stand between the frames of one message. */
  readonly isControl: boolean;
  readonly length: number;
  /** Each byte of a client's frame is sent with one of these four on top. */
  readonly key: readonly number[];
}

const NO_KEY = [0, 0, 0, 0];

/** Returns a function that takes the bytes in order, and calls `onFound` once for each secret whose placeholder passes. */
export function frameWatch(
  secrets: readonly Pick<BoundSecret, "name" | "placeholder">[],
  onFound: (name: string) => void,
): (bytes: Uint8Array) => void {
  const sought = new Map(secrets.map(({ placeholder, name }) => [placeholder, name]));
  const overlap = Math.max(0, ...[...sought.keys()].map(({ length }) => length - 1));
  let begun: number[] = [];
  let frame: FrameHead | null = null;
  let taken = 0;
  let tail = "";

  function search(text: string): void {
    for (const [placeholder, name] of sought) {
      if (!text.includes(placeholder)) continue;
      sought.delete(placeholder);
      onFound(name);
    }
  }

  function takePayload(payload: Uint8Array, { key, isControl }: FrameHead): void {
    const text = latin1Text(payload.map((byte, at) => byte ^ key[(taken + at) & 3]!));
    taken += payload.length;
    if (isControl) return search(text);
    search(tail + text);
    tail = (tail + text).slice(-overlap);
  }

  return (bytes) => {
    for (let at = 0; at < bytes.length && sought.size > 0;) {
      if (frame === null) {
        begun.push(bytes[at++]!);
        frame = readFrameHead(begun);
        if (frame !== null) [begun, taken] = [[], 0];
      } else {
        const payload = bytes.subarray(at, at + frame.length - taken);
        at += payload.length;
        takePayload(payload, frame);
      }
      if (frame !== null && taken === frame.length) frame = null;
    }
  };
}

/** Returns the head of a frame, or null while bytes of it are missing. */
function readFrameHead(bytes: readonly number[]): FrameHead | null {
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const isMasked = (second & 0x80) !== 0;
  if (bytes.length < 2 + lengthBytes + (isMasked ? 4 : 0)) return null;
  const stated = bytes.slice(2, 2 + lengthBytes);
  return {
    isControl: (first & 0x08) !== 0,
    length: lengthBytes === 0 ? short : stated.reduce((sum, byte) => sum * 256 + byte, 0),
    key: isMasked ? bytes.slice(2 + lengthBytes) : NO_KEY,
  };
}
