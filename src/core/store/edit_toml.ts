/**
 * Changes one table of a TOML text and nothing besides: comments, order and every other value stay.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import { isMap } from "../manifest/plain_data.ts";
import { readTomlTree } from "../project/toml_tree.ts";
import { canonicalText } from "../schema/canonical_text.ts";
import { DocumentReport } from "../yaml/document_report.ts";

/** A value a record may have. */
export type TomlValue = string | boolean | readonly string[];

/** What to change in the table `[<group>.<name>]`. */
export interface TableEdit {
  /** The table above. */
  readonly group: string;
  /** The table. */
  readonly name: string;
  /** Keys to set. */
  readonly set?: Readonly<Record<string, TomlValue>>;
  /** Keys to remove; a table that is left empty goes with them. */
  readonly unset?: readonly string[];
}

type Data = Record<string, unknown>;

/**
 * Returns `text` with that one change.
 *
 * @throws {HostError} `local.edit_refused` when it cannot be made without touching something else.
 */
export async function editTomlTable(text: string, edit: TableEdit): Promise<string> {
  const { group, name } = edit;
  const before = await dataIn(text);
  if (before === null) throw refused(edit, "the file cannot be read");
  if (Object.hasOwn(before, group) && !isMap(before[group])) throw refused(edit, `"${group}" is no table`);
  const old = mapAt(before, group)[name];
  if (old !== undefined && !isMap(old)) throw refused(edit, "it is no table");
  const wanted = withEdit(before, edit);
  const same = (data: Data | null): boolean => canonicalText(pruned(data)) === canonicalText(pruned(wanted));
  if (same(before)) return text;
  for (const attempt of [appended, cut, cutKeys, patched]) {
    const result = await attempt(text, edit);
    if (result === null || !same(await dataIn(result))) continue;
    // What was cut out took its own comments with it.
    if (attempt !== patched || await keepsComments(text, result)) return result;
  }
  throw refused(edit, "something else would change with it");
}

/** A table that is not there yet is written at the end, where nothing else can be disturbed. */
function appended(text: string, { group, name, set = {} }: TableEdit): string {
  const lines = Object.entries(set).map(([key, value]) =>
    `${key} = ${JSON.stringify(value).replaceAll('","', '", "')}`
  );
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}[${group}.${name}]\n${lines.join("\n")}\n`;
}

/** A table that has its own header and goes away as a whole: its lines are cut out. */
function cut(text: string, edit: TableEdit): string | null {
  const lines = text.split("\n");
  const range = linesOf(lines, edit);
  if (range === null) return null;
  const [start] = range;
  let [, end] = range;
  // Comments and gaps before the next table are about that one.
  while (end > start + 1 && /^\s*(?:#.*)?$/.test(lines[end - 1]!)) end--;
  while (end < lines.length - 1 && /^\s*$/.test(lines[end]!)) end++;
  return [...lines.slice(0, start), ...lines.slice(end)].join("\n");
}

/** Single lines of a table that has its own header: each that sets a key to be removed is cut out. */
function cutKeys(text: string, edit: TableEdit): string | null {
  const lines = text.split("\n");
  const range = linesOf(lines, edit);
  if (range === null) return null;
  const [start, end] = range;
  const isGone = (line: string): boolean => (edit.unset ?? []).some((key) => new RegExp(`^\\s*${key}\\s*=`).test(line));
  return lines.filter((line, index) => index <= start || index >= end || !isGone(line)).join("\n");
}

/** The line of a table's header, and the line after its last. */
function linesOf(lines: readonly string[], { group, name }: TableEdit): [number, number] | null {
  const header = new RegExp(`^\\s*\\[\\s*${group}\\s*\\.\\s*(?:${name}|"${name}"|'${name}')\\s*\\]\\s*(?:#.*)?$`);
  const start = lines.findIndex((line) => header.test(line));
  if (start === -1) return null;
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

async function dataIn(text: string): Promise<Data | null> {
  if (text.trim() === "") return {};
  return await readTomlTree(text, new DocumentReport("local.toml", { room: "local", title: "local.toml" }));
}

/** Returns the data as the edit makes it. A table that is left empty goes. */
function withEdit(data: Data, { group, name, set = {}, unset = [] }: TableEdit): Data {
  const { [name]: old, ...others } = mapAt(data, group);
  const kept = Object.entries(isMap(old) ? old : {}).filter(([key]) => !unset.includes(key));
  const table: Data = { ...Object.fromEntries(kept), ...set };
  return { ...data, [group]: { ...others, ...(Object.keys(table).length === 0 ? {} : { [name]: table }) } };
}

function mapAt(data: Data, key: string): Data {
  return Object.hasOwn(data, key) && isMap(data[key]) ? data[key] : {};
}

/** A table above that holds nothing says nothing, whether it is written or not. */
function pruned(data: Data | null): Data | null {
  return data && Object.fromEntries(
    Object.entries(data).filter(([, value]) => !(isMap(value) && Object.keys(value).length === 0)),
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

function refused({ group, name }: TableEdit, why: string): HostError {
  return new HostError("local.edit_refused", `Cannot change [${group}.${name}] in local.toml: ${why}`, {
    data: { table: `${group}.${name}` },
    hint: `Write it as a table of its own, under [${group}.${name}]`,
  });
}
