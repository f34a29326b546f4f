import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const core = fileURLToPath(new URL("../../src/core", import.meta.url));

/** The one place that may name them: the type of the name that a runtime's adapter gives itself, for people to read. */
const NAMES = { file: "ports/ports.ts", line: 'readonly name: "node" | "bun" | "deno";' };

/** A runtime's name as a text, a key of a table, or a part of the runtime's name that is compared. */
const DECIDES = [
  /(["'`])(?:node|bun|deno)\1/i,
  /^\s*(?:node|bun|deno)\s*:/i,
  /\bruntime\.name\s*[!=]==?/,
  /[!=]==?\s*(?:this\.)?#?runtime\.name\b/,
  /\[(?:this\.)?#?runtime\.name\]/,
];

/** The code of a file, line by line, without comments. */
function codeOf(text: string): string[] {
  const blanked = text.replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ""));
  return blanked.split("\n").map((line) => line.replace(/(^|\s)\/\/.*$/, ""));
}

function decidingLines(file: string, text: string): string[] {
  return codeOf(text).flatMap((line, at) => {
    const isName = file === NAMES.file && line.trim() === NAMES.line;
    return !isName && DECIDES.some((pattern) => pattern.test(line)) ? [`${file}:${at + 1}: ${line.trim()}`] : [];
  });
}

test("no line of src/core decides anything by the name of a runtime: what differs is asked of a port", async () => {
  const files = (await readdir(core, { recursive: true })).filter((file) => file.endsWith(".ts"));
  assert.ok(files.length > 100);
  const found = await Promise.all(
    files.map(async (file) => decidingLines(file, await readFile(join(core, file), "utf8"))),
  );
  assert.deepEqual(found.flat(), []);
});

test("the search finds a literal, a table and a comparison, and leaves comments and longer words alone", () => {
  const finds = (line: string): boolean => decidingLines("x.ts", line).length > 0;
  for (
    const line of [
      'if (name === "deno") return;',
      '    case "bun":',
      "  node: [],",
      "const args = ARGS[runtime.name];",
      "if (runtime.name !== other) stop();",
    ]
  ) assert.ok(finds(line), line);
  for (
    const line of [
      '/** On Deno it is "deno". */',
      'const node = nodes[0]; // The "node" of a tree.',
      'walk("nodes");',
      "report(runtime.name);",
    ]
  ) assert.ok(!finds(line), line);
});
