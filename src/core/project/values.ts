/**
 * Values of a project file that several checks share.
 *
 * @module
 */
import { didYouMean } from "../values/nearest_word.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentPath, DocumentReport } from "../documents/document_report.ts";

/** Names of subagents and keys of plugins: no dots or slashes, which agent paths and instance ids are joined by. */
export const NAME: RegExp = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Returns `value` when it is a map; else says that it is none and returns null. */
export function expectMap(value: unknown, path: DocumentPath, report: DocumentReport): Record<string, unknown> | null {
  if (isMap(value)) return value;
  report.error(report.code("wrong_type"), path, { message: `Expected a map, got ${typeName(value)}` });
  return null;
}

/** Reports every key of `map` that is not one of `known`. */
export function expectKeys(
  map: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: DocumentPath,
  report: DocumentReport,
): void {
  for (const key of Object.keys(map)) {
    if (known.includes(key)) continue;
    const hint = didYouMean(key, known, `Keys here: ${known.join(", ")}`);
    report.error(report.code("unknown_key"), [...path, key], {
      message: `Unknown key ${shown(key)}`,
      hint,
      part: "key",
    });
  }
}

/** Returns what kind of value it is, without the value. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  const names: Record<string, string> = { object: "a map", string: "a text", boolean: "true or false" };
  return names[typeof value] ?? `a ${typeof value}`;
}
