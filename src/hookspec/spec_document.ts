/**
 * One file of a hookspec: its data, and the report of its mistakes.
 *
 * @module
 */
import { type DocumentKind, DocumentReport } from "../core/documents/document_report.ts";
import type { ValueType } from "../core/documents/fields.ts";
import { readJson } from "../core/documents/read_json.ts";
import { readYaml } from "../core/documents/read_yaml.ts";

/** Every file of a hookspec, YAML or JSON. */
export const HOOKSPEC_FILE: DocumentKind = {
  room: "hookspec",
  title: "Hookspec",
  maxBytes: 1024 * 1024,
  maxParts: 200_000,
};

/** A file with its data and its mistakes. */
export interface SpecDocument {
  /** From the hookspec's folder. */
  readonly path: string;
  /** Null when the file could not be read. */
  readonly data: unknown;
  readonly report: DocumentReport;
}

/** Reads the text of one file: JSON for a schema, else YAML. */
export async function openDocument(path: string, text: string, root: string): Promise<SpecDocument> {
  const report = new DocumentReport(`${root}/${path}`, HOOKSPEC_FILE);
  const document = path.endsWith(".json") ? readJson(text, report) : await readYaml(text, report);
  return { path, data: document?.data ?? null, report };
}

/** Returns text on one line, without anything that cannot be seen: it goes into comments of every language. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, " ").trim();
}

/** A time that a hook may take: up to an hour. */
export const MILLISECONDS: ValueType<number> = {
  name: "a whole number of milliseconds up to an hour",
  fits: (value): value is number => Number.isInteger(value) && value as number >= 1 && value as number <= 3_600_000,
};
