import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Names that a file exports, which lists them one by one. */
async function exportedBy(path: string): Promise<string[]> {
  const code = (await readFile(root + path, "utf8")).replace(/\/\*[^]*?\*\//g, "");
  assert.doesNotMatch(code, /export (type )?\*|export (const|function|class|interface)/, path);
  return [...code.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
    list!.split(",").map((name) => name.replace("type ", "").trim()).filter((name) => name !== "")
  );
}

test("the main entry exports at most 90 names, each once", async () => {
  const names = await exportedBy("mod.ts");
  assert.deepEqual(names.filter((name, at) => names.indexOf(name) !== at), []);
  assert.ok(names.length <= 90, `${names.length} names`);
});

test("the main entry has what an agent loop spells", async () => {
  const names = new Set(await exportedBy("mod.ts"));
  const spelled = ["createHost", "Host", "HostOptions", "Session", "ToolOutcome", "ToolCallOptions", "HostTool"];
  for (
    const name of [...spelled, "HostError", "HostErrorCode", "Message", "CompactionResult", "AuditEvent", "Runtime"]
  ) {
    assert.ok(names.has(name), name);
  }
});
