/**
 * Removes one field from a YAML text and leaves every other character. The change is read again and compared: one that
 * would touch anything else is refused.
 *
 * @module
 */
import type { Pair, YAMLMap } from "yaml";
import { DocumentReport } from "./document_report.ts";
import { readYaml, type YamlDocument } from "./read_yaml.ts";
import { isMap } from "../values/plain_data.ts";

type Yaml = typeof import("yaml");

/**
 * Returns the document without the field at `path`; the same one when there is no such field. Returns null when the
 * change cannot be made without touching something else. A map that loses its last field may become empty.
 */
export async function removeYamlField(before: YamlDocument, path: readonly string[]): Promise<YamlDocument | null> {
  const { text, data, report: { file, kind } } = before;
  if (!hasField(data, path)) return before;
  const yaml = await import("yaml");
  const cut = cutFor(yaml, before, path);
  if (!cut) return null;
  const report = new DocumentReport(file, kind);
  const after = await readYaml(text.slice(0, cut.from) + text.slice(cut.to), report);
  const wanted = [{}, null].map((empty) => JSON.stringify(withoutField(data, path, empty)));
  return after && report.isClean && wanted.includes(JSON.stringify(after.data)) ? after : null;
}

function hasField(data: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  return isMap(data) && Object.hasOwn(data, step) && hasField(data[step], rest);
}

/** Returns a copy of `data` without the field; `empty` stands for a map that lost its last one. */
function withoutField(data: unknown, [step = "", ...rest]: readonly string[], empty: unknown): unknown {
  const { [step]: value, ...others } = data as Record<string, unknown>;
  if (rest.length > 0) return { ...data as object, [step]: withoutField(value, rest, empty) };
  return Object.keys(others).length === 0 ? empty : others;
}

interface Cut {
  readonly from: number;
  readonly to: number;
}

function cutFor(yaml: Yaml, { text, syntax }: YamlDocument, path: readonly string[]): Cut | null {
  let node: unknown = syntax().contents;
  for (const [index, step] of path.entries()) {
    if (!yaml.isMap(node)) return null;
    const map: YAMLMap = node;
    const at = map.items.findIndex(({ key }) => yaml.isScalar(key) && key.value === step);
    const pair: Pair | undefined = map.items[at];
    if (!pair) return null;
    if (index === path.length - 1) return map.flow ? flowCut(yaml, map, at) : lineCut(yaml, text, pair);
    node = pair.value;
  }
  return null;
}

/** The lines of a field in a map that has a line for each. */
function lineCut(yaml: Yaml, text: string, pair: Pair): Cut | null {
  const start = startOf(yaml, pair);
  const end = endOf(yaml, pair);
  if (start === null || end === null) return null;
  const from = text.lastIndexOf("\n", start - 1) + 1;
  // A field behind a dash or another key shares its line.
  if (text.slice(from, start).trim() !== "") return null;
  const content = text.slice(0, end).trimEnd().length;
  const lineEnd = text.indexOf("\n", content);
  return { from, to: lineEnd < 0 ? text.length : lineEnd + 1 };
}

/** A field between braces, with the comma that parts it from its neighbour. */
function flowCut(yaml: Yaml, map: YAMLMap, at: number): Cut | null {
  const pair = map.items[at] as Pair;
  const [start, end] = [startOf(yaml, pair), endOf(yaml, pair)];
  const next = map.items[at + 1] as Pair | undefined;
  const previous = map.items[at - 1] as Pair | undefined;
  if (start === null || end === null) return null;
  const nextStart = next ? startOf(yaml, next) : null;
  if (nextStart !== null) return { from: start, to: nextStart };
  const previousEnd = previous ? endOf(yaml, previous) : null;
  return { from: previousEnd ?? start, to: end };
}

function startOf(yaml: Yaml, { key }: Pair): number | null {
  return yaml.isNode(key) ? key.range?.[0] ?? null : null;
}

function endOf(yaml: Yaml, { key, value }: Pair): number | null {
  const last = yaml.isNode(value) ? value : key;
  return yaml.isNode(last) ? last.range?.[1] ?? null : null;
}
