/**
 * Unique names without a system call each.
 *
 * @module
 */
import type { Ids } from "../../core/ports/ports.ts";

const ofThisProcess = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
let count = 0;

/** Ids that no other process makes: 64 random bits drawn once, then a count. They can be guessed: no secrets. */
export const ids: Ids = { create: (prefix) => `${prefix}_${ofThisProcess}${(count++).toString(36)}` };
