import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { ROUTES } from "../../src/core/http/routes/routes.ts";
import { parseOperatorConfig } from "../../src/core/project/operator_config.ts";
import { docBlocks, runBlock } from "../support/doc_blocks.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("the code in docs/http.md runs as it stands", async (t) => {
  const dir = await scratchDir(t);
  await mkdir(`${dir}/my-project`);
  await writeFile(`${dir}/my-project/project.yaml`, "primary: {}\n");
  await using h = await hosted({ start: false });
  const blocks = await docBlocks("http.md", "ts");
  assert.equal(blocks.length, 1);
  for (const block of blocks) await runBlock(block, { host: h.host, dir });
});

test("docs/http.md names every route, and no other", async () => {
  const text = await readFile(new URL("../../docs/http.md", import.meta.url), "utf8");
  const named = [...text.matchAll(/^\| `((?:GET|POST|PUT|DELETE) [^`]+)`/gm)].map(([, route]) => route!);
  assert.deepEqual(named.sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
});

test("the settings in docs/http.md are those config.toml takes", async () => {
  const [block] = await docBlocks("http.md", "toml");
  const { http, warnings } = await parseOperatorConfig(block!, { file: "config.toml" });
  assert.deepEqual([Object.keys(http), warnings], [["port", "host", "allowed_hosts", "calls_per_second"], []]);
});
