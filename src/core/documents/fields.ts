/**
 * The fields of one map in a document that a person wrote: each is read by its type, and every mistake is reported at
 * its place, under the codes that all kinds of files share.
 *
 * @module
 */
import type { HostErrorCode } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentReport, IssueText } from "./document_report.ts";
import type { DocumentPath } from "./places.ts";

/** A type of value; `name` says it in messages: "Expected a text, got a list". */
export interface ValueType<T> {
  readonly name: string;
  /** Code of a value that does not fit, without its family. Default `wrong_type`. */
  readonly reason?: string;
  fits(value: unknown): value is T;
}

const isString = (value: unknown): value is string => typeof value === "string";
const isSomeText = (value: unknown): value is string => isString(value) && value.trim() !== "" && !value.includes("\0");

/** Any text, also an empty one. */
export const TEXT: ValueType<string> = { name: "a text", fits: isString };
/** A text with more than white space in it, and without NUL. */
export const SOME_TEXT: ValueType<string> = { name: "a text", fits: isSomeText };
/** The values true and false. */
export const FLAG: ValueType<boolean> = { name: "true or false", fits: (value) => typeof value === "boolean" };
/** A number other than infinity and NaN. */
export const NUMBER: ValueType<number> = { name: "a number", fits: (value): value is number => Number.isFinite(value) };
/** A list; its items are checked by the caller. */
export const LIST: ValueType<readonly unknown[]> = { name: "a list", fits: Array.isArray };
/** A map; its fields are checked by the caller. */
export const MAP: ValueType<Readonly<Record<string, unknown>>> = { name: "a map", fits: isMap };

/** Reads the fields of one map. */
export class Fields {
  readonly data: Readonly<Record<string, unknown>>;
  readonly path: DocumentPath;
  readonly report: DocumentReport;
  /** False when there was no map to read; nothing in it is missing then. */
  readonly isMap: boolean;
  readonly #asked = new Set<string>();

  /** Reads `value`; anything but a map is reported, and read as an empty one. */
  constructor(value: unknown, path: DocumentPath, report: DocumentReport, text: IssueText = {}) {
    this.path = path;
    this.report = report;
    this.isMap = isMap(value);
    this.data = isMap(value) ? value : {};
    if (this.isMap) return;
    const reason = path.length === 0 ? "not_a_map" : "wrong_type";
    report.error(report.code(reason), path, { message: `Expected a map, got ${typeName(value)}`, ...text });
  }

  /** Returns the path of a field. */
  at(key: string): DocumentPath {
    return [...this.path, key];
  }

  /** Whether there is a value under `key`. */
  has(key: string): boolean {
    this.#asked.add(key);
    return Object.hasOwn(this.data, key) && this.data[key] !== undefined;
  }

  /** Adds an error about the value under `key`; `reason` is the code without its family. */
  error(reason: string, key: string, text: IssueText = {}): void {
    this.report.error(this.report.code(reason), this.at(key), text);
  }

  /** Returns the value under `key`; undefined when there is none, or once it is reported to be of another type. */
  get<T>(key: string, type: ValueType<T>, text: IssueText = {}): T | undefined {
    const value = this.has(key) ? this.data[key] : undefined;
    if (value === undefined || type.fits(value)) return value;
    const isUnquoted = type.name === TEXT.name && ["number", "boolean"].includes(typeof value);
    const message = isString(value) && type.name === TEXT.name
      ? "The text is empty, or holds a NUL"
      : `Expected ${type.name}, got ${typeName(value)}`;
    this.error(type.reason ?? "wrong_type", key, { message, ...(isUnquoted && { hint: "Put it in quotes" }), ...text });
    return undefined;
  }

  /** Like {@link get}, for a value that must be there: its absence is reported as `<room>.missing_field`. */
  require<T>(key: string, type: ValueType<T>, text: IssueText = {}): T | undefined {
    if (this.has(key) || !this.isMap) return this.get(key, type, text);
    this.error("missing_field", key, { message: `Field ${shown(key)} is missing`, ...text });
    return undefined;
  }

  /** Returns the map under `key`, empty when there is none or, as YAML allows, nothing behind the key. */
  fields(key: string, text?: IssueText): Fields {
    return new Fields((this.has(key) ? this.data[key] : null) ?? {}, this.at(key), this.report, text);
  }

  /** Returns the value under `key` when it is one of `choices`; any other is reported, by default as invalid_value. */
  choice<T extends string>(key: string, choices: readonly T[], reason = "invalid_value"): T | undefined {
    const value = this.has(key) ? this.data[key] : undefined;
    if (value === undefined || choices.includes(value as T)) return value as T | undefined;
    this.error(reason, key, {
      message: `${shown(value)} is none of ${choices.join(", ")}`,
      hint: didYouMean(String(value), choices, `Use one of: ${choices.join(", ")}`),
    });
    return undefined;
  }

  /** Reports every key that is not `known`, as an error or as a warning. Default: the keys that were read so far. */
  expectKeys(known: readonly string[] = [...this.#asked], level: "error" | "warn" = "error"): void {
    const code: HostErrorCode = this.report.code("unknown_key");
    for (const key of Object.keys(this.data)) {
      if (known.includes(key)) continue;
      const message = level === "error" ? `Unknown key ${shown(key)}` : `The key ${shown(key)} is not read`;
      const hint = didYouMean(key, known, `Keys here: ${known.join(", ")}`);
      this.report[level](code, this.at(key), { message, hint, part: "key" });
    }
  }
}

/** Returns the type of a value in words, without the value, which may be a secret. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  const names: Record<string, string> = { object: "a map", string: "a text", boolean: "true or false" };
  return names[typeof value] ?? `a ${typeof value}`;
}
