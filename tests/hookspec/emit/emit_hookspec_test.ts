import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { hookspecFiles } from "../../../scripts/generators/hookspec.ts";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { emitHookspec } from "../../../src/hookspec/emit/emit_hookspec.ts";
import { leftoverFiles } from "../../../src/hookspec/emit/leftovers.ts";
import { parseHookspec } from "../../../src/hookspec/parse_hookspec.ts";
import type { TargetLanguage } from "../../../src/hookspec/types.ts";
import { KIND_TEXT, ownHookspec, ownTexts, withOutput } from "../sample_hookspec.ts";
import fc from "../../support/fast_check.ts";

test("D-006 the committed files are what the hookspec gives, byte for byte", async () => {
  assert.equal(hookspecFiles.length, 15);
  for (const { path, render } of hookspecFiles) {
    assert.equal(await readFile(new URL(`../../../${path}`, import.meta.url), "utf8"), await render(), path);
  }
});

test("D-006 no committed file is left over from a kind that is gone", async () => {
  const { files } = await detectRuntime();
  const { targets } = await ownHookspec();
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const emitted = new Set(hookspecFiles.map(({ path }) => root + path));
  for (const [language, folder] of Object.entries(targets) as [TargetLanguage, string][]) {
    const found = await leftoverFiles(language, join(root, "hookspec", folder), { emitted, files });
    assert.deepEqual(found, [], language);
    assert.equal(
      (await leftoverFiles(language, join(root, "hookspec", folder), { emitted: new Set(), files })).length,
      3,
    );
  }
});

test("D-007 N-039 the format and the default of a field reach every language", async () => {
  const properties = {
    at: { type: "string", format: "date-time", description: "When." },
    links: { type: "array", items: { type: "string", format: "uri" } },
    mode: { enum: ["day", "night"], default: "day", description: "How." },
  };
  const { kinds } = await parseHookspec(withOutput({ type: "object", properties }));
  const targets = { typescript: ".", python: ".", go: ".", openrpc: ".", markdown: "." };
  const emitted = new Map(emitHookspec({ kinds, targets }).map(({ language, text }) => [language, text]));
  const expected: Readonly<Record<TargetLanguage, readonly string[]>> = {
    typescript: ["/** When. (format date-time) */", "/** The field links. (format uri) */", '   * @default "day"\n'],
    python: ["# When. (format date-time)", "# (format uri)", 'mode: Literal["day", "night"] = Field("day")'],
    go: ["// At: When. (format date-time)", "(format uri)", '// Mode: How. (default "day")'],
    openrpc: ['"format": "date-time"', '"format": "uri"', '"default": "day"'],
    markdown: ["string (format date-time)", "list of string (format uri)", 'How. Default: `"day"` |'],
  };
  for (const [language, parts] of Object.entries(expected)) {
    const text = emitted.get(language as TargetLanguage)!;
    for (const part of parts) assert.ok(text.includes(part), `${language} lacks ${part}:\n${text}`);
  }
});

test("D-006 every generated file says that it is generated, from what, and is not to be edited", async () => {
  for (const { path, text } of emitHookspec(await ownHookspec())) {
    assert.match(text, /[Gg]enerated by `kaged hookspec emit` from kinds\/\w+\/v1\.yaml; do not edit/i, path);
  }
});

test("D-006 the same hookspec gives the same bytes, in whatever order its files are read", async () => {
  const texts = [...await ownTexts()];
  const once = emitHookspec(await parseHookspec(new Map(texts)));
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(texts, { minLength: texts.length }), async (shuffled) => {
      assert.deepEqual(emitHookspec(await parseHookspec(new Map(shuffled))), once);
    }),
    { numRuns: 5 },
  );
});

test("D-005 a hookspec is written in five languages, each version of a kind in files of its own", async () => {
  const texts = withOutput({ type: "string" });
  texts.set("kinds/greeter/v2.yaml", KIND_TEXT.replace("1.2.3", "2.0.0"));
  const paths = emitHookspec(await parseHookspec(texts)).map(({ language, path }) => `${language}/${path}`);
  assert.deepEqual(paths, [
    ...["typescript/greeter.ts", "typescript/greeter_v2.ts"],
    ...["python/greeter_v1.py", "python/greeter_v2.py"],
    ...["go/greeter/v1/greeter.go", "go/greeter/v2/greeter.go"],
    ...["openrpc/greeter-v1.json", "openrpc/greeter-v2.json"],
    ...["markdown/greeter-v1.md", "markdown/greeter-v2.md"],
  ]);
});

test("D-005 a language without a folder is not written", async () => {
  const { kinds } = await ownHookspec();
  const files = emitHookspec({ kinds, targets: { python: "generated" } });
  assert.deepEqual([...new Set(files.map(({ language }) => language))], ["python"]);
});

test("D-006 no description can leave the comment it stands in", async () => {
  const hostile = `end */ """ \\ \` \${x} <!-- --> | [a](b)\n\u2028// x\u0007 # y`;
  const schema = { type: "object", description: hostile, properties: { a: { type: "string", description: hostile } } };
  const texts = withOutput(schema);
  texts.set(
    "kinds/greeter/v1.yaml",
    KIND_TEXT.replace("Says hello.", JSON.stringify(hostile)).replace("Greets people.", JSON.stringify(hostile)),
  );
  const files = emitHookspec(await parseHookspec(texts));
  const textOf = (language: string) => files.find((file) => file.language === language)!.text;
  const withoutStrings = (text: string) => text.replace(/"(?:[^"\\\n]|\\.)*"/g, "");
  assert.doesNotMatch(withoutStrings(textOf("typescript").replace(/^ .*"""/gm, "")), /end \*\//);
  // deno-lint-ignore no-control-regex
  for (const { text } of files) assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u2028]/);
  assert.doesNotMatch(textOf("markdown").replace(/^<!--.*-->$/m, ""), /<!--|[^\\]\[a\]/);
});
