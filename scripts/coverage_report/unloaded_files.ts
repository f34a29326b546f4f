/** Finds sources that no test loaded: a report of what ran does not know of them. */
import { stripTypeScriptTypes } from "node:module";
import type { FileCoverage } from "./read_lcov.ts";

/** Returns the files that hold code, are not generated and were not loaded, with every line of code missed. */
export function unloadedFiles(
  sources: readonly { readonly path: string; readonly text: string }[],
  loaded: readonly FileCoverage[],
): FileCoverage[] {
  const known = new Set(loaded.map(({ file }) => file));
  return sources.filter(({ path }) => !known.has(path) && !path.includes("/generated/")).flatMap(({ path, text }) => {
    const lines = codeLines(text);
    return lines === 0 ? [] : [{ file: path, lines: { hit: 0, of: lines }, branches: { hit: 0, of: 1 } }];
  });
}

/** Lines that are left when types, comments and lists of names are gone. */
function codeLines(text: string): number {
  const code = stripTypeScriptTypes(text).replace(/\/\*[^]*?\*\//g, "").replace(/\/\/.*$/gm, "");
  const acting = code.replace(/^(?:import|export) [^;]*?from "[^"]+";/gm, "").replace(/^export \{\s*\};/gm, "");
  return acting.split("\n").filter((line) => line.trim() !== "").length;
}
