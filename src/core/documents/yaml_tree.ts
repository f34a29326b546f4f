/**
 * YAML text to plain JSON data that knows where each value stands. The text is not trusted: its size, its depth and
 * what its aliases unfold to are bounded before anything is built from it.
 *
 * @module
 */
import type { Document, Node } from "yaml";
import { shown } from "../values/shown_value.ts";
import type { DocumentPath, DocumentReport, Place, PlaceFinder } from "./document_report.ts";

type Yaml = typeof import("yaml");

/** How much of a text is read. */
export interface YamlLimits {
  /** Parts of the text itself. */
  readonly maxLexemes: number;
  /** Values, with those that aliases repeat. */
  readonly maxNodes: number;
}

const MAX_DEPTH = 64;
const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ["map", "seq", "str", "int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Reads one YAML document as JSON data. Everything that is wrong goes to `report`. Returns null when it is so much
 * that the rest of the document has no meaning.
 */
export async function readYamlTree(
  text: string,
  report: DocumentReport,
  limits: YamlLimits,
): Promise<{ readonly data: unknown } | null> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const excess = findExcess(yaml, text, limits);
  if (excess) {
    const before = text.slice(0, excess.offset).split("\n");
    report.errorAt(report.code(excess.reason), { line: before.length, column: before.at(-1)!.length + 1 });
    return null;
  }
  // Duplicate keys are found below: the library compares every key of a map with every other.
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
  const document = yaml.parseDocument(text, options);
  for (const { code, message, pos } of document.errors) {
    const isSyntax = code !== "MULTIPLE_DOCS";
    const known = report.code(isSyntax ? "yaml_syntax" : "yaml_documents");
    report.errorAt(known, placeAt(pos[0]), isSyntax ? { message } : {});
  }
  if (!report.isClean) return null;
  const builder = new TreeBuilder(yaml, document, { report, placeAt, maxNodes: limits.maxNodes });
  report.locateWith(builder);
  return builder.build();
}

/**
 * Finds where a text has more parts or levels than such a file can need, from its lexemes alone: the parser behind
 * them goes one call deeper for each level, and an exhausted stack ends the whole process on some versions of V8.
 */
function findExcess(
  yaml: Yaml,
  text: string,
  { maxLexemes }: YamlLimits,
): { reason: string; offset: number } | null {
  const indents: number[] = [];
  let [offset, count, flow, indent, marks] = [0, 0, 0, 0, 0];
  let [isLineStart, isContent] = [true, false];
  for (const lexeme of new yaml.Lexer().lex(text)) {
    // The lexeme after a scalar marker is content, whatever it looks like; a block scalar ends with its line.
    const type = isContent ? "content" : yaml.CST.tokenType(lexeme);
    isContent = type === "scalar";
    if (isContent || type === "doc-mode" || type === "flow-error-end") continue;
    if (++count > maxLexemes) return { reason: "too_large", offset };
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
    if (indents.length + marks + flow > MAX_DEPTH * 2) return { reason: "too_deep", offset };
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
  readonly #report: DocumentReport;
  readonly #placeAt: (offset: number) => Place;
  readonly #spots = new Map<string, Spot>();
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  readonly #maxNodes: number;
  #nodes = 0;

  constructor(yaml: Yaml, document: Document, { report, placeAt, maxNodes }: {
    readonly report: DocumentReport;
    readonly placeAt: (offset: number) => Place;
    readonly maxNodes: number;
  }) {
    this.#yaml = yaml;
    this.#document = document;
    this.#report = report;
    this.#placeAt = placeAt;
    this.#maxNodes = maxNodes;
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
    if (++this.#nodes > this.#maxNodes) this.#giveUp("too_large", path);
    if (path.length > MAX_DEPTH) this.#giveUp("too_deep", path);
    if (!isNode(node)) return null;
    if (isAlias(node)) return this.#unfold(node.source, path, key);
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag)) {
      const message = `Tag ${shown(node.tag)} has no meaning here`;
      this.#report.error(this.#report.code("yaml_tag"), path, { message });
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
        this.#report.errorAt(this.#report.code("yaml_key"), place, {
          message: `A key is not a string: ${shown(name ?? null)}`,
        });
        continue;
      }
      const below = [...path, name];
      if (Object.hasOwn(map, name)) {
        const message = `Key ${shown(name)} stands twice in one map`;
        this.#report.errorAt(this.#report.code("yaml_duplicate_key"), this.#placeAt(at ?? 0), { message });
        continue;
      }
      const converted = this.#convert(value, below, at);
      if (name !== "__proto__") map[name] = converted;
      else this.#report.error(this.#report.code("forbidden_key"), below, { part: "key" });
    }
    return map;
  }

  #scalar(value: unknown, path: DocumentPath): unknown {
    if (typeof value !== "number" || Number.isFinite(value)) return value ?? null;
    this.#report.error(this.#report.code("yaml_number"), path);
    return null;
  }

  /** Converts what an alias points at once more, in its own place, so that everything unfolded is counted. */
  #unfold(name: string, path: DocumentPath, key: number | null): unknown {
    const node = this.#anchors.get(name);
    if (node && !this.#open.has(node)) return this.#convert(node, path, key);
    this.#report.error(this.#report.code("yaml_alias"), path, {
      message: `Alias ${shown(name)} points at nothing, or at itself`,
    });
    return null;
  }

  #giveUp(reason: string, path: DocumentPath): never {
    this.#report.error(this.#report.code(reason), path);
    throw new TreeTooLarge();
  }
}
