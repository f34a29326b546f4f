/**
 * Work on bytes, the way Node does it fastest.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Bytes } from "../../core/ports/ports.ts";
import { bytesWith } from "../shared/bytes.ts";

const { indexOf } = Buffer.prototype;

// Up to 25 times as fast as the method of Uint8Array on Node.
/** Bytes on Node. */
export const bytes: Bytes = bytesWith((chunk, from) => indexOf.call(chunk, 0x0a, from));
