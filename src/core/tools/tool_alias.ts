/**
 * Tool names for chat APIs, which refuse the dot.
 *
 * @module
 */

/**
 * Returns the name of a tool as chat APIs take it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(toolAlias("memory-markdown.recall"), "memory-markdown__recall");
 * assert.equal(toolFromAlias("memory-markdown__recall"), "memory-markdown.recall");
 * ```
 */
export function toolAlias(tool: string): string {
  return tool.replace(".", "__");
}

/** Returns the tool an alias stands for; a full name, and any other, comes back as it is. */
export function toolFromAlias(alias: string): string {
  // A plugin's name holds no underscore and a tool's does not begin with one: the first pair is the dot.
  return alias.includes(".") ? alias : alias.replace("__", ".");
}
