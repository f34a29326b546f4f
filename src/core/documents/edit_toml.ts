/**
 * Changes one table of a TOML text and nothing besides: comments, order and every other value stay.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { canonicalText } from "../values/canonical_text.ts";
import { isMap } from "../values/plain_data.ts";
import { DocumentReport } from "./document_report.ts";
import { readToml, type TomlDocument } from "./read_toml.ts";

/** A value that an edit may set. */
export type TomlValue = string | number | boolean | readonly string[];

/** A change of one table: keys to set, and keys to remove. */
export interface TableEdit {
  /** Keys that lead to the table: `["plugins", "notes"]` for `[plugins.notes]`, none for the top of the file. */
  readonly table: readonly string[];
  readonly set?: Readonly<Record<string, TomlValue>>;
  /** Keys to remove; a table that is left empty goes with them. */
  readonly unset?: readonly string[];
  /** Whether a table that is left empty stays for the sake of comments inside it. */
  readonly keepsComments?: boolean;
}

type Data = Readonly<Record<string, unknown>>;

/**
 * Returns the document with that one change, read again from its new text.
 *
 * @throws {HostError} `<room>.edit_refused` when the change cannot be made without touching something else.
 */
export async function editTomlTable(before: TomlDocument, edit: TableEdit): Promise<TomlDocument> {
  const { text, data, comments, report: { file, kind } } = before;
  let above: unknown = data;
  edit.table.forEach((name, depth) => {
    above = isMap(above) && Object.hasOwn(above, name) ? above[name] : {};
    const isLast = depth === edit.table.length - 1;
    if (!isMap(above)) throw refused(before, edit, isLast ? "it is no table" : `"${name}" is no table`);
  });
  const wanted = canonicalText(pruned(withEdit(data, edit)));
  if (canonicalText(pruned(data)) === wanted) return before;
  const reread = async (changed: string): Promise<TomlDocument | null> => {
    const after = await readToml(changed, new DocumentReport(file, kind));
    return after && canonicalText(pruned(after.data)) === wanted ? after : null;
  };
  for (const changed of lineEdits(text, edit)) {
    const after = await reread(changed);
    if (after) return after;
  }
  const changed = await patched(text, edit);
  const after = changed === null ? null : await reread(changed);
  // Lines that are cut out above take their own comments with them; the library may lose others.
  if (after && keepsAll(comments, after.comments)) return after;
  throw refused(before, edit, "something else would change with it");
}

/** Yields texts in which lines were added or cut out; the caller takes the first that reads as it should. */
function* lineEdits(text: string, { table, set = {}, unset, keepsComments }: TableEdit): Generator<string> {
  const added = settingLines(set);
  if (table.length > 0) {
    // A table that is not there yet goes to the end, where nothing else can be disturbed.
    const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
    yield `${text}${gap}[${table.map(keyText).join(".")}]\n${added.join("\n")}\n`;
  }
  const lines = text.split("\n");
  const range = linesOf(lines, table);
  if (range === null) return;
  if (!unset) yield withLines(lines, range, added);
  const isNoted = lines.slice(range[0], aboveTable(lines, range[1])).some((line) => NOTED.test(line));
  if (table.length > 0 && !(keepsComments && isNoted)) yield withoutTable(lines, range);
  if (unset) yield withoutKeys(lines, range, unset);
}

/** A line without a value: empty, or a comment. */
export const OPEN: RegExp = /^\s*(?:#.*)?$/;
/** A comment, or a header with one behind it. */
const NOTED = /^\s*(?:\[[^#]*\]\s*)?#/;

/** Lines of a table, from its header (or -1 for the top of the file) to the line after its last. */
type Range = readonly [start: number, end: number];

/** New keys go behind the last value of their table; at the top of a file without any, above the first table. */
function withLines(lines: readonly string[], [start, end]: Range, added: readonly string[]): string {
  let at = end;
  while (at > start + 1 && OPEN.test(lines[at - 1]!)) at--;
  const gap = at === 0 && end < lines.length ? [""] : [];
  if (at === 0) at = gap.length > 0 ? aboveTable(lines, end) : end - (lines[end - 1] === "" ? 1 : 0);
  return [...lines.slice(0, at), ...added, ...gap, ...lines.slice(at)].join("\n");
}

function withoutTable(lines: readonly string[], [start, last]: Range): string {
  let end = last;
  // Comments and gaps before the next table are about that one.
  while (end > start + 1 && OPEN.test(lines[end - 1]!)) end--;
  while (end < lines.length - 1 && /^\s*$/.test(lines[end]!)) end++;
  return [...lines.slice(0, start), ...lines.slice(end)].join("\n");
}

function withoutKeys(lines: readonly string[], [start, end]: Range, unset: readonly string[]): string {
  const patterns = unset.map((key) => new RegExp(`^\\s*${keyPattern(key)}\\s*=`));
  const isGone = (index: number): boolean =>
    index > start && index < end && patterns.some((pattern) => pattern.test(lines[index]!));
  // A gap after the first line of the file was that line's.
  const isGap = (index: number): boolean => index === 1 && isGone(0) && lines[1] === "";
  return lines.filter((_, index) => !isGone(index) && !isGap(index)).join("\n");
}

/** Comments right above a table are about it: returns the first line of those, for a table at `index`. */
export function aboveTable(lines: readonly string[], index: number): number {
  let at = index;
  while (index < lines.length && at > 0 && /^\s*#/.test(lines[at - 1]!)) at--;
  return at;
}

/** Returns one line for each key and its value. */
export function settingLines(set: Readonly<Record<string, TomlValue>>): string[] {
  return Object.entries(set).map(([key, value]) =>
    `${keyText(key)} = ${JSON.stringify(value).replaceAll('","', '", "')}`
  );
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Matches a key, quoted or not. */
function keyPattern(key: string): string {
  const plain = key.replace(/[^A-Za-z0-9_-]/g, "\\$&");
  return `(?:${plain}|"${plain}"|'${plain}')`;
}

/** Returns the lines of a table; null for one without a header of its own. */
function linesOf(lines: readonly string[], table: readonly string[]): Range | null {
  const header = new RegExp(`^\\s*\\[\\s*${table.map(keyPattern).join("\\s*\\.\\s*")}\\s*\\]\\s*(?:#.*)?$`);
  const start = table.length === 0 ? -1 : lines.findIndex((line) => header.test(line));
  if (start === -1 && table.length > 0) return null;
  const next = lines.findIndex((line, index) => index > start && /^\s*\[/.test(line));
  return [start, next === -1 ? lines.length : next];
}

/** Leaves a table that is written inline or with dots to the library, on its own values: dates are not JSON. */
async function patched(text: string, edit: TableEdit): Promise<string | null> {
  const toml = await import("@decimalturn/toml-patch");
  try {
    return toml.patch(text, withEdit(toml.parse(text) as Data, edit), { inlineTableStart: 2 });
  } catch {
    return null; // A text it cannot change, or not in this way.
  }
}

/** Returns the data as the edit makes it. A table that is left empty goes. */
function withEdit(data: Data, { table, set = {}, unset = [] }: Pick<TableEdit, "table" | "set" | "unset">): Data {
  const [name, ...below] = table;
  if (name === undefined) {
    return { ...Object.fromEntries(Object.entries(data).filter(([key]) => !unset.includes(key))), ...set };
  }
  const { [name]: old, ...others } = data;
  const inner = withEdit(isMap(old) ? old : {}, { table: below, set, unset });
  return Object.keys(inner).length === 0 ? others : { ...others, [name]: inner };
}

/** A table that holds nothing says nothing, whether it is written or not. */
function pruned(data: Data): Data {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, isMap(value) ? pruned(value) : value] as const)
      .filter(([, value]) => !(isMap(value) && Object.keys(value).length === 0)),
  );
}

/** Whether every comment of a text is still there. */
export function keepsAll(before: readonly string[], after: readonly string[]): boolean {
  const left = [...after];
  return before.every((comment) => {
    const at = left.indexOf(comment);
    return at !== -1 && left.splice(at, 1).length === 1;
  });
}

function refused({ report }: TomlDocument, { table }: TableEdit, why: string): HostError {
  const name = table.map(keyText).join(".");
  const { title } = report.kind;
  const place = name === "" ? title : `[${name}] in ${title}`;
  const hint = name === "" ? "Edit it by hand" : `Write it as a table of its own, under [${name}]`;
  return new HostError(report.code("edit_refused"), `Cannot change ${place}: ${why}`, { data: { table: name }, hint });
}
