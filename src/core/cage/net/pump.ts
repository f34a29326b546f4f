/**
 * Moves bytes between two connections, at the pace of the slower one.
 *
 * @module
 */
import type { Socket } from "../../ports/ports.ts";
import type { BodyCounter } from "./body_end.ts";
import type { ByteReader } from "./byte_reader.ts";

type Source = Pick<ByteReader, "read">;

/** Joins two connections until both directions have ended. Rejects when either breaks. */
export async function joinBoth(client: Socket, fromClient: Source, upstream: Socket): Promise<void> {
  await Promise.all([pour(fromClient, upstream), pour(upstream, client)]);
}

/**
 * Sends one body on and gives back everything that is answered; `onAnswered` is called when that is all. What comes
 * after the body is thrown away. Resolves when the client has ended too.
 */
export async function exchange(
  client: Socket,
  fromClient: Source,
  upstream: Socket,
  { body, onAnswered }: { readonly body: BodyCounter; readonly onAnswered: () => void },
): Promise<void> {
  await Promise.all([pour(upstream, client).then(onAnswered), sendBody(fromClient, upstream, body)]);
}

async function pour(from: Source, to: Socket): Promise<void> {
  for (let chunk = await from.read(); chunk; chunk = await from.read()) await to.write(chunk);
  to.end();
}

async function sendBody(from: Source, to: Socket, body: BodyCounter): Promise<void> {
  let isTaken = true;
  for (let chunk = await from.read(); chunk; chunk = await from.read()) {
    const count = body.done ? 0 : body.take(chunk);
    if (count === 0 || !isTaken) continue;
    // A server may answer and close before it has read the body: its answer still counts.
    isTaken = await to.write(chunk.subarray(0, count)).then(() => true, () => false);
  }
  if (!body.done) throw new TypeError("The body ended early");
}
