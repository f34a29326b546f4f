/**
 * Names of plugins for MCP servers: short, valid and not taken.
 *
 * @module
 */
import { BUILTIN_NAMES } from "../../core/manifest/manifest.ts";

const MAX_NAME = 64;
/** Words that say no more than that it is an MCP server. */
const FILLER = new Set(["mcp", "server", "modelcontextprotocol"]);

/**
 * Returns the name that a package or an entry suggests: `@modelcontextprotocol/server-memory` → `memory`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(suggestedName("@notionhq/notion-mcp-server"), "notion");
 * assert.equal(suggestedName("@playwright/mcp"), "playwright");
 * assert.equal(suggestedName("My Server!"), "my");
 * ```
 */
export function suggestedName(title: string): string {
  const [scope = "", short] = /^@([^/]+)\/(.+)$/s.exec(title)?.slice(1) ?? ["", title];
  const telling = (text: string): string[] => wordsOf(text).filter((word) => !FILLER.has(word));
  const words = [telling(short!), telling(scope), wordsOf(short!), ["server"]].find((list) => list.length > 0)!;
  return validName(words.join("-"));
}

/** Returns a name as manifests take it: lower case, letters first. */
export function validName(text: string): string {
  const name = wordsOf(text).join("-").slice(0, MAX_NAME - 4).replace(/-+$/, "");
  // The tools of a plugin with a name of one character could not be told from their own names.
  const lettered = /^[a-z]./.test(name) ? name : `mcp-${name}`.replace(/-+$/, "");
  return BUILTIN_NAMES.includes(lettered) ? `${lettered}-mcp` : lettered;
}

/** Returns the name, with a number behind it where it is taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name}-${number}`;
  return free;
}

function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase();
  return plain.split(/[^a-z0-9]+/).filter((word) => word !== "");
}
