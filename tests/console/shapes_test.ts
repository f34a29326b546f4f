import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { DOCUMENT, type Json } from "../support/api_document.ts";

const CONSOLE: string = fileURLToPath(new URL("../../console/", import.meta.url));

/** Property names of each object type that a TypeScript text spells out. Object literals separate theirs with commas. */
function spelledTypes(text: string): string[][] {
  return [...text.matchAll(/\{([^{}]*)\}/g)].map(([, body]) =>
    [...body!.matchAll(/(?:^|[;\n])\s*(?:readonly )?(\w+)\??:[^,;]*(?=;|$)/g)].map(([, name]) => name!)
  ).filter((names) => names.length >= 2);
}

const shapes: [name: string, properties: readonly string[]][] = Object.entries(
  DOCUMENT.components.schemas as Record<string, Json>,
).map(([name, { properties = {} }]) => [name, Object.keys(properties as Json)]);

/** The shape of the API that a type repeats, or undefined. Two names in common with a large shape are chance. */
const repeated = (names: readonly string[]): string | undefined =>
  shapes.find(([, properties]) =>
    names.every((name) => properties.includes(name)) && (names.length > 2 || properties.length < 5)
  )?.[0];

test("the console spells no shape of the API again: it imports the types of src/http/answers.ts", async () => {
  const files = (await readdir(CONSOLE, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
  assert.ok(files.length > 20, `${files.length}`);
  for (const file of files) {
    const text = await readFile(join(CONSOLE, file), "utf8");
    for (const names of spelledTypes(text)) {
      assert.equal(repeated(names), undefined, `${file}: { ${names.join(", ")} }`);
    }
    // Every answer is read in one place, where its type follows from the route.
    if (file !== join("model", "api.ts")) assert.doesNotMatch(text, /\bfetch\(|\.json\(\)/, file);
  }
});

test("a shape of the API that is spelled again is found", () => {
  const text = `
    interface Failure { readonly code: string; readonly message: string; readonly hint?: string }
    const failure = { code: "x", message: "y" };
    function f({ of }: { of: string; isAlert: boolean }): void {}
    useLoaded<{ jobs: Job[]; next: string | null }>("/api/v1/jobs");`;
  assert.deepEqual(spelledTypes(text).map(repeated), ["Failure", undefined, "JobPage"]);
});
