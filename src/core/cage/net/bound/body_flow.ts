/**
 * Bodies of HTTP piece by piece: read out of their framing, decoded, and framed again.
 *
 * @module
 */
import { bodyCounter } from "../body_end.ts";
import type { ByteReader } from "../byte_reader.ts";
import { joined, latin1Bytes } from "../bytes.ts";
import type { BodyFraming } from "../request_head.ts";

/** The content of a body, in pieces as they come. */
export type Pieces = AsyncIterable<Uint8Array>;

/** Ends a body in chunks; no field follows it. */
export const LAST_CHUNK: Uint8Array = latin1Bytes("0\r\n\r\n");

/** Reads one body and leaves all that comes after it. Rejects when it is malformed or ends early. */
export async function* bodyPieces(from: ByteReader, framing: BodyFraming): Pieces {
  const counter = bodyCounter(framing);
  while (!counter.done) {
    const bytes = await from.read();
    if (bytes === null) throw new TypeError("The body ended early");
    const pieces: Uint8Array[] = [];
    const count = counter.take(bytes, (content) => pieces.push(content));
    if (count < bytes.length) from.unread(bytes.subarray(count));
    yield* pieces;
  }
}

/** Reads everything up to the end of a connection. */
export async function* restPieces(from: ByteReader): Pieces {
  for (let bytes = await from.read(); bytes; bytes = await from.read()) yield bytes;
}

/** Returns the bytes as one chunk. */
export const chunkOf = (bytes: Uint8Array): Uint8Array =>
  joined([latin1Bytes(`${bytes.length.toString(16)}\r\n`), bytes, latin1Bytes("\r\n")]);

/** Collects a body that is known to be small. */
export async function collect(pieces: Pieces): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return joined(parts);
}

const FORMATS: Readonly<Record<string, CompressionFormat>> = {
  "gzip": "gzip",
  "x-gzip": "gzip",
  "deflate": "deflate",
};

/** Returns the pieces of a compressed body, decompressed; null for a compression that cannot be undone here. */
export function decompressed(pieces: Pieces, encoding: string): Pieces | null {
  const format = FORMATS[encoding];
  if (format === undefined) return null;
  const iterator = pieces[Symbol.asyncIterator]();
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });
  return streamPieces(source.pipeThrough(new DecompressionStream(format)));
}

async function* streamPieces(stream: ReadableStream<Uint8Array>): Pieces {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
