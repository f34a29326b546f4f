/**
 * TOML text to plain JSON data that knows the place of each value. A syntax error is reported without the text around
 * it, which may be a secret.
 *
 * @module
 */
import { messageOf } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import { type DocumentKind, DocumentReport, type SourceDocument } from "./document_report.ts";
import { FILE_START, type Place, placeFinder, Spot } from "./places.ts";
import { readDocumentText } from "./read_text.ts";

/** A TOML document that was read, with the comments in it: an editor must not lose any. */
export interface TomlDocument extends SourceDocument<Readonly<Record<string, unknown>>> {
  readonly comments: readonly string[];
}

const MAX_DEPTH = 32;
const MAX_NODES = 20_000;

/** A part of the library's syntax tree. */
interface SyntaxNode {
  readonly type: string;
  readonly raw?: string;
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } };
  readonly key?: SyntaxNode;
  readonly value?: unknown;
  readonly item?: SyntaxNode;
  readonly items?: readonly SyntaxNode[];
}

/**
 * Reads a TOML file; one that is not there reads as an empty text.
 *
 * @throws {HostError} `<room>.unreadable`, or `<room>.invalid` with every issue in `data.issues`.
 */
export async function openToml(
  file: string,
  kind: DocumentKind,
  files: Files,
): Promise<TomlDocument & { readonly exists: boolean }> {
  const text = await readDocumentText(new DocumentReport(file, kind), files);
  return { ...await parseToml(text ?? "", file, kind), exists: text !== null };
}

/**
 * Reads TOML text; `file` names it in issues.
 *
 * @throws {HostError} `<room>.invalid`. No issue holds a value of the file.
 */
export async function parseToml(text: string, file: string, kind: DocumentKind): Promise<TomlDocument> {
  const report = new DocumentReport(file, kind);
  const document = await readToml(text, report);
  report.throwErrors();
  return document!;
}

/** Reads TOML. Mistakes go to `report`, and then null is returned. */
export async function readToml(text: string, report: DocumentReport): Promise<TomlDocument | null> {
  if (!report.fits(text)) return null;
  const toml = await import("@decimalturn/toml-patch");
  const problem = tooDeep(text);
  if (problem) {
    report.errorAt(report.code("toml_syntax"), problem, { message: "Values are nested too deeply" });
    return null;
  }
  try {
    const { cst, toJsObject } = toml.parseDocument(text);
    const { root, comments } = syntaxOf(cst as Iterable<SyntaxNode>);
    report.locateWith(root);
    const data = plainOf(toJsObject, { left: MAX_NODES }, 0);
    return { text, data: data as Record<string, unknown>, report, comments };
  } catch (thrown) {
    const { line, column } = thrown as { line?: unknown; column?: unknown };
    const place = { line: atLeastOne(line), column: atLeastOne(Number(column) + 1) };
    if (thrown instanceof TooLarge) report.errorAt(report.code("too_large"));
    else if (DUPLICATE.test(messageOf(thrown))) report.errorAt(report.code("toml_duplicate_key"), place);
    else report.errorAt(report.code("toml_syntax"), place, { message: reasonOf(thrown) });
  }
  return null;
}

/** The library's reasons for a key or a table that was there before. */
const DUPLICATE = /already defined|Duplicate key|redefine/i;

/** Our words for the library's reasons, which may quote the text. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/Newline \(0x0A\) not allowed in basic strings/, "A text does not end on its line"],
  [/Control character/i, "A character may not stand here"],
  [/unterminated|unclosed|Expected (?:end|closing)|missing closing/i, "Something is opened and not closed"],
  [
    /Invalid (?:float|integer|number|date|datetime|time|boolean|escape|key|unicode)/i,
    "A value or key cannot be read: texts need quotes",
  ],
];

function reasonOf(thrown: unknown): string {
  const message = messageOf(thrown);
  return REASONS.find(([reason]) => reason.test(message))?.[1] ?? "The TOML cannot be read here";
}

function atLeastOne(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(1, value as number) : 1;
}

/** Finds where brackets are nested deeper than any such file needs: the parser goes one call deeper for each. */
function tooDeep(text: string): Place | null {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    // Brackets inside texts count too: no key or secret needs this many that never close.
    if (char === "[" || char === "{") depth++;
    if (char === "]" || char === "}") depth = Math.max(0, depth - 1);
    if (depth > MAX_DEPTH * 4) return placeFinder(text)(at);
  }
  return null;
}

/** Finds the place of every key and value, and every comment. */
function syntaxOf(blocks: Iterable<SyntaxNode>): { readonly root: Spot; readonly comments: readonly string[] } {
  const root = new Spot(FILE_START);
  const comments: string[] = [];
  const counts = new Map<string, number>();
  const visit = (node: SyntaxNode, base: Spot): void => {
    if (node.type === "Comment") comments.push(node.raw ?? "");
    if (node.type !== "KeyValue") return;
    const value = node.value as SyntaxNode;
    visitItems(value, below(base, node.key, value));
  };
  const visitItems = (value: SyntaxNode, spot: Spot): void => {
    let index = 0;
    for (const part of value.items ?? []) {
      const item = part.type === "InlineItem" ? part.item! : part;
      if (item.type === "KeyValue" || item.type === "Comment") visit(item, spot);
      else visitItems(item, spot.add(index++, placeOf(item)));
    }
  };
  for (const block of blocks) {
    if (block.type !== "Table" && block.type !== "TableArray") {
      visit(block, root);
      continue;
    }
    let spot = below(root, block.key?.item, block.key!);
    if (block.type === "TableArray") {
      const name = JSON.stringify(spot.path);
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      spot = spot.add(count, placeOf(block.key!));
    }
    for (const item of block.items ?? []) visit(item, spot);
  }
  return { root, comments };
}

/** Goes from a spot along a dotted key to the spot of its value. */
function below(base: Spot, key: SyntaxNode | undefined, value: SyntaxNode): Spot {
  const steps = Array.isArray(key?.value) ? key.value.map(String) : [];
  return steps.reduce((spot, step) => spot.add(step, placeOf(value), placeOf(key!)), base);
}

function placeOf({ loc }: SyntaxNode): Place {
  return loc ? { line: loc.start.line, column: loc.start.column + 1 } : FILE_START;
}

/** Ends the reading of a file that holds too many values. */
class TooLarge extends Error {}

/** Returns a TOML value as JSON data: dates as texts, large whole numbers as texts, no other prototype. */
function plainOf(value: unknown, nodes: { left: number }, depth: number): unknown {
  if (--nodes.left < 0 || depth > MAX_DEPTH) throw new TooLarge();
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => plainOf(item, nodes, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainOf(item, nodes, depth + 1)]));
}
