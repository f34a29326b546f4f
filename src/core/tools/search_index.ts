/**
 * Finds tools by words: an index over their names, descriptions and schemas, ranked as BM25 ranks texts. The texts come
 * from plugins nobody trusts, so the work on each is bounded.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import type { AgentTool, AgentTools } from "./tool_registry.ts";

/** A tool, as much of it as a search looks at. */
export type SearchedTool = Pick<AgentTool, "name" | "description" | "parametersSchema" | "definition">;

/** An index over tools. */
export interface ToolIndex<T extends SearchedTool = SearchedTool> {
  /** In the order of their names. */
  readonly tools: readonly T[];
  /** Word → number of a tool → how often the tool has the word, by weight. */
  readonly postings: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Words of each tool, by weight. */
  readonly lengths: readonly number[];
  readonly meanLength: number;
}

/** How much a word counts where it stands. */
const WEIGHTS = { name: 4, title: 3, property: 2, description: 1, propertyDescription: 0.5 } as const;
/** Keywords of a schema whose values are data, and say nothing about what a tool does. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "required"]);
const MAX_TEXT = 4_000;
const MAX_SCHEMA_PARTS = 1_000;
const MAX_SCHEMA_DEPTH = 12;
const MAX_QUERY_WORDS = 32;
/** Words that find nothing in particular: a query is answered without them, unless it has no other. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  wordsOf("a an and any as at by can do for from how i in is it me my of on or please some that the this to tool with"),
);
/** Shorter words are the beginning of too many others. */
const MIN_PREFIX = 3;
const PREFIX_FACTOR = 0.7;
/** More than all other words together: a name that was asked for comes first. */
const NAMED = 1_000;
/** The usual constants of BM25: how soon more of a word stops to count, and how much long texts are held back. */
const [K1, B] = [1.2, 0.6];

/** Returns the index over the tools of an agent; it is made once for each list. */
export function indexOfTools(tools: AgentTools): ToolIndex<AgentTool> {
  const known = INDEXES.get(tools);
  if (known) return known;
  const index = indexTools(tools.values());
  INDEXES.set(tools, index);
  return index;
}

const INDEXES = new WeakMap<AgentTools, ToolIndex<AgentTool>>();

/** Makes an index over tools. */
export function indexTools<T extends SearchedTool>(given: Iterable<T>): ToolIndex<T> {
  const tools = [...given].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const postings = new Map<string, Map<number, number>>();
  const lengths = tools.map((tool, number) => {
    let length = 0;
    const add = (text: unknown, weight: number): void => {
      if (typeof text !== "string") return;
      for (const word of wordsOf(text)) {
        let found = postings.get(word);
        if (!found) postings.set(word, found = new Map());
        found.set(number, (found.get(number) ?? 0) + weight);
        length += weight;
      }
    };
    add(tool.name, WEIGHTS.name);
    add(tool.definition?.["title"], WEIGHTS.title);
    add(tool.description, WEIGHTS.description);
    addSchema(tool.parametersSchema, add, { parts: MAX_SCHEMA_PARTS });
    return length;
  });
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  return { tools, postings, lengths, meanLength };
}

/** Names and descriptions of properties, however deep; the schema's own description is the tool's business. */
function addSchema(
  schema: unknown,
  add: (text: unknown, weight: number) => void,
  left: { parts: number },
  depth = 0,
): void {
  if (depth > MAX_SCHEMA_DEPTH || left.parts-- <= 0) return;
  if (Array.isArray(schema)) {
    for (const one of schema) addSchema(one, add, left, depth + 1);
    return;
  }
  if (!isMap(schema)) return;
  add(schema["description"], WEIGHTS.propertyDescription);
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword)) continue;
    if (keyword !== "properties" || !isMap(value)) {
      addSchema(value, add, left, depth + 1);
      continue;
    }
    for (const [name, property] of Object.entries(value)) {
      if (left.parts <= 0) return;
      add(name, WEIGHTS.property);
      addSchema(property, add, left, depth + 1);
    }
  }
}

/**
 * Returns the tools that have any word of a query, or a word that begins with one: the best first, equal ones by name. A
 * query without a word returns all of them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const tool = (name: string, description: string) => ({ name, description, parametersSchema: {} });
 * const index = indexTools([tool("mail.send", "Sends a message"), tool("disk.free", "Free bytes of a disk")]);
 * assert.deepEqual(searchIndex(index, "send messages").map(({ name }) => name), ["mail.send"]);
 * ```
 */
export function searchIndex<T extends SearchedTool>(index: ToolIndex<T>, query: string): T[] {
  const given = [...new Set(wordsOf(query))];
  const telling = given.filter((word) => !EMPTY_WORDS.has(word));
  const words = (telling.length > 0 ? telling : given).slice(0, MAX_QUERY_WORDS);
  if (words.length === 0) return [...index.tools];
  const scores = new Map<number, number>();
  for (const word of words) {
    for (const [number, score] of scoresOf(word, index)) scores.set(number, (scores.get(number) ?? 0) + score);
  }
  const named = query.trim().toLowerCase();
  const score = (number: number): number => scores.get(number)! + (isNamed(index.tools[number]!, named) ? NAMED : 0);
  return [...scores.keys()].map((number) => ({ number, score: score(number) }))
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .map(({ number }) => index.tools[number]!);
}

/** What a word of a query is worth for each tool: of the words that it begins, the best counts alone. */
function scoresOf(word: string, { postings, lengths, meanLength, tools }: ToolIndex): Map<number, number> {
  const best = new Map<number, number>();
  const take = (found: ReadonlyMap<number, number>, factor: number): void => {
    const rarity = Math.log(1 + (tools.length - found.size + 0.5) / (found.size + 0.5));
    for (const [number, often] of found) {
      const held = K1 * (1 - B + B * lengths[number]! / meanLength);
      const score = factor * rarity * often * (K1 + 1) / (often + held);
      if (score > (best.get(number) ?? 0)) best.set(number, score);
    }
  };
  const whole = postings.get(word);
  if (whole) take(whole, 1);
  if (word.length < MIN_PREFIX) return best;
  for (const [other, found] of postings) {
    if (other !== word && other.startsWith(word)) take(found, PREFIX_FACTOR * word.length / other.length);
  }
  return best;
}

function isNamed({ name }: SearchedTool, query: string): boolean {
  const full = name.toLowerCase();
  return full === query || full.replace(".", "__") === query || full.slice(full.indexOf(".") + 1) === query;
}

/** Returns the words of a text, in small letters and without accents: `readFiles`, `read-files` and `Read file` agree. */
function wordsOf(text: string): string[] {
  const plain = text.slice(0, MAX_TEXT).normalize("NFKD").replace(/\p{M}+/gu, "");
  const parted = plain.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ").toLowerCase();
  return (parted.match(/[\p{L}\p{N}]+/gu) ?? []).map(singular);
}

/** Both sides are treated alike, so a word that is no plural does no harm. */
function singular(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
