/**
 * SQLite's values as JSON. Integers beyond ±2^53 are `{"$int":"…"}`, reals JSON has no number for are `{"$real":"…"}`,
 * blobs are `{"$base64":"…"}`; everything else travels as plain JSON.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { SqlValue } from "../ports/ports.ts";

/** An SQLite value in JSON. */
export type WireValue =
  | null
  | number
  | string
  | { readonly $int: string }
  | { readonly $real: string }
  | { readonly $base64: string };

const MAX_INTEGER = 2n ** 63n - 1n;
const MIN_INTEGER = -(2n ** 63n);
const REALS: Readonly<Record<string, number>> = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };

/** Returns the SQLite value for a value in JSON; `place` names the parameter in the error. */
export function fromWire(value: unknown, place: string): SqlValue {
  switch (typeof value) {
    case "string":
      return value;
    case "boolean":
      return value ? 1n : 0n;
    case "number":
      // A plain number would be bound as REAL: 1/2 would be 0.5.
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value) : value;
    case "object":
      return value === null ? null : fromTagged(value as Record<string, unknown>, place);
    default:
      throw invalid(place, "is no JSON value");
  }
}

/** Returns an SQLite value in JSON. */
export function toWire(value: SqlValue): WireValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { $int: String(value) };
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : { $real: String(value) };
  if (value instanceof Uint8Array) return { $base64: toBase64(value) };
  return value;
}

function fromTagged(value: Record<string, unknown>, place: string): SqlValue {
  const [[tag, text] = [], ...more] = Object.entries(value);
  if (more.length === 0 && typeof text === "string") {
    if (tag === "$int" && /^-?\d{1,19}$/.test(text)) {
      const integer = BigInt(text);
      if (integer <= MAX_INTEGER && integer >= MIN_INTEGER) return integer;
      throw invalid(place, "does not fit into 64 bits");
    }
    if (tag === "$real") {
      const real = REALS[text] ?? (text.trim() === "" ? NaN : Number(text));
      if (text === "NaN" || !Number.isNaN(real)) return real;
      throw invalid(place, "is no real number");
    }
    if (tag === "$base64") return fromBase64(text, place);
  }
  throw invalid(place, 'is an object other than {"$int":"…"}, {"$real":"…"} and {"$base64":"…"}');
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

function fromBase64(text: string, place: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw invalid(place, "is no base64");
  }
}

function invalid(place: string, reason: string): HostError {
  return new HostError("storage.params_invalid", `Parameter ${place} ${reason}`, {
    data: { parameter: place },
    hint: "Send null, a boolean, a number, a string, or an object that wraps an integer, a real or a blob",
  });
}
