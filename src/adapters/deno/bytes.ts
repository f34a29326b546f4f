/**
 * Work on bytes, the way Deno does it fastest.
 *
 * @module
 */
import type { Bytes } from "../../core/ports/ports.ts";
import { bytesWith } from "../shared/bytes.ts";

// Twice as fast as the method of Buffer on Deno.
/** Bytes on Deno. */
export const bytes: Bytes = bytesWith((chunk, from) => chunk.indexOf(0x0a, from));
