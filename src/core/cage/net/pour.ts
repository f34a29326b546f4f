/**
 * Passes bytes from one connection to another.
 *
 * @module
 */
import type { Socket } from "../../ports/ports.ts";
import type { ByteReader } from "./byte_reader.ts";

/** Something to read bytes from. */
export type Source = Pick<ByteReader, "read">;

/** Passes bytes on until `from` ends, then ends `to`; `onBytes` sees them first, and stops them by throwing. */
export async function pour(from: Source, to: Socket, onBytes: (bytes: Uint8Array) => void = () => {}): Promise<void> {
  for (let chunk = await from.read(); chunk; chunk = await from.read()) {
    onBytes(chunk);
    await to.write(chunk);
  }
  to.end();
}
