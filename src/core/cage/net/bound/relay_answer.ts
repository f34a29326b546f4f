/**
 * Passes a server's answer on to the plugin, with the values of secrets masked.
 *
 * @module
 */
import type { Socket } from "../../../ports/ports.ts";
import type { ByteReader } from "../byte_reader.ts";
import { joined, latin1Bytes } from "../bytes.ts";
import type { AnswerHead } from "./answer_head.ts";
import { bodyPieces, chunkOf, collect, decompressed, LAST_CHUNK, type Pieces, restPieces } from "./body_flow.ts";
import { fittedSwaps } from "./masks.ts";
import { failed } from "./refused.ts";
import { ByteSwapper, type Swap, swapAll } from "./swap_bytes.ts";

/** Bytes of a body that are held to be searched whole, or in which placeholders are replaced. */
export const MAX_SEARCHED_BYTES: number = 1024 * 1024;

/**
 * Bytes of a value, at the end of a piece, for which the piece waits. With fewer, every tenth event of a stream would
 * wait for the next, because it ends like the beginning of some form of some value.
 */
const LEAST_HELD_BYTES = 4;

/** The plugin's side of an answer. */
export interface AnswerOptions {
  readonly client: Socket;
  readonly masks: readonly Swap[];
  /** Whether the plugin may send another request on this connection. */
  readonly keepAlive: boolean;
  /** Whether its client reads chunks: HTTP/1.1. */
  readonly readsChunks: boolean;
  /** Makes room for a body to be held; the returned function gives it back. */
  hold(bytes: number): () => void;
  /** Sees each piece as the server sent it, and ends the answer by throwing. */
  onPiece(piece: Uint8Array): void;
  /** Called once, before the first byte: from then on no other answer can be given. */
  onBegin(): void;
}

/**
 * Passes an answer on whole. A body of stated length is held up to 1 MiB and searched, so that its new length can be
 * stated; a longer one is masked as it passes without changing its length; all others are masked as they pass.
 */
export async function relayAnswer(answer: AnswerHead, from: ByteReader, options: AnswerOptions): Promise<void> {
  const { client, masks, onBegin, readsChunks } = options;
  const { body } = answer;
  const begin = async (framing: readonly string[], first: Uint8Array = new Uint8Array(0)): Promise<void> => {
    const head = headOf(answer, framing, options);
    onBegin();
    await client.write(joined([head, first]));
  };
  const pieces = counted(body.kind === "rest" ? restPieces(from) : bodyPieces(from, framingOf(body)), options);
  if (body.kind === "none") {
    return await begin(answer.length === null ? [] : [`Content-Length: ${answer.length}`]);
  }
  const plain = answer.encoding === null || masks.length === 0 ? pieces : decompressed(pieces, answer.encoding);
  if (plain === null) {
    throw failed(502, "encoded-answer", `the server answered in ${answer.encoding}, which cannot be searched`);
  }
  if (body.kind === "length" && plain === pieces) {
    if (masks.length > 0 && body.bytes <= MAX_SEARCHED_BYTES) {
      const release = options.hold(body.bytes);
      try {
        const masked = swapAll(await collect(pieces), masks);
        return await begin([`Content-Length: ${masked.length}`], masked);
      } finally {
        release();
      }
    }
    await begin([`Content-Length: ${body.bytes}`]);
    return await pass(pieces, new ByteSwapper(fittedSwaps(masks)), (bytes) => client.write(bytes));
  }
  await begin(readsChunks ? ["Transfer-Encoding: chunked"] : []);
  await pass(
    plain,
    new ByteSwapper(masks, { leastHeld: LEAST_HELD_BYTES }),
    (bytes) => client.write(readsChunks ? chunkOf(bytes) : bytes),
  );
  if (readsChunks) await client.write(LAST_CHUNK);
}

/** Passes a body through a swapper, piece by piece: whatever came is sent on before more is waited for. */
export async function pass(
  pieces: Pieces,
  swapper: ByteSwapper,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  for await (const piece of pieces) {
    const bytes = swapper.push(piece);
    if (bytes.length > 0) await write(bytes);
  }
  const last = swapper.finish();
  if (last.length > 0) await write(last);
}

/** Returns the head of an answer as the plugin gets it. */
export function headOf(
  { line, fields, encoding }: AnswerHead,
  framing: readonly string[],
  { masks, keepAlive }: Pick<AnswerOptions, "masks" | "keepAlive">,
): Uint8Array {
  const isDecoded = encoding !== null && masks.length > 0;
  const kept = fields.filter(([name]) => !(isDecoded && name.toLowerCase() === "content-encoding"));
  const lines = [
    `HTTP/1.1 ${line}`,
    ...kept.map(([name, value]) => `${name}: ${value}`),
    ...framing,
    ...(keepAlive ? [] : ["Connection: close"]),
  ];
  return swapAll(latin1Bytes(`${lines.join("\r\n")}\r\n\r\n`), masks);
}

async function* counted(pieces: Pieces, { onPiece }: AnswerOptions): Pieces {
  for await (const piece of pieces) {
    onPiece(piece);
    yield piece;
  }
}

const framingOf = (body: AnswerHead["body"]): Parameters<typeof bodyPieces>[1] =>
  body.kind === "length" || body.kind === "chunked" ? body : { kind: "length", bytes: 0, stated: false };
