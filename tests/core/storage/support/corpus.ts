/**
 * The two SQL corpora.
 *
 * @module
 */
import { readFile } from "node:fs/promises";

/** A statement with what SQLite makes of it. */
export interface SemanticCase {
  readonly id: string;
  readonly kind: "query" | "exec";
  readonly setup: readonly string[];
  readonly query: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly changes?: number;
  readonly after?: readonly { readonly table: string; readonly rows: readonly (readonly unknown[])[] }[];
  readonly needs?: string;
}

/** A statement that tries to get out. */
export interface Attack {
  readonly id: string;
  readonly category: string;
  readonly sql: string;
  readonly method: "exec" | "query";
  readonly capability: "none" | "read" | "write";
  readonly setup: readonly string[];
  readonly params?: readonly unknown[];
  readonly expect: "denied" | "denied-or-no-such-table" | "error" | "allowed-isolated" | "limited";
}

async function readLines(path: string): Promise<unknown[]> {
  const text = await readFile(new URL(`../../../corpora/${path}`, import.meta.url), "utf8");
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Reads the semantic cases. */
export async function semanticCases(): Promise<SemanticCase[]> {
  return await readLines("sql-semantics/cases.jsonl") as SemanticCase[];
}

/** Reads the attacks. */
export async function attacks(): Promise<Attack[]> {
  return await readLines("sql-attacks/attacks.jsonl") as Attack[];
}

/** A value of the corpus as it travels: reals that JSON has a number for are that number, blobs are base64. */
export function asWire(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { $real, $blob } = value as { $real?: string; $blob?: string };
  if ($real !== undefined) return Number.isFinite(Number($real)) ? Number($real) : { $real };
  if ($blob !== undefined) {
    return { $base64: btoa($blob.replace(/../g, (pair) => String.fromCharCode(parseInt(pair, 16)))) };
  }
  return value;
}
