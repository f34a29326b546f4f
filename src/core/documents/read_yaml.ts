/**
 * YAML text to plain JSON data that knows the place of each value. The text is not trusted: its size, its depth and the
 * data its aliases unfold to are bounded before anything is built from it.
 *
 * @module
 */
import type { Document, Node } from "yaml";
import { shown } from "../values/shown_value.ts";
import { type DocumentKind, DocumentReport, type SourceDocument } from "./document_report.ts";
import { type Place, placeFinder, Spot } from "./places.ts";

type Yaml = typeof import("yaml");

/** A YAML document that was read. */
export interface YamlDocument extends SourceDocument {
  /**
   * Returns the library's syntax tree, from which an editor knows what to change. It is parsed anew: a host keeps its
   * project for as long as it runs, and the tree takes more memory than everything else that is kept of it.
   */
  syntax(): Document;
}

/** Duplicate keys are found here: the library compares every key of a map with every other. */
const PARSE_OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
const MAX_DEPTH = 64;
const MAX_PARTS = 50_000;
const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ["map", "seq", "str", "int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Reads YAML text that `file` names in issues. Mistakes that leave the rest of it readable are in its report.
 *
 * @throws {HostError} `<room>.invalid` when there is nothing to check.
 */
export async function parseYaml(text: string, file: string, kind: DocumentKind): Promise<YamlDocument> {
  const report = new DocumentReport(file, kind);
  const document = await readYaml(text, report);
  if (!document) report.throwErrors();
  return document!;
}

/**
 * Reads one YAML document as JSON data. Every mistake goes to `report`. Returns null when the rest of the document has
 * no meaning because of one.
 */
export async function readYaml(text: string, report: DocumentReport): Promise<YamlDocument | null> {
  if (!report.fits(text)) return null;
  const yaml = await import("yaml");
  const placeAt = placeFinder(text);
  const { maxParts = MAX_PARTS } = report.kind;
  const lexemes = boundedLexemes(yaml, text, maxParts);
  if (!Array.isArray(lexemes)) {
    report.errorAt(report.code(lexemes.reason), placeAt(lexemes.offset));
    return null;
  }
  const [first, second] = documentsOf(yaml, lexemes, text.length);
  for (const { message, pos } of first!.errors) {
    report.errorAt(report.code("yaml_syntax"), placeAt(pos[0]), { message });
  }
  if (second) report.errorAt(report.code("yaml_documents"), placeAt(second.range[0]));
  if (!report.isClean) return null;
  const builder = new TreeBuilder(yaml, report, placeAt, maxParts / 2);
  try {
    const data = builder.build(first!.contents);
    return { text, data, report, syntax: () => yaml.parseDocument(text, PARSE_OPTIONS) };
  } catch (thrown) {
    if (thrown instanceof TreeTooLarge) return null;
    throw thrown;
  }
}

/** Parses at most two documents, of which the second is one too many. Empty text is one without contents. */
function documentsOf(yaml: Yaml, lexemes: readonly string[], length: number): Document.Parsed[] {
  const parser = new yaml.Parser();
  function* tokens(): ReturnType<typeof parser.parse> {
    for (const lexeme of lexemes) yield* parser.next(lexeme);
    yield* parser.end();
  }
  const found: Document.Parsed[] = [];
  for (const document of new yaml.Composer(PARSE_OPTIONS).compose(tokens(), true, length)) {
    if (found.push(document) > 1) break;
  }
  return found;
}

/** The reason why a text is not parsed, and where it begins. */
interface Excess {
  readonly reason: string;
  readonly offset: number;
}

/**
 * Returns the lexemes of a text, or where it has more parts or levels than such a file can need: the parser behind them
 * goes one call deeper for each level, and an exhausted stack ends the whole process on some versions of V8.
 */
function boundedLexemes(yaml: Yaml, text: string, maxLexemes: number): string[] | Excess {
  const lexemes: string[] = [];
  const indents: number[] = [];
  let [offset, count, flow, indent, marks] = [0, 0, 0, 0, 0];
  let [isLineStart, isContent] = [true, false];
  for (const lexeme of new yaml.Lexer().lex(text)) {
    lexemes.push(lexeme);
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
  return lexemes;
}

/** Ends the building of a tree that has grown too large. */
class TreeTooLarge extends Error {}

/** Turns nodes into plain data and notes their places. */
class TreeBuilder {
  readonly #yaml: Yaml;
  readonly #report: DocumentReport;
  readonly #placeAt: (offset: number) => Place;
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  #nodesLeft: number;

  constructor(yaml: Yaml, report: DocumentReport, placeAt: (offset: number) => Place, maxNodes: number) {
    this.#yaml = yaml;
    this.#report = report;
    this.#placeAt = placeAt;
    this.#nodesLeft = maxNodes;
  }

  build(contents: unknown): unknown {
    const root = new Spot(this.#placeAt(this.#startOf(contents, null)));
    this.#report.locateWith(root);
    return this.#convert(contents, root);
  }

  #convert(node: unknown, spot: Spot): unknown {
    const { isAlias, isMap, isNode, isScalar, isSeq } = this.#yaml;
    if (--this.#nodesLeft < 0) this.#giveUp("too_large", spot);
    if (spot.depth > MAX_DEPTH) this.#giveUp("too_deep", spot);
    if (!isNode(node)) return null;
    if (isAlias(node)) return this.#unfold(node.source, spot);
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag)) {
      this.#refuse("yaml_tag", spot, `Tag ${shown(node.tag)} has no meaning here`);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#scalar(node.value, spot);
    this.#open.add(node);
    let value: unknown = null;
    if (isSeq(node)) value = node.items.map((item, index) => this.#child(item, index, spot));
    else if (isMap(node)) value = this.#map(node.items, spot);
    this.#open.delete(node);
    return value;
  }

  #child(node: unknown, step: string | number, parent: Spot, keyAt: number | null = null): unknown {
    const key = keyAt === null ? undefined : this.#placeAt(keyAt);
    return this.#convert(node, parent.add(step, this.#placeAt(this.#startOf(node, keyAt)), key));
  }

  /** Returns the offset of a value. An empty value stands after its line: its key shows the place better. */
  #startOf(node: unknown, keyAt: number | null): number {
    const { isNode, isScalar } = this.#yaml;
    const [start, end] = (isNode(node) ? node.range : null) ?? [keyAt ?? 0];
    return isScalar(node) && start === end ? keyAt ?? start : start;
  }

  #map(items: readonly { key: unknown; value: unknown }[], spot: Spot): Record<string, unknown> {
    const { isNode, isScalar } = this.#yaml;
    const map: Record<string, unknown> = {};
    for (const { key, value } of items) {
      const at = (isNode(key) ? key.range?.[0] : undefined) ?? null;
      const place = at === null ? this.#report.placeOf(spot.path, "value") : this.#placeAt(at);
      const name = isScalar(key) ? key.value : undefined;
      if (typeof name !== "string") {
        const message = `A key is not a string: ${shown(name ?? null)}`;
        this.#report.errorAt(this.#report.code("yaml_key"), place, { message });
      } else if (Object.hasOwn(map, name)) {
        const message = `Key ${shown(name)} stands twice in one map`;
        this.#report.errorAt(this.#report.code("yaml_duplicate_key"), place, { message });
      } else {
        const converted = this.#child(value, name, spot, at);
        if (name !== "__proto__") map[name] = converted;
        else this.#report.error(this.#report.code("forbidden_key"), [...spot.path, name], { part: "key" });
      }
    }
    return map;
  }

  #scalar(value: unknown, spot: Spot): unknown {
    if (typeof value !== "number" || Number.isFinite(value)) return value ?? null;
    this.#refuse("yaml_number", spot);
    return null;
  }

  /** Converts the value behind an alias once more, in the alias's place, so that everything unfolded is counted. */
  #unfold(name: string, spot: Spot): unknown {
    const node = this.#anchors.get(name);
    if (node && !this.#open.has(node)) return this.#convert(node, spot);
    this.#refuse("yaml_alias", spot, `Alias ${shown(name)} points at nothing, or at itself`);
    return null;
  }

  #refuse(reason: string, { path }: Spot, message?: string): void {
    this.#report.error(this.#report.code(reason), path, { message });
  }

  #giveUp(reason: string, spot: Spot): never {
    this.#refuse(reason, spot);
    throw new TreeTooLarge();
  }
}
