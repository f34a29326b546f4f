/**
 * Whether Node runs this program, and how.
 *
 * @module
 */
import process from "node:process";

/** Version of Node, or null on another runtime: those name a Node version too, but not as their release. */
export function nodeVersion(): string | null {
  const { Deno, Bun } = globalThis as { Deno?: unknown; Bun?: unknown };
  return Deno || Bun ? null : process.versions.node;
}

/** Whether this program is a single executable application: `process.execPath` is then no Node. */
export function isNodeCompiled(): boolean {
  const sea = process.getBuiltinModule("node:sea") as { isSea(): boolean } | undefined;
  return sea?.isSea() === true;
}
