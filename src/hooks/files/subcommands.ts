/**
 * The single commands in a line of shell text, as permission rules look at them.
 *
 * @module
 */

/** Programs that run the rest of their line. */
const WRAPPERS =
  /^(?:timeout(?: -\S+)* \S+|time|nice(?: -n ?-?\d+)?|nohup|stdbuf(?: -\S+)+|command|builtin|noglob|xargs) +(?!-)/;
const ASSIGNMENT = /^[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"]*)\s+/;

/**
 * Returns the commands of a line, those in `$(…)` and backticks included, without variables and wrappers in front; null
 * when the line cannot be taken apart.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.deepEqual(subcommands("cd a && A=1 git push | tee log"), ["cd a", "git push", "tee log"]);
 * ```
 */
export function subcommands(line: string): string[] | null {
  const parts: string[] = [];
  const inner: string[] = [];
  let part = "";
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (char === "\\" && quote !== "'") {
      part += char + (line[++at] ?? "");
      continue;
    }
    if (quote !== "'" && (char === "`" || line.startsWith("$(", at))) {
      const end = char === "`" ? line.indexOf("`", at + 1) : closing(line, at + 1);
      if (end < 0) return null;
      inner.push(line.slice(at + (char === "`" ? 1 : 2), end));
      part += line.slice(at, end + 1);
      at = end;
      continue;
    }
    if (quote !== "") {
      if (char === quote) quote = "";
      part += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      part += char;
    } else if (/[;&|\n]/.test(char) && !/[<>]&$/.test(part + char)) {
      parts.push(part);
      part = "";
    } else part += char;
  }
  if (quote !== "") return null;
  const nested = inner.map(subcommands);
  if (nested.some((found) => found === null)) return null;
  return [...[...parts, part].map(bare).filter((found) => found !== ""), ...nested.flatMap((found) => found ?? [])];
}

/** Returns the place of the bracket that closes the one at `open`, or -1. */
function closing(line: string, open: number): number {
  let depth = 0;
  for (let at = open; at < line.length; at++) {
    if (line[at] === "(") depth++;
    if (line[at] === ")" && --depth === 0) return at;
  }
  return -1;
}

/** Returns a command without what stands before it. */
function bare(command: string): string {
  let rest = command.trim().replace(/^[({]\s*/, "").replace(/\s*[)}]$/, "");
  for (let before = ""; before !== rest;) {
    before = rest;
    rest = rest.replace(ASSIGNMENT, "").replace(WRAPPERS, "");
  }
  return rest.replace(/\s+/g, " ");
}
