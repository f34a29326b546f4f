import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { type ImportSurvey, surveyImports } from "../../../src/operator/check/leaving_imports.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

type Test = Parameters<typeof scratchDir>[0];
const COMMAND = ["js", "./index.js"];

async function survey(t: Test, files: Record<string, string>, links: Record<string, string> = {}) {
  const dir = join(await scratchDir(t), "plugin");
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  for (const [path, target] of Object.entries(links)) await symlink(target, join(dir, path));
  const { files: port } = await detectRuntime();
  return await surveyImports(dir, COMMAND, port);
}

const reasons = ({ leaving }: ImportSurvey): Record<string, string> =>
  Object.fromEntries(leaving.map(({ specifier, reason }) => [specifier, reason]));

test("surveyImports() follows imports from the command and reads nothing else", async (t) => {
  const { files, leaving } = await survey(t, {
    "index.js": 'import "./lib/a.js"; import fs from "node:fs"; import path from "path"; import "./data.json";',
    "lib/a.js": 'await import("../lib/b.ts"); import "./a.js";',
    "lib/b.ts": "export {};",
    "data.json": "{}",
    "tests/unused.js": 'import "../../outside.js";',
  });
  assert.deepEqual({ files, leaving }, { files: ["index.js", "lib/a.js", "lib/b.ts"], leaving: [] });
});

test("surveyImports() names an import that leaves the folder, with file and line", async (t) => {
  const { leaving } = await survey(t, { "index.js": '\nimport "./lib.js";', "lib.js": '\n\nimport "../other/x.js";' });
  assert.deepEqual(leaving, [{ file: "lib.js", line: 3, specifier: "../other/x.js", reason: "leaves the folder" }]);
});

test("surveyImports() names what would have to be fetched or lies elsewhere", async (t) => {
  const found = reasons(
    await survey(t, {
      "index.js": ["npm:a", "jsr:@b/c", "https://d.example/e.js", "/etc/f.js", "file:///etc/g.js", "h", "@i/j/k"]
        .map((name) => `import "${name}";`).join("\n"),
    }),
  );
  const fetched = "is fetched from elsewhere: the cage has no way there";
  const absent = "is not in the folder's own node_modules";
  assert.deepEqual(found, {
    "npm:a": fetched,
    "jsr:@b/c": fetched,
    "https://d.example/e.js": fetched,
    "/etc/f.js": "leaves the folder",
    "file:///etc/g.js": "leaves the folder",
    "h": absent,
    "@i/j/k": absent,
  });
});

test("surveyImports() takes packages the folder brings along, mapped names, and optional ones", async (t) => {
  const { leaving } = await survey(t, {
    "index.js": 'import "a/sub.js"; import "@b/c"; import "mapped"; try { require("maybe") } catch {}',
    "node_modules/a/package.json": "{}",
    "node_modules/@b/c/package.json": "{}",
    "deno.json": '{ "imports": { "mapped": "./mapped.js" } }',
  });
  assert.deepEqual(leaving, []);
});

test("surveyImports() sees through a link that leads out of the folder", async (t) => {
  const found = await survey(t, { "index.js": 'import "./link.js";', "../outside.js": "" }, {
    "link.js": "../outside.js",
  });
  assert.deepEqual(reasons(found), { "./link.js": "leads out of the folder through a link" });
});

test("surveyImports() raises no alarm for code meant for a browser, nor for files that the process never imports", async (t) => {
  const { files, leaving } = await survey(t, {
    "index.js": `import "./serve.js";
      export const look = (page) => page.evaluate(async () => (await import("https://esm.example/axe.js")).run());
      export function inPage() { return import("./public/page.js"); }`,
    "serve.js": "export const html = `<script type=module>import a from 'https://esm.example/a.js'</script>`;",
    "public/page.js": 'import React from "react"; import "https://esm.example/b.js";',
  });
  assert.deepEqual({ files, leaving }, { files: ["index.js", "serve.js"], leaving: [] });
});
