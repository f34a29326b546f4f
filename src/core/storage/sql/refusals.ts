/**
 * The two ways SQL is turned down before SQLite sees it.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";

/** SQL that is wrong: an ordinary error, as SQLite itself would give. */
export function sqlError(message: string, hint?: string): HostError {
  return new HostError("storage.sql", message, hint === undefined ? {} : { hint });
}

/** SQL that asks for what no plugin may have. */
export function denied(message: string, hint?: string): HostError {
  return new HostError("storage.denied", message, hint === undefined ? {} : { hint });
}
