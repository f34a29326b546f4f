import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Source } from "../scripts/pictures/rooms.ts";
import { runtimeName } from "./support/require_or_skip.ts";
import { root, writtenSources } from "./support/sources.ts";

const MAX_FILE_LINES = 350;
const MAX_FUNCTION_LINES = 80;
const MAX_CODE_LINES = 74_000;
const MAX_EXPORTS = 90;

/** A line of a source that a rule is about. */
interface Line {
  readonly at: string;
  readonly text: string;
  readonly isComment: boolean;
}

/** Lines that are not blank; a comment that follows code on its line is no comment here. */
function linesOf({ path, text }: Source): Line[] {
  let isInside = false;
  return text.split("\n").flatMap((whole, index) => {
    const line = whole.trim();
    const isComment = isInside || /^(?:\/\/|\/?\*)/.test(line);
    if (line.startsWith("/*") && !line.includes("*/")) isInside = true;
    if (line.includes("*/")) isInside = false;
    return line === "" ? [] : [{ at: `${path}:${index + 1}`, text: line, isComment }];
  });
}

/** Comments without the signs that mark them. */
const commentsOf = (source: Source): Line[] =>
  linesOf(source).filter(({ isComment }) => isComment).map((line) => ({
    ...line,
    text: line.text.replace(/^(?:\/\*\*|\*\/|\*|\/\/|\/\*)\s*/, ""),
  }));

/** Fails when there are too many of something, and names each of them. */
function assertFewer(lines: readonly Line[], limit: number, what: string): void {
  const list = lines.map(({ at, text }) => `  ${at}: ${text}`).join("\n");
  assert.ok(lines.length < limit, `${lines.length} ${what}, ${limit} are too many:\n${list}`);
}

// The sources are the same on every runtime, and only Node strips types in place, which the scanner needs.
const onNode = runtimeName === "node" ? test : () => {};

onNode("functionsOf() finds functions of every form, and is not misled by types, texts and patterns", async () => {
  const { functionsOf } = await import("./support/function_lengths.ts");
  const source = `function f(a: { b: string }): { c: number } {
  if (a) {
    return { c: /[/}]{2}/.test(a.b) ? 1 : 2 };
  }
  return { c: \`} \${a.b + \`{\${a}\`} {\`.length };
}
class C {
  constructor() {
    this.x = 4 / 2 / 1;
  }
}
const arrow = (
  a: number,
): number =>
  a +
  1;
const call = list.map((a) => {
  for (const b of a) {
    b();
  }
});
`;
  assert.deepEqual(functionsOf(source), [
    { line: 1, lines: 6 },
    { line: 8, lines: 3 },
    { line: 12, lines: 5 },
    { line: 17, lines: 5 },
  ]);
});

onNode(`no function of src is longer than ${MAX_FUNCTION_LINES} lines, the SDK aside`, async () => {
  const { functionsOf } = await import("./support/function_lengths.ts");
  const sources = (await writtenSources()).filter(({ path }) => !path.startsWith("src/sdk/"));
  const long = sources.flatMap(({ path, text }) =>
    functionsOf(text).filter(({ lines }) => lines > MAX_FUNCTION_LINES)
      .map(({ line, lines }) => `${path}:${line} has ${lines} lines`)
  );
  assert.deepEqual(long, []);
});

test(`no file of src is longer than ${MAX_FILE_LINES} lines, the SDK aside`, async () => {
  const long = (await writtenSources()).filter(({ path }) => !path.startsWith("src/sdk/"))
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > MAX_FILE_LINES);
  assert.deepEqual(long, []);
});

test(`src has fewer than ${MAX_CODE_LINES} lines of code`, async () => {
  const code = (await writtenSources()).flatMap(linesOf).filter(({ isComment }) => !isComment).length;
  assert.ok(code > 10_000 && code < MAX_CODE_LINES, `src has ${code} lines of code`);
});

test("comments of src name their subject: few begin with What or Who, few say tell, few only repeat a name", async () => {
  const sources = await writtenSources();
  const comments = sources.flatMap(commentsOf);
  assert.ok(comments.length > 1000);
  assertFewer(comments.filter(({ text }) => /^(?:What|Who)\b/.test(text)), 80, "comments begin with What or Who");
  assertFewer(comments.filter(({ text }) => /\b(?:tell|tells|told|telling)\b/.test(text)), 60, "comments say tell");
  const short = sources.flatMap(linesOf).filter(({ text }) => {
    const [, body] = /^\/\*\*\s*(.*?)\s*\*\/$/.exec(text) ?? [];
    return body !== undefined && body.length <= 24;
  });
  assertFewer(short, 300, "doc comments have 24 characters or less");
});

test(`the entry exports at most ${MAX_EXPORTS} names`, async () => {
  const text = (await readFile(join(root, "mod.ts"), "utf8")).replaceAll(/\/\*[^]*?\*\//g, "");
  assert.doesNotMatch(text, /export \*/);
  const names = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
    list!.split(",").map((name) => name.trim()).filter(Boolean)
  );
  assert.ok(names.length > 10 && names.length <= MAX_EXPORTS, `mod.ts exports ${names.length} names`);
});
