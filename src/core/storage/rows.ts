/**
 * Rows as they travel.
 *
 * @module
 */
import type { SqlValue } from "../ports/ports.ts";
import { resultTooLarge } from "./failures.ts";
import type { StorageLimits } from "./limits.ts";
import { toWire, type WireValue } from "./values.ts";

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
