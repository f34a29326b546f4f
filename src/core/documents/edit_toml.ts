/**
 * Changes one table of a TOML text and nothing besides: comments, order and every other value stay.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { readTomlTree } from "./toml_tree.ts";
import { canonicalText } from "../values/canonical_text.ts";
import { isMap } from "../values/plain_data.ts";
import { DocumentReport } from "./document_report.ts";

/** A value that can be written. */
export type TomlValue = string | number | boolean | readonly string[];

/** What to change in one table. */
export interface TableEdit {
  /** Name of the file, for errors: `local.toml`. */
  readonly file: "local.toml" | "config.toml";
  /** Keys that lead to the table: `["plugins", "notes"]` for `[plugins.notes]`, none for the top of the file. */
  readonly table: readonly string[];
  /** Keys to set. */
  readonly set?: Readonly<Record<string, TomlValue>>;
  /** Keys to remove; a table that is left empty goes with them. */
  readonly unset?: readonly string[];
  /** Whether a table stays for the sake of comments inside it. */
  readonly keepsComments?: boolean;
}

type Data = Record<string, unknown>;

/**
 * Returns `text` with that one change.
 *
 * @throws {HostError} `<file>.edit_refused` when it cannot be made without touching something else.
 */
export async function editTomlTable(text: string, edit: TableEdit): Promise<string> {
  const before = await dataIn(text, edit);
  if (before === null) throw refused(edit, "the file cannot be read");
  let above: unknown = before;
  edit.table.forEach((name, depth) => {
    above = isMap(above) && Object.hasOwn(above, name) ? above[name] : {};
    const isLast = depth === edit.table.length - 1;
    if (!isMap(above)) throw refused(edit, isLast ? "it is no table" : `"${name}" is no table`);
  });
  const wanted = canonicalText(pruned(withEdit(before, edit)));
  const isWanted = (data: Data | null): boolean => data !== null && canonicalText(pruned(data)) === wanted;
  if (isWanted(before)) return text;
  for (const attempt of [appended, inserted, cut, cutKeys, patched]) {
    const result = await attempt(text, edit);
    if (result === null || !isWanted(await dataIn(result, edit))) continue;
    // What was cut out took its own comments with it.
    if (attempt !== patched || await keepsComments(text, result)) return result;
  }
  throw refused(edit, "something else would change with it");
}

/** A table that is not there yet is written at the end, where nothing else can be disturbed. */
function appended(text: string, { table, set = {} }: TableEdit): string | null {
  if (table.length === 0) return null;
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}[${table.map(keyText).join(".")}]\n${settingLines(set).join("\n")}\n`;
}

/** Keys that are not there yet go after the last line of their table, or before what follows the top of the file. */
function inserted(text: string, edit: TableEdit): string | null {
  const lines = text.split("\n");
  const range = linesOf(lines, edit);
  if (range === null || edit.unset) return null;
  const [start, end] = range;
  let at = end;
  const isOpen = (line: string): boolean => /^\s*(?:#.*)?$/.test(line);
  while (at > start + 1 && isOpen(lines[at - 1]!)) at--;
  const added = settingLines(edit.set ?? {});
  if (at === 0 && end < lines.length) {
    at = aboveTable(lines, end);
    added.push("");
  } else if (at === 0) at = end - (lines[end - 1] === "" ? 1 : 0);
  return [...lines.slice(0, at), ...added, ...lines.slice(at)].join("\n");
}

/** A table that has its own header and goes away as a whole: its lines are cut out. */
function cut(text: string, edit: TableEdit): string | null {
  const lines = text.split("\n");
  const range = linesOf(lines, edit);
  if (range === null || edit.table.length === 0) return null;
  const [start] = range;
  let [, end] = range;
  // Comments and gaps before the next table are about that one.
  while (end > start + 1 && /^\s*(?:#.*)?$/.test(lines[end - 1]!)) end--;
  if (edit.keepsComments && lines.slice(start, aboveTable(lines, range[1])).some(isNoted)) return null;
  while (end < lines.length - 1 && /^\s*$/.test(lines[end]!)) end++;
  return [...lines.slice(0, start), ...lines.slice(end)].join("\n");
}

/** Comments right above a table are about it: the line before those, for a table at `index`. */
function aboveTable(lines: readonly string[], index: number): number {
  let at = index;
  while (index < lines.length && at > 0 && /^\s*#/.test(lines[at - 1]!)) at--;
  return at;
}

/** Whether a line is a comment, or a header with one. */
function isNoted(line: string): boolean {
  return /^\s*(?:\[[^#]*\]\s*)?#/.test(line);
}

/** Single lines of a table that has its own header: each that sets a key to be removed is cut out. */
function cutKeys(text: string, edit: TableEdit): string | null {
  const lines = text.split("\n");
  const range = linesOf(lines, edit);
  if (range === null) return null;
  const [start, end] = range;
  const gone = (edit.unset ?? []).map((key) => new RegExp(`^\\s*${keyPattern(key)}\\s*=`));
  const isGone = (index: number): boolean =>
    index > start && index < end && gone.some((pattern) => pattern.test(lines[index]!));
  // A gap after the first line of the file was that line's.
  const isGap = (index: number): boolean => index === 1 && isGone(0) && lines[1] === "";
  return lines.filter((_, index) => !isGone(index) && !isGap(index)).join("\n");
}

function settingLines(set: Readonly<Record<string, TomlValue>>): string[] {
  return Object.entries(set).map(([key, value]) =>
    `${keyText(key)} = ${JSON.stringify(value).replaceAll('","', '", "')}`
  );
}

/** A key as TOML has it. */
function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Finds a key, quoted or not. */
function keyPattern(key: string): string {
  const plain = key.replace(/[^A-Za-z0-9_-]/g, "\\$&");
  return `(?:${plain}|"${plain}"|'${plain}')`;
}

/** The line of a table's header, and the line after its last; the top of the file has its header before the first. */
function linesOf(lines: readonly string[], { table }: TableEdit): [number, number] | null {
  const header = new RegExp(`^\\s*\\[\\s*${table.map(keyPattern).join("\\s*\\.\\s*")}\\s*\\]\\s*(?:#.*)?$`);
  const start = table.length === 0 ? -1 : lines.findIndex((line) => header.test(line));
  if (start === -1 && table.length > 0) return null;
  const next = lines.findIndex((line, index) => index > start && /^\s*\[/.test(line));
  return [start, next === -1 ? lines.length : next];
}

/** Whatever is written in another way is left to the library, on its own values: dates are not JSON. */
async function patched(text: string, edit: TableEdit): Promise<string | null> {
  const toml = await import("@decimalturn/toml-patch");
  try {
    return toml.patch(text, withEdit(toml.parse(text) as Data, edit), { inlineTableStart: 2 });
  } catch {
    return null; // A text it cannot change, or not in this way.
  }
}

async function dataIn(text: string, { file }: TableEdit): Promise<Data | null> {
  if (text.trim() === "") return {};
  return await readTomlTree(text, new DocumentReport(file, { room: roomOf(file), title: file }));
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

/** Whether no comment got lost; those inside a table that was cut went with it. */
async function keepsComments(before: string, after: string): Promise<boolean> {
  const left = await commentsIn(after);
  return (await commentsIn(before)).every((comment) => {
    const at = left.indexOf(comment);
    return at !== -1 && left.splice(at, 1).length === 1;
  });
}

/** A part of the library's syntax tree. */
interface Node {
  readonly type?: string;
  readonly raw?: string;
  readonly key?: unknown;
  readonly value?: unknown;
  readonly item?: unknown;
  readonly items?: unknown;
}

async function commentsIn(text: string): Promise<string[]> {
  const toml = await import("@decimalturn/toml-patch");
  const found: string[] = [];
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(visit);
    if (typeof part !== "object" || part === null) return;
    const { type, raw, key, value, item, items } = part as Node;
    if (type === "Comment") found.push(raw ?? "");
    else [key, value, item, items].forEach(visit);
  };
  for (const block of toml.parseDocument(text).cst) visit(block);
  return found;
}

function roomOf(file: TableEdit["file"]): "local" | "config" {
  return file === "local.toml" ? "local" : "config";
}

function refused({ file, table }: TableEdit, why: string): HostError {
  const name = table.map(keyText).join(".");
  const place = name === "" ? file : `[${name}] in ${file}`;
  return new HostError(`${roomOf(file)}.edit_refused`, `Cannot change ${place}: ${why}`, {
    data: { table: name },
    hint: name === "" ? "Edit it by hand" : `Write it as a table of its own, under [${name}]`,
  });
}
