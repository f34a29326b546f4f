/**
 * Adds and removes one table of a list of tables (`[[rules]]`) in a TOML text: comments, order and every other value
 * stay.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { canonicalText } from "../values/canonical_text.ts";
import { DocumentReport } from "./document_report.ts";
import { aboveTable, keepsAll, OPEN, settingLines, type TomlValue } from "./edit_toml.ts";
import { readToml, type TomlDocument } from "./read_toml.ts";

/**
 * Returns the document with one more table before the one at `index`, read again from its new text; at the end of the
 * list, behind the last.
 *
 * @throws {HostError} `<room>.edit_refused` when the change cannot be made without touching something else.
 */
export async function insertTomlTable(
  before: TomlDocument,
  list: string,
  index: number,
  values: Readonly<Record<string, TomlValue>>,
): Promise<TomlDocument> {
  const tables = tablesOf(before, list);
  const page = pageOf(before);
  const added = [`[[${list}]]`, ...settingLines(values)];
  const changes = index < tables.length
    ? placesAbove(page, headerOf(before, list, index)).map((at) => withLines(page, at, [...added, ""]))
    : placesBehind(page, tables.length === 0 ? null : headerOf(before, list, tables.length - 1))
      .map((at) => withLines(page, at, at === 0 ? added : ["", ...added]));
  for (const text of changes) {
    const after = await rereadAs(before, list, tables.toSpliced(index, 0, values), text);
    if (after && keepsAll(before.comments, after.comments)) return after;
  }
  throw refused(before, list);
}

/**
 * Returns the document without the table at `index` of a list. Comments above its header and behind its values stay.
 *
 * @throws {HostError} `<room>.edit_refused` when the change cannot be made without touching something else.
 */
export async function removeTomlTable(before: TomlDocument, list: string, index: number): Promise<TomlDocument> {
  const page = pageOf(before);
  const start = headerOf(before, list, index);
  const end = endOf(page, start);
  const gap = page.bare.slice(end).findIndex((line) => line !== "");
  // The gap behind it was its own; where there is none, or nothing behind it, the gap above it.
  const isAbove = gap === -1 || (gap === 0 && OPEN.test(page.bare[end]!));
  const head = isAbove ? withoutGap(page, start) : page.lines.slice(0, start);
  // A comment that stood above it must not come to stand above what follows.
  const isNoted = aboveTable(page.bare, start) < start;
  const rest = gap === -1 ? page.lines.slice(end, end + 1) : page.lines.slice(isNoted ? end : end + gap);
  const changed = [...head, ...rest].join("\n");
  const after = await rereadAs(before, list, tablesOf(before, list).toSpliced(index, 1), changed);
  if (after) return after;
  throw refused(before, list);
}

/** The lines of a text, as they are and without the returns that some files end them with. */
interface Page {
  readonly lines: readonly string[];
  readonly bare: readonly string[];
}

function pageOf({ text }: TomlDocument): Page {
  const lines = text.split("\n");
  return { lines, bare: lines.map((line) => line.replace(/\r$/, "")) };
}

function tablesOf({ data }: TomlDocument, list: string): readonly unknown[] {
  return Array.isArray(data[list]) ? data[list] : [];
}

/** Returns the line of a table's header, counted from 0. */
function headerOf({ report }: TomlDocument, list: string, index: number): number {
  return report.placeOf([list, index], "value").line - 1;
}

/** Returns the line behind the last value of the table whose header is at `start`. */
function endOf({ bare }: Page, start: number): number {
  const next = bare.findIndex((line, at) => at > start && /^\s*\[/.test(line));
  let end = next === -1 ? bare.length : next;
  while (end > start + 1 && OPEN.test(bare[end - 1]!)) end--;
  return end;
}

/** Above the comments on a table, or else right above its header. */
function placesAbove({ bare }: Page, header: number): number[] {
  return [aboveTable(bare, header), header];
}

/** Behind a table, or else at the end of the file. */
function placesBehind(page: Page, header: number | null): number[] {
  const { bare } = page;
  const last = bare.at(-1) === "" ? bare.length - 1 : bare.length;
  return header === null ? [last] : [endOf(page, header), last];
}

function withLines({ lines, bare }: Page, at: number, added: readonly string[]): string {
  const ending = lines[0] === bare[0] ? "" : "\r";
  const rest = lines.slice(at);
  // A last line without its end gets one.
  const head = lines.slice(0, at).map((line, index) => index === lines.length - 1 ? `${line}${ending}` : line);
  return [...head, ...added.map((line) => `${line}${ending}`), ...(rest.length === 0 ? [""] : rest)].join("\n");
}

function withoutGap({ lines, bare }: Page, end: number): readonly string[] {
  let at = end;
  while (at > 0 && bare[at - 1] === "") at--;
  return lines.slice(0, at);
}

/** Returns the document of a changed text, where it reads as it should: a list that is written otherwise does not. */
async function rereadAs(
  { data, report: { file, kind } }: TomlDocument,
  list: string,
  tables: readonly unknown[],
  text: string,
): Promise<TomlDocument | null> {
  const { [list]: _, ...others } = data;
  const wanted = canonicalText(tables.length === 0 ? others : { ...others, [list]: tables });
  const after = await readToml(text, new DocumentReport(file, kind));
  return after && canonicalText(after.data) === wanted ? after : null;
}

function refused({ report }: TomlDocument, list: string): HostError {
  const message = `Cannot change [[${list}]] in ${report.kind.title}: something else would change with it`;
  const hint = `Write each of them as a table of its own, under [[${list}]]`;
  return new HostError(report.code("edit_refused"), message, { data: { table: list }, hint });
}
