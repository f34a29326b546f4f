import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { docBlocks, runBlock } from "../support/doc_blocks.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("the code in docs/jobs.md runs as it stands", async (t) => {
  const dir = await scratchDir(t);
  await mkdir(`${dir}/my-project`);
  await writeFile(`${dir}/my-project/project.yaml`, "primary: {}\n");
  const home = process.env["KAGED_HOME"];
  process.env["KAGED_HOME"] = `${dir}/home`;
  t.after(() => void (home === undefined ? delete process.env["KAGED_HOME"] : process.env["KAGED_HOME"] = home));
  await using h = await hosted({});
  const blocks = await docBlocks("jobs.md", "ts");
  assert.ok(blocks.length > 4);
  for (const block of blocks) await runBlock(block, { host: h.host, dir });
});
