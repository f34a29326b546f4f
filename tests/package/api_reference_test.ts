import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runtimeName } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
// The same program makes it on every runtime: once is enough.
const once = runtimeName === "node" ? test : () => {};

once("npm run docs:api writes a page for every entry and for createHost()", async (t) => {
  const dir = await scratchDir(t);
  const node = join(root, "node_modules/.bin/node");
  await promisify(execFile)(node, ["scripts/api_reference.ts", "--out", dir], { cwd: root });
  assert.match(await readFile(join(dir, "index.html"), "utf8"), /@kaged\/plugin-host/);
  const pages = (await readdir(dir, { recursive: true })).filter((path) => path.endsWith(".html"));
  const { exports } = JSON.parse(await readFile(join(root, "deno.json"), "utf8"));
  const symbols = new Set(pages.map((path) => path.split("/").at(-1)));
  for (const page of ["createHost.html", "createPlugin.html", "createHookEngine.html", "HostError.html"]) {
    assert.ok(symbols.has(page), page);
  }
  assert.ok(pages.length > Object.keys(exports).length * 2, `${pages.length} pages`);
});
