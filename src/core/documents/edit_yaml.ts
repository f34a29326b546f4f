/**
 * Sets one value in a YAML text by replacing or adding its characters alone. Every change is read again and compared:
 * one that would touch anything else is refused.
 *
 * @module
 */
import type { Pair, YAMLMap } from "yaml";
import { DocumentReport } from "./document_report.ts";
import { readYaml, type YamlDocument } from "./read_yaml.ts";

type Yaml = typeof import("yaml");

/** A change of a text: the characters between two offsets are replaced. */
interface Splice {
  readonly from: number;
  readonly to: number;
  /** Makes the new characters from the value's text. */
  readonly wrap: (value: string) => string;
}

/**
 * Returns the document with `value` at `path`. Maps on the way that are not there yet are added. Returns null when the
 * change cannot be made without touching something else, as behind an anchor or in an unusual layout.
 */
export async function setYamlValue(
  before: YamlDocument,
  path: readonly string[],
  value: unknown,
): Promise<YamlDocument | null> {
  const { text, data, report: { file, kind } } = before;
  const wanted = JSON.stringify(withValue(data, path, value));
  if (JSON.stringify(data) === wanted) return before;
  const splice = spliceFor(await import("yaml"), before, path);
  for (const rendered of splice ? renderings(value, text.slice(splice.from, splice.to)) : []) {
    const { from, to, wrap } = splice!;
    const report = new DocumentReport(file, kind);
    const after = await readYaml(text.slice(0, from) + wrap(rendered) + text.slice(to), report);
    if (after && report.isClean && JSON.stringify(after.data) === wanted) return after;
  }
  return null;
}

/** Returns a copy of `data` with `value` at `path`; a field that is new comes last in its map. */
function withValue(data: unknown, path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const map = typeof data === "object" && data !== null ? data as Record<string, unknown> : {};
  return { ...map, [step]: withValue(Object.hasOwn(map, step) ? map[step] : undefined, rest, value) };
}

/** Ways to write a value, the one most like what stood there first. */
function renderings(value: unknown, old: string): string[] {
  const json = JSON.stringify(value);
  if (typeof value !== "string") return [json];
  const plain = /^[A-Za-z0-9][A-Za-z0-9 _./:@+-]*$/.test(value) && !value.endsWith(" ") ? [value] : [];
  const single = /^[^'\p{C}]*$/u.test(value) ? [`'${value}'`] : [];
  if (old.startsWith("'")) return [...single, json];
  return old.startsWith('"') ? [json] : [...plain, json];
}

/** Finds the text to change: the value itself, or the nearest map above it that is there. */
function spliceFor(yaml: Yaml, { text, syntax }: YamlDocument, path: readonly string[]): Splice | null {
  let node: unknown = syntax().contents;
  for (const [index, step] of path.entries()) {
    if (!yaml.isMap(node)) return null;
    const pair: Pair | undefined = node.items.find(({ key }) => yaml.isScalar(key) && key.value === step);
    if (!pair) return addition(yaml, text, node, path.slice(index));
    if (isEmpty(yaml, pair.value)) return fill(yaml, text, pair, path.slice(index + 1));
    node = pair.value;
  }
  if (!yaml.isScalar(node) || !node.range) return null;
  const [from, to] = node.range;
  const old = text.slice(from, to);
  // A block scalar ends with its line.
  return { from, to, wrap: (value) => old.endsWith("\n") ? `${value}\n` : value };
}

function isEmpty(yaml: Yaml, value: unknown): boolean {
  return value === null || yaml.isScalar(value) && value.range !== undefined && value.range !== null &&
      value.range[0] === value.range[1];
}

/** Writes a value behind a key that has none. */
function fill(yaml: Yaml, text: string, { key }: Pair, rest: readonly string[]): Splice | null {
  const end = yaml.isNode(key) ? key.range?.[1] : undefined;
  const colon = end === undefined ? -1 : text.indexOf(":", end);
  if (end === undefined || colon < 0 || text.slice(end, colon).trim() !== "") return null;
  return { from: colon + 1, to: colon + 1, wrap: (value) => ` ${nested(rest, value)}` };
}

/** Adds a field to a map: on a line of its own, or before the closing brace. */
function addition(yaml: Yaml, text: string, map: YAMLMap, path: readonly string[]): Splice | null {
  const [name = "", ...rest] = path;
  if (!map.range) return null;
  const field = (value: string): string => `${keyText(name)}: ${nested(rest, value)}`;
  const last = map.items.at(-1);
  if (map.flow) {
    const inner = text.slice(map.range[0], map.range[1]);
    if (!inner.startsWith("{") || !inner.endsWith("}")) return null;
    const close = map.range[1] - 1;
    const end = map.range[0] + inner.slice(0, -1).trimEnd().length;
    const glue = last ? text[end - 1] === "," ? " " : ", " : " ";
    return { from: end, to: end, wrap: (value) => `${glue}${field(value)}${end === close ? " " : ""}` };
  }
  const first = map.items[0];
  const start = yaml.isNode(first?.key) ? first.key.range?.[0] : undefined;
  if (start === undefined) return null;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const indent = text.slice(lineStart, start);
  // A map that starts behind a dash or another key has no indentation to copy.
  if (indent.trim() !== "") return null;
  const content = text.slice(0, map.range[1]).trimEnd();
  const lineEnd = text.indexOf("\n", content.length);
  const end = lineEnd < 0 ? text.length : lineEnd - (text[lineEnd - 1] === "\r" ? 1 : 0);
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  return { from: end, to: end, wrap: (value) => `${newline}${indent}${field(value)}` };
}

function nested(path: readonly string[], value: string): string {
  return path.reduceRight((inner, name) => `{ ${keyText(name)}: ${inner} }`, value);
}

function keyText(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && !/^(?:true|false|null|y|n|yes|no|on|off)$/i.test(name)
    ? name
    : JSON.stringify(name);
}

/** Returns data as the text of a new YAML document. */
export async function yamlText(data: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(data);
}
