/**
 * SQLite's values, parameters and rows as JSON. Integers beyond ±2^53 are `{"$int":"…"}`, reals JSON has no number for are `{"$real":"…"}`,
 * blobs are `{"$base64":"…"}`; everything else travels as plain JSON.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { SqlValue } from "../ports/ports.ts";
import { resultTooLarge } from "./failures.ts";
import type { StorageLimits } from "./limits.ts";
import type { Rewritten } from "./sql/rewrite.ts";

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

const NONE: readonly SqlValue[] = [];

/** Returns the values to bind: an array in order, or an object by name (`:name`, `@name` and `$name` alike). */
export function bindParams(
  rewritten: Pick<Rewritten, "parameterCount" | "parameterNames">,
  params: unknown,
): readonly SqlValue[] {
  const { parameterCount, parameterNames } = rewritten;
  if (params === undefined || params === null) return expectCount(NONE, parameterCount);
  if (Array.isArray(params)) {
    expectCount(params, parameterCount);
    return parameterCount === 0 ? NONE : params.map((value, index) => fromWire(value, String(index + 1)));
  }
  if (typeof params !== "object") throw invalidParams('"params" must be an array or an object');
  return bindNames(params as Record<string, unknown>, parameterCount, parameterNames);
}

function bindNames(params: Record<string, unknown>, count: number, names: ReadonlyMap<string, number>): SqlValue[] {
  if (names.size < count) throw invalidParams("The statement has parameters without a name: send an array");
  const values: SqlValue[] = new Array(count).fill(null);
  const used = new Set<string>();
  for (const [written, number] of names) {
    const name = [written, written.slice(1)].find((each) => Object.hasOwn(params, each));
    if (name === undefined) throw invalidParams(`Parameter ${written} is missing`, written);
    values[number - 1] = fromWire(params[name], written);
    used.add(name);
  }
  const extra = Object.keys(params).find((name) => !used.has(name));
  if (extra !== undefined) throw invalidParams(`The statement has no parameter "${extra}"`, extra);
  return values;
}

function expectCount(params: readonly unknown[], count: number): readonly SqlValue[] {
  if (params.length === count) return params as readonly SqlValue[];
  throw invalidParams(
    params.length < count
      ? `Parameter ${params.length + 1} is missing: the statement takes ${count}, ${params.length} came`
      : `Parameter ${count + 1} is one too many: the statement takes ${count}, ${params.length} came`,
    String(Math.min(params.length, count) + 1),
  );
}

function invalidParams(message: string, parameter?: string): HostError {
  return new HostError("storage.params_invalid", message, parameter === undefined ? {} : { data: { parameter } });
}

/** Rows between the storage process and the host: one array each. */
export interface EncodedRows {
  /** Names of the columns, each once: a second `id` is `id:1`. */
  readonly columns: readonly string[];
  /** Rows, values in the order of the columns. */
  readonly rows: readonly (readonly WireValue[])[];
}

/** A row with its values under the names of their columns. */
export type RowObject = Record<string, WireValue>;

const CHARACTERS_PER_VALUE = 3;

/** The columns of a statement, known before it runs. */
export interface ColumnFacts {
  /** Names of the columns; a second `id` is `id:1`. */
  readonly names: readonly string[];
  /** Bytes that names and punctuation take in every row. */
  readonly bytesPerRow: number;
}

/** Makes the column names unique and counts the bytes they add to every row. */
export function columnFacts(columns: readonly string[]): ColumnFacts {
  const names = uniqueNames(columns);
  return { names, bytesPerRow: names.reduce((sum, name) => sum + name.length + CHARACTERS_PER_VALUE, 0) };
}

/** The smallest integer. Drivers that refuse integers which are no numbers let this one through, rounded. */
const SMALLEST = -(2 ** 63);

/**
 * Encodes rows in place: the arrays are the driver's own, and ours from here on. Throws `storage.too_large`; with
 * `asNumbers`, for rows whose integers were read as numbers, also a `RangeError` at an integer that may be rounded.
 */
export function encodeRows(
  { names, bytesPerRow }: ColumnFacts,
  rows: SqlValue[][],
  { maxRows, maxResultBytes }: Pick<StorageLimits, "maxRows" | "maxResultBytes">,
  asNumbers: boolean = false,
): EncodedRows {
  if (rows.length > maxRows) throw resultTooLarge(`${maxRows} rows`);
  let bytes = rows.length * bytesPerRow;
  for (const row of rows) {
    for (let at = 0; at < row.length; at++) {
      const value = row[at]!;
      if (typeof value === "string") bytes += value.length;
      else if (typeof value === "number" ? !(value > SMALLEST && value < Infinity) : value !== null) {
        if (asNumbers && value === SMALLEST) throw new RangeError("An integer may be no number");
        const wire = toWire(value);
        if (typeof wire === "object" && wire !== null) bytes += "$base64" in wire ? wire.$base64.length : 32;
        (row as unknown[])[at] = wire;
      }
    }
    if (bytes > maxResultBytes) throw resultTooLarge(`${maxResultBytes} bytes`);
  }
  return { columns: names, rows: rows as WireValue[][] };
}

/** Returns an object for each row, its values under the names of their columns. */
export function rowObjects({ columns, rows }: EncodedRows): RowObject[] {
  return rows.map((row) => {
    const object: RowObject = {};
    for (let at = 0; at < columns.length; at++) {
      const name = columns[at]!;
      if (name === "__proto__") Object.defineProperty(object, name, { value: row[at], enumerable: true });
      else object[name] = row[at]!;
    }
    return object;
  });
}

function uniqueNames(columns: readonly string[]): readonly string[] {
  if (new Set(columns).size === columns.length) return columns;
  const seen = new Set<string>();
  return columns.map((column) => {
    let name = column;
    for (let count = 1; seen.has(name); count++) name = `${column}:${count}`;
    seen.add(name);
    return name;
  });
}
