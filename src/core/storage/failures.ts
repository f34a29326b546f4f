/**
 * SQLite's errors as the plugin gets to see them: no prefix, no foreign name, and a code to match on.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Access } from "./authorizer.ts";
import type { Catalogue } from "./catalogue.ts";
import { ownerOf, tablePrefix, withoutPrefix } from "./names.ts";
import { foldName } from "./sql/tokens.ts";

/** Primary result codes of SQLite that have an error code of their own here. */
const RESULT = { BUSY: 5, LOCKED: 6, NOMEM: 7, READONLY: 8, IOERR: 10, FULL: 13, TOOBIG: 18, AUTH: 23 } as const;

/** With this much room left, a file that cannot grow has reached its quota. */
const ROOM_BYTES = 2 * 1024 * 1024;

/** The facts about a statement that failed. */
interface FailedCall {
  readonly plugin: string;
  readonly catalogue: Catalogue;
  /** The access the authorizer turned down, if it did. */
  readonly refused: Access | null;
  /** Bytes left on the disk, or null when unknown: SQLite reports a full disk and a full quota with the same code. */
  readonly freeBytes: number | null;
}

/** Returns the error that the plugin gets for `thrown`. */
export function failureOf(thrown: unknown, call: FailedCall): HostError {
  if (thrown instanceof HostError) return thrown;
  const { plugin, catalogue, refused } = call;
  const message = cleanMessage(messageOf(thrown), plugin, catalogue);
  const options = { cause: thrown };
  const code = (thrown as { errcode?: unknown }).errcode;
  const result = typeof code === "number" ? code & 0xff : 0;
  if (refused !== null || result === RESULT.AUTH) return refusal(refused, plugin, catalogue);
  switch (result) {
    case RESULT.READONLY:
      return new HostError("storage.denied", "Cannot write in a query", {
        hint: "Use kaged.storage.exec",
        cause: thrown,
      });
    case RESULT.BUSY:
    case RESULT.LOCKED:
      return new HostError("storage.busy", "Cannot write now: the database is locked", options);
    case RESULT.FULL:
      if (call.freeBytes !== null && call.freeBytes >= ROOM_BYTES) return quotaExceeded();
      return diskFull(thrown);
    case RESULT.IOERR:
      // The shared memory of the log cannot grow on a full disk, which SQLite reports as a failure of the disk.
      if (call.freeBytes !== null && call.freeBytes < ROOM_BYTES) return diskFull(thrown);
      return new HostError("storage.disk_failed", `Cannot reach the disk: ${message}`, options);
    case RESULT.NOMEM:
      return new HostError("storage.out_of_memory", "The statement needs more memory than it may take", options);
    case RESULT.TOOBIG:
      return new HostError("storage.too_large", `A value is too large: ${message}`, options);
    case 0:
      return new HostError("storage.failed", `The storage failed: ${message}`, options);
  }
  const missing = /^no such table: (?:main\.)?(.+)$/.exec(message)?.[1];
  if (missing !== undefined && isForeign(missing, plugin, catalogue)) {
    return new HostError("storage.denied", `Cannot reach table "${missing}": it is not this plugin's`, {
      hint: "A plugin reaches only the tables it made itself",
      cause: thrown,
    });
  }
  return new HostError("storage.sql", message, { data: { sqlite_code: code }, cause: thrown });
}

/** Whether SQLite could not let the file grow: its limit, or the disk. */
export function isFull(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" && (errcode & 0xff) === RESULT.FULL;
}

/** Returns the error of a batch whose statement at `index` failed. */
export function withIndex(error: unknown, index: number): unknown {
  if (!(error instanceof HostError)) return error;
  const { code, message, hint, data } = error;
  return new HostError(code, `statements[${index}]: ${message}`, {
    data: { ...(data as object | undefined), index },
    cause: error,
    ...(hint !== undefined && { hint }),
  });
}

function diskFull(cause: unknown): HostError {
  return new HostError("storage.disk_full", "Cannot write: the disk is full", { cause });
}

/** The error of a plugin that would keep more than it may. */
export function quotaExceeded(): HostError {
  return new HostError("storage.quota", "Cannot write: the plugin's quota is used up", {
    hint: "Delete rows, or ask the operator for a higher quota",
  });
}

/** The error of a result that is too large to send. */
export function resultTooLarge(what: string): HostError {
  return new HostError("storage.too_large", `The result has more than ${what}`, {
    hint: "Use LIMIT, or select fewer columns",
  });
}

function refusal(refused: Access | null, plugin: string, catalogue: Catalogue): HostError {
  const prefix = tablePrefix(plugin);
  const names = [refused?.first, refused?.second].flatMap((name) => {
    if (!name) return [];
    const owner = ownerOf(name, catalogue.plugins);
    return owner === null || owner === plugin ? [withoutPrefix(name, prefix)] : [];
  });
  const what = names.length > 0 ? `: "${names.join('", "')}"` : "";
  return new HostError("storage.denied", `Not authorized${what}`, {
    hint: "A plugin reaches only its own tables, and only functions that compute",
    ...(refused ? { data: { action: refused.action } } : {}),
  });
}

/** The message without the plugin's prefix and without any name of another plugin's objects. */
function cleanMessage(message: string, plugin: string, catalogue: Catalogue): string {
  let clean = message;
  // Only names that are there can have got into a message; most messages hold none.
  for (const { name } of foldName(message).includes("plugin_") ? catalogue.entries : []) {
    const owner = ownerOf(name, catalogue.plugins);
    if (owner !== plugin && owner !== null) clean = clean.replaceAll(name, "…");
  }
  return withoutPrefix(clean, tablePrefix(plugin));
}

function isForeign(name: string, plugin: string, catalogue: Catalogue): boolean {
  return catalogue.names.has(foldName(name)) && ownerOf(name, catalogue.plugins) !== plugin;
}
