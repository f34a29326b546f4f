import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
const read = async (file: string) => JSON.parse(await readFile(new URL(file, root), "utf8"));

test("in a clone the package's own name leads to every entry, as the guides write it", async () => {
  const [{ name, exports }, workspace] = await Promise.all([read("deno.json"), read("package.json")]);
  assert.deepEqual([workspace.name, workspace.exports], [name, exports]);
  for (const [entry, file] of Object.entries<string>(exports)) {
    assert.equal(import.meta.resolve(`${name}${entry.slice(1)}`), new URL(file, root).href);
  }
});
