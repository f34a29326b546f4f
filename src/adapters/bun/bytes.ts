/**
 * Work on bytes, the way Bun does it fastest.
 *
 * @module
 */
import type { Bytes } from "../../core/ports/ports.ts";
import { bytesWith } from "../shared/bytes.ts";

// Twice as fast as the method of Buffer on Bun.
/** Bytes on Bun. */
export const bytes: Bytes = bytesWith((chunk, from) => chunk.indexOf(0x0a, from));
