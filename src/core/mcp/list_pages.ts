/**
 * A list of an MCP server, page by page and within bounds.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";

/** Most entries of one list. */
export const MAX_ENTRIES: number = 1_000;
const MAX_PAGES = 100;
const MAX_CHARS = 2 * 1024 * 1024;

/** A kind of list: the method that answers it, and the field of each page that holds the entries. */
export interface ListKind {
  readonly method: string;
  readonly field: "tools" | "resources" | "resourceTemplates" | "prompts";
  /** The entries in words, such as `resources`. */
  readonly words: string;
}

/** Every entry of a list. */
export interface WholeList {
  readonly entries: readonly unknown[];
  /** The shortest time that a page gave for how long it holds; null when none did. */
  readonly ttlMs: number | null;
}

/**
 * Reads every page of a list; `ask` sends the request.
 *
 * @throws {HostError} `mcp.malformed`, `mcp.too_many_tools`, `mcp.list_too_long`, or what `ask` rejects with.
 */
export async function listPages(
  kind: ListKind,
  ask: (params: Record<string, unknown>) => Promise<unknown>,
): Promise<WholeList> {
  const entries: unknown[] = [];
  const cursors = new Set<string>();
  let chars = 0;
  let ttlMs: number | null = null;
  let cursor: string | undefined;
  do {
    const page = pageOf(kind, await ask(cursor === undefined ? {} : { cursor }));
    chars += JSON.stringify(page.entries).length;
    entries.push(...page.entries);
    if (entries.length > MAX_ENTRIES || chars > MAX_CHARS) throw tooLong(kind, entries.length, chars);
    if (page.ttlMs !== null) ttlMs = Math.min(ttlMs ?? Infinity, page.ttlMs);
    cursor = page.nextCursor;
    if (cursor === undefined) return { entries, ttlMs };
    if (cursors.has(cursor)) throw malformed(kind, "a cursor leads back to a page that was read already");
    cursors.add(cursor);
  } while (cursors.size < MAX_PAGES);
  const message = `The server lists its ${kind.words} on more than ${MAX_PAGES} pages`;
  throw new HostError(codeOf(kind), message, { data: { pages: MAX_PAGES } });
}

interface Page {
  readonly entries: readonly unknown[];
  readonly nextCursor: string | undefined;
  readonly ttlMs: number | null;
}

function pageOf(kind: ListKind, answer: unknown): Page {
  const page = isMap(answer) ? answer : {};
  const entries = page[kind.field];
  const { nextCursor, ttlMs } = page;
  if (!Array.isArray(entries)) throw malformed(kind, `the result has no list of ${kind.words}`);
  if (nextCursor !== undefined && nextCursor !== null && typeof nextCursor !== "string") {
    throw malformed(kind, '"nextCursor" is no string');
  }
  return {
    entries,
    nextCursor: nextCursor ?? undefined,
    ttlMs: typeof ttlMs === "number" && ttlMs >= 0 ? ttlMs : null,
  };
}

/** Returns the error of an answer to a list that the protocol does not allow. */
export function malformed({ method }: ListKind, reason: string): HostError {
  return new HostError("mcp.malformed", `The answer to ${method} is malformed: ${reason}`, { data: { reason } });
}

function tooLong(kind: ListKind, count: number, chars: number): HostError {
  const message = count > MAX_ENTRIES
    ? `The server lists ${count} ${kind.words} or more`
    : `The server's ${kind.words} take more than ${MAX_CHARS} characters`;
  return new HostError(codeOf(kind), message, {
    data: { count, chars, max_count: MAX_ENTRIES, max_chars: MAX_CHARS },
    hint: `Let it offer at most ${MAX_ENTRIES} ${kind.words} of ${MAX_CHARS} characters in all`,
  });
}

const codeOf = ({ field }: ListKind): "mcp.too_many_tools" | "mcp.list_too_long" =>
  field === "tools" ? "mcp.too_many_tools" : "mcp.list_too_long";
