/**
 * TOML text to plain JSON data that knows where each value stands. A syntax error is told without the text around it,
 * which may be a secret.
 *
 * @module
 */
import { messageOf } from "../errors/host_error.ts";
import type { DocumentPath, DocumentReport, Place } from "./document_report.ts";

const MAX_DEPTH = 32;
const MAX_NODES = 20_000;

/** What the library tells about a part of the text. */
interface SyntaxNode {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } };
  readonly key?: SyntaxNode & { readonly item?: SyntaxNode };
  readonly value?: unknown;
  readonly item?: SyntaxNode;
  readonly items?: readonly SyntaxNode[];
}

/** Reads TOML. What is wrong goes to `report`, and then null is returned. */
export async function readTomlTree(text: string, report: DocumentReport): Promise<Record<string, unknown> | null> {
  const toml = await import("@decimalturn/toml-patch");
  const problem = tooDeep(text);
  if (problem) {
    report.errorAt(report.code("toml_syntax"), problem, { message: "Values are nested too deeply" });
    return null;
  }
  try {
    const document = toml.parseDocument(text);
    const places = placesIn(document.cst as Iterable<SyntaxNode>);
    report.locateWith({
      placeOf(path, part) {
        for (let length = path.length; length > 0; length--) {
          const place = places.get(JSON.stringify(path.slice(0, length).map(String)));
          if (place) return part === "key" && length === path.length ? place.key : place.value;
        }
        return { line: 1, column: 1 };
      },
    });
    const plain = plainOf(document.toJsObject, { nodes: 0 }, 0);
    if (plain !== TOO_LARGE) return plain as Record<string, unknown>;
    report.errorAt(report.code("too_large"), { line: 1, column: 1 });
  } catch (thrown) {
    const { line, column } = thrown as { line?: unknown; column?: unknown };
    const place = { line: atLeastOne(line), column: atLeastOne(Number(column) + 1) };
    report.errorAt(report.code("toml_syntax"), place, { message: reasonOf(thrown) });
  }
  return null;
}

/** Reasons the library gives that hold nothing of the text. */
const REASONS: readonly RegExp[] = [
  /Newline \(0x0A\) not allowed in basic strings/,
  /Control character/i,
  /already defined|Duplicate key|redefine/i,
  /unterminated|unclosed|Expected (?:end|closing)|missing closing/i,
  /Invalid (?:float|integer|number|date|datetime|time|boolean|escape|key|unicode)/i,
];
const SAYINGS: readonly string[] = [
  "A text does not end on its line",
  "A character may not stand here",
  "A key stands twice",
  "Something is opened and not closed",
  "A value or key cannot be read: texts need quotes",
];

function reasonOf(thrown: unknown): string {
  const index = REASONS.findIndex((reason) => reason.test(messageOf(thrown)));
  return SAYINGS[index] ?? "The TOML cannot be read here";
}

function atLeastOne(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(1, value as number) : 1;
}

/** Finds where brackets are nested deeper than any such file needs: the parser goes one call deeper for each. */
function tooDeep(text: string): Place | null {
  let [depth, line, lineStart] = [0, 1, 0];
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === "\n") [line, lineStart] = [line + 1, index + 1];
    // Brackets inside texts count too: no key or secret needs this many that never close.
    if (char === "[" || char === "{") depth++;
    if (char === "]" || char === "}") depth = Math.max(0, depth - 1);
    if (depth > MAX_DEPTH * 4) return { line, column: index - lineStart + 1 };
  }
  return null;
}

interface Places {
  readonly key: Place;
  readonly value: Place;
}

/** Finds where every key and value stands. */
function placesIn(blocks: Iterable<SyntaxNode>): ReadonlyMap<string, Places> {
  const places = new Map<string, Places>();
  const counts = new Map<string, number>();
  const note = (path: DocumentPath, key: SyntaxNode | undefined, value: SyntaxNode | undefined): void => {
    const at = placeOf(value ?? key);
    const name = JSON.stringify(path.map(String));
    if (!places.has(name)) places.set(name, { key: placeOf(key ?? value), value: at });
  };
  const visit = (node: SyntaxNode, base: DocumentPath): void => {
    if (node.type === "KeyValue") {
      const path = [...base, ...keySteps(node.key)];
      const value = node.value as SyntaxNode;
      note(path, node.key, value);
      visitValue(value, path);
    }
  };
  const visitValue = (value: SyntaxNode, path: DocumentPath): void => {
    (value.items ?? []).filter(({ type }) => type === "InlineItem").forEach(({ item }, index) => {
      if (!item) return;
      if (item.type === "KeyValue") visit(item, path);
      else {
        note([...path, index], undefined, item);
        visitValue(item, [...path, index]);
      }
    });
  };
  for (const block of blocks) {
    if (block.type === "KeyValue") visit(block, []);
    if (block.type !== "Table" && block.type !== "TableArray") continue;
    let path: DocumentPath = keySteps(block.key?.item);
    if (block.type === "TableArray") {
      const name = JSON.stringify(path);
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      path = [...path, count];
    }
    note(path, block.key, block.key);
    for (const item of block.items ?? []) visit(item, path);
  }
  return places;
}

function keySteps(key: SyntaxNode | undefined): string[] {
  return Array.isArray(key?.value) ? key.value.map(String) : [];
}

function placeOf(node: SyntaxNode | undefined): Place {
  const start = node?.loc?.start;
  return { line: start?.line ?? 1, column: (start?.column ?? 0) + 1 };
}

const TOO_LARGE = Symbol("too large");

/** Returns a TOML value as JSON data: dates as texts, large whole numbers as texts, no other prototype. */
function plainOf(value: unknown, count: { nodes: number }, depth: number): unknown {
  if (++count.nodes > MAX_NODES || depth > MAX_DEPTH) return TOO_LARGE;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) {
    const items = value.map((item) => plainOf(item, count, depth + 1));
    return items.includes(TOO_LARGE) ? TOO_LARGE : items;
  }
  const entries = Object.entries(value).map(([key, item]) => [key, plainOf(item, count, depth + 1)] as const);
  return entries.some(([, item]) => item === TOO_LARGE) ? TOO_LARGE : Object.fromEntries(entries);
}
