import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { PORTABLE_HOOKS } from "../../src/core/hooks/portable/names.ts";
import { docBlocks, runBlock } from "../support/doc_blocks.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("the code in docs/hooks.md runs as it stands", async (t) => {
  const dir = await scratchDir(t);
  await using h = await hosted({ events: { level: "trace" } });
  const blocks = await docBlocks("hooks.md", "ts");
  assert.ok(blocks.length > 2);
  for (const block of blocks) await runBlock(block, { host: h.host, dir });
});

test("B-001 docs/hooks.md names every moment", async () => {
  const text = await readFile(new URL("../../docs/hooks.md", import.meta.url), "utf8");
  const named = [...text.matchAll(/^\| `([A-Z]\w+)` +\|/gm)].map(([, name]) => name!);
  assert.deepEqual(named.toSorted(), PORTABLE_HOOKS.toSorted());
});
