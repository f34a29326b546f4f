import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";

const root = new URL("../../../src/", import.meta.url);
const LIBRARY = /(?:from|import\() ?"(?:yaml|js-yaml|(?:@[\w-]+\/)?[\w-]*toml[\w-]*|json5|jsonc-parser|comment-json)"/;

test("the libraries behind YAML and TOML are used in core/documents, and nowhere else", async () => {
  const users: string[] = [];
  for (const path of await readdir(root, { recursive: true })) {
    if (!path.endsWith(".ts") || path.includes("generated")) continue;
    if (LIBRARY.test(await readFile(new URL(path, root), "utf8"))) users.push(path);
  }
  assert.deepEqual(users.filter((path) => !path.startsWith("core/documents/")), []);
  assert.ok(
    users.includes("core/documents/read_yaml.ts") && users.includes("core/documents/read_toml.ts"),
    String(users),
  );
});
