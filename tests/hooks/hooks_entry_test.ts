import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

/** Every file that importing `entry` loads. */
async function loadedBy(entry: URL, seen: Set<string> = new Set()): Promise<Set<string>> {
  if (seen.has(entry.pathname)) return seen;
  seen.add(entry.pathname);
  const text = await readFile(entry, "utf8");
  // What is imported for its types alone is not loaded.
  const imports = text.matchAll(/^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)"/gm);
  for (const [, path] of imports) await loadedBy(new URL(path!, entry), seen);
  return seen;
}

test("importing the hooks entry loads neither the host nor its cages", async () => {
  const loaded = [...await loadedBy(new URL("../../src/hooks/mod.ts", import.meta.url))];
  assert.ok(loaded.length > 10);
  assert.ok(loaded.some((path) => path.endsWith("/files/parse_hook_file.ts")));
  const heavy = /\/(host|supervisor|storage|adapters)\/|\/(open_cage|caged_runner|open_hook_files)\.ts$/;
  // Its functions work without ports: these few come from the runtime.
  const ports = /\/adapters\/shared\/(clock|files|ids)\.ts$/;
  assert.deepEqual(loaded.filter((path) => heavy.test(path) && !ports.test(path)), []);
});
