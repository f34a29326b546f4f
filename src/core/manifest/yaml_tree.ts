/**
 * YAML text to plain JSON data that knows where each value stands. The text is not trusted: its size, its depth and
 * what its aliases unfold to are bounded before anything is built from it.
 *
 * @module
 */
import type { Document, Node } from "yaml";
import type { DocumentPath, ManifestReport, Place, PlaceFinder } from "./manifest_report.ts";
import { shown } from "./shown_value.ts";

type Yaml = typeof import("yaml");

const MAX_DEPTH = 64;
const MAX_LEXEMES = 50_000;
const MAX_NODES = 20_000;
const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ["map", "seq", "str", "int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Reads one YAML document as JSON data. Everything that is wrong goes to `report`. Returns null when it is so much
 * that the rest of the document has no meaning.
 */
export async function readYamlTree(text: string, report: ManifestReport): Promise<{ readonly data: unknown } | null> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const excess = findExcess(yaml, text);
  if (excess) {
    const before = text.slice(0, excess.offset).split("\n");
    report.errorAt(excess.code, { line: before.length, column: before.at(-1)!.length + 1 });
    return null;
  }
  // Duplicate keys are found below: the library compares every key of a map with every other.
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
  const document = yaml.parseDocument(text, options);
  for (const { code, message, pos } of document.errors) {
    const known = code === "MULTIPLE_DOCS" ? "manifest.yaml_documents" : "manifest.yaml_syntax";
    report.errorAt(known, placeAt(pos[0]), known === "manifest.yaml_syntax" ? { message } : {});
  }
  if (!report.isClean) return null;
  const builder = new TreeBuilder(yaml, document, report, placeAt);
  report.locateWith(builder);
  return builder.build();
}

/**
 * Finds where a text has more parts or levels than a manifest can need, from its lexemes alone: the parser behind
 * them goes one call deeper for each level, and an exhausted stack ends the whole process on some versions of V8.
 */
function findExcess(yaml: Yaml, text: string): { code: string; offset: number } | null {
  const indents: number[] = [];
  let [offset, count, flow, indent, marks] = [0, 0, 0, 0, 0];
  let [isLineStart, isContent] = [true, false];
  for (const lexeme of new yaml.Lexer().lex(text)) {
    // The lexeme after a scalar marker is content, whatever it looks like; a block scalar ends with its line.
    const type = isContent ? "content" : yaml.CST.tokenType(lexeme);
    isContent = type === "scalar";
    if (isContent || type === "doc-mode" || type === "flow-error-end") continue;
    if (++count > MAX_LEXEMES) return { code: "manifest.too_large", offset };
    if (type === "newline" || type === "content" && lexeme.endsWith("\n")) {
      [indent, marks, isLineStart] = [0, 0, true];
    } else if (type === "space" && isLineStart) indent = lexeme.length;
    else isLineStart = false;
    if (type === "flow-seq-start" || type === "flow-map-start") flow++;
    if (type === "flow-seq-end" || type === "flow-map-end") flow = Math.max(0, flow - 1);
    if (flow === 0 && (type === "seq-item-ind" || type === "explicit-key-ind" || type === "map-value-ind")) {
      if (++marks === 1) {
        while (indents.length > 0 && indents.at(-1)! >= indent) indents.pop();
        indents.push(indent);
      }
    }
    if (indents.length + marks + flow > MAX_DEPTH * 2) return { code: "manifest.too_deep", offset };
    offset += lexeme.length;
  }
  return null;
}

interface Spot {
  readonly key: number | null;
  readonly value: number;
}

/** Ends the building of a tree that has grown too large. */
class TreeTooLarge extends Error {}

/** Turns nodes into plain data and remembers where they stood. */
class TreeBuilder implements PlaceFinder {
  readonly #yaml: Yaml;
  readonly #document: Document;
  readonly #report: ManifestReport;
  readonly #placeAt: (offset: number) => Place;
  readonly #spots = new Map<string, Spot>();
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  #nodes = 0;

  constructor(yaml: Yaml, document: Document, report: ManifestReport, placeAt: (offset: number) => Place) {
    this.#yaml = yaml;
    this.#document = document;
    this.#report = report;
    this.#placeAt = placeAt;
  }

  build(): { readonly data: unknown } | null {
    try {
      return { data: this.#convert(this.#document.contents, [], null) };
    } catch (thrown) {
      if (!(thrown instanceof TreeTooLarge)) throw thrown;
      return null;
    }
  }

  placeOf(path: DocumentPath, part: "key" | "value"): Place {
    for (let length = path.length; length >= 0; length--) {
      const spot = this.#spots.get(JSON.stringify(path.slice(0, length)));
      if (spot) return this.#placeAt(part === "key" && length === path.length ? spot.key ?? spot.value : spot.value);
    }
    return { line: 1, column: 1 };
  }

  #convert(node: unknown, path: DocumentPath, key: number | null): unknown {
    const { isAlias, isMap, isNode, isScalar, isSeq } = this.#yaml;
    const start = isNode(node) && node.range ? node.range[0] : key ?? 0;
    // An empty value stands after its line: its key shows the place better.
    const isEmpty = !isNode(node) || isScalar(node) && node.range?.[0] === node.range?.[1];
    const spot = JSON.stringify(path);
    if (!this.#spots.has(spot)) this.#spots.set(spot, { key, value: isEmpty ? key ?? start : start });
    if (++this.#nodes > MAX_NODES) this.#giveUp("manifest.too_large", path);
    if (path.length > MAX_DEPTH) this.#giveUp("manifest.too_deep", path);
    if (!isNode(node)) return null;
    if (isAlias(node)) return this.#unfold(node.source, path, key);
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag)) {
      this.#report.error("manifest.yaml_tag", path, { message: `Tag ${shown(node.tag)} has no meaning in a manifest` });
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    let value: unknown = null;
    if (isScalar(node)) value = this.#scalar(node.value, path);
    else if (isSeq(node)) value = node.items.map((item, index) => this.#convert(item, [...path, index], null));
    else if (isMap(node)) value = this.#map(node.items, path);
    this.#open.delete(node);
    return value;
  }

  #map(items: readonly { key: unknown; value: unknown }[], path: DocumentPath): Record<string, unknown> {
    const { isNode, isScalar } = this.#yaml;
    const map: Record<string, unknown> = {};
    for (const { key, value } of items) {
      const at = (isNode(key) ? key.range?.[0] : undefined) ?? null;
      const name = isScalar(key) ? key.value : undefined;
      if (typeof name !== "string") {
        const place = at === null ? this.placeOf(path, "value") : this.#placeAt(at);
        this.#report.errorAt("manifest.yaml_key", place, { message: `A key is not a string: ${shown(name ?? null)}` });
        continue;
      }
      const below = [...path, name];
      if (Object.hasOwn(map, name)) {
        const message = `Key ${shown(name)} stands twice in one map`;
        this.#report.errorAt("manifest.yaml_duplicate_key", this.#placeAt(at ?? 0), { message });
        continue;
      }
      const converted = this.#convert(value, below, at);
      if (name !== "__proto__") map[name] = converted;
      else this.#report.error("manifest.forbidden_key", below, { part: "key" });
    }
    return map;
  }

  #scalar(value: unknown, path: DocumentPath): unknown {
    if (typeof value !== "number" || Number.isFinite(value)) return value ?? null;
    this.#report.error("manifest.yaml_number", path);
    return null;
  }

  /** Converts what an alias points at once more, in its own place, so that everything unfolded is counted. */
  #unfold(name: string, path: DocumentPath, key: number | null): unknown {
    const node = this.#anchors.get(name);
    if (node && !this.#open.has(node)) return this.#convert(node, path, key);
    this.#report.error("manifest.yaml_alias", path, {
      message: `Alias ${shown(name)} points at nothing, or at itself`,
    });
    return null;
  }

  #giveUp(code: string, path: DocumentPath): never {
    this.#report.error(code, path);
    throw new TreeTooLarge();
  }
}
