/**
 * One file of a hookspec: its data, and what is wrong with it.
 *
 * @module
 */
import type { HostErrorCode } from "../core/errors/host_error.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import { isMap } from "../core/values/plain_data.ts";
import { shown } from "../core/values/shown_value.ts";
import { type DocumentPath, DocumentReport } from "../core/documents/document_report.ts";

/** A file that was read. */
export interface SpecDocument {
  /** Its path, from the hookspec's folder. */
  readonly path: string;
  /** What it holds; null when it could not be read. */
  readonly data: unknown;
  /** Takes what is wrong with it. */
  readonly report: DocumentReport;
}

const LIMITS = { maxLexemes: 200_000, maxNodes: 100_000 };

/** Reads the text of one file. YAML is a superset of JSON: one reader knows the places in both. */
export async function openDocument(path: string, text: string, root: string): Promise<SpecDocument> {
  const { readYamlTree } = await import("../core/documents/yaml_tree.ts");
  const report = new DocumentReport(`${root}/${path}`, { room: "hookspec", title: "Hookspec" });
  const tree = await readYamlTree(text, report, LIMITS);
  if (tree && path.endsWith(".json") && !isJson(text)) report.error("hookspec.not_json", []);
  return { path, data: tree?.data ?? null, report };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns text on one line, without anything that cannot be seen: it goes into comments of every language. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, " ").trim();
}

/** Reads the fields of one map, and says what is wrong with them. */
export class FieldReader {
  /** Where the map stands. */
  readonly path: DocumentPath;
  /** Null when there is no map: then nothing in it is missing. */
  readonly #data: Readonly<Record<string, unknown>> | null;
  readonly #report: DocumentReport;

  /** Reads `data`; a key that is not `known` is an error. */
  constructor(data: unknown, path: DocumentPath, report: DocumentReport, known: readonly string[]) {
    this.path = path;
    this.#data = isMap(data) ? data : null;
    this.#report = report;
    if (!this.#data) report.error("hookspec.not_a_map", path);
    for (const key of Object.keys(this.#data ?? {})) {
      if (known.includes(key)) continue;
      const hint = didYouMean(key, known, `Keys here: ${known.join(", ")}`);
      report.error("hookspec.unknown_key", [...path, key], { message: `Unknown key ${shown(key)}`, hint, part: "key" });
    }
  }

  /** Whether there is a value under `key`. */
  has(key: string): boolean {
    return this.#data !== null && Object.hasOwn(this.#data, key);
  }

  /** Adds an error about the value under `key`. */
  error(code: HostErrorCode, key: string, message: string, hint?: string): void {
    this.#report.error(code, [...this.path, key], { message, ...(hint !== undefined && { hint }) });
  }

  /** Returns what must be there, or undefined once its absence or its type is reported. */
  required<T>(key: string, wanted: string, fits: (value: unknown) => value is T): T | undefined {
    if (this.has(key)) return this.optional(key, wanted, fits);
    if (!this.#data) return undefined;
    this.#report.error("hookspec.missing_field", [...this.path, key], { message: `Field ${shown(key)} is missing` });
    return undefined;
  }

  /** Returns what may be there, or undefined when it is not, or is of another type. */
  optional<T>(key: string, wanted: string, fits: (value: unknown) => value is T): T | undefined {
    const value = this.has(key) ? this.#data![key] : undefined;
    if (value === undefined || fits(value)) return value;
    this.error("hookspec.wrong_type", key, `Expected ${wanted}, got ${shown(value)}`);
    return undefined;
  }

  /** Returns one of `choices`, or undefined. */
  choice<T extends string>(
    key: string,
    choices: readonly T[],
    code: HostErrorCode = "hookspec.invalid_value",
  ): T | undefined {
    const value = this.optional(key, "a text", isText);
    if (value === undefined || choices.includes(value as T)) return value as T | undefined;
    const hint = didYouMean(value, choices, `Use one of: ${choices.join(", ")}`);
    this.error(code, key, `${shown(value)} is none of ${choices.join(", ")}`, hint);
    return undefined;
  }
}

/** Whether `value` is a text with something in it. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Whether `value` is true or false. */
export function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

/** Whether `value` is a time in milliseconds that a hook may take: up to an hour. */
export function isMilliseconds(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 3_600_000;
}
