import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { blocksFor } from "../docs/support/guides.ts";
import { copyExamples, HOW, PACKAGES, ROOT } from "../support/framework_examples.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";

/** Checks a folder with its tsconfig.json, and returns what the compiler says. */
async function check(folder: string): Promise<string> {
  const checked = promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder], { cwd: ROOT });
  return (await checked.catch((error: { stdout: string }) => error)).stdout;
}

/** Checks some files of a folder that stands outside the repository. */
async function checkIn(folder: string, include: string): Promise<string> {
  const compilerOptions = {
    isolatedDeclarations: false,
    declaration: false,
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  const config = { extends: join(ROOT, "tsconfig.json"), include: [include], exclude: [], compilerOptions };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  return await check(folder);
}

test("N-034 adapters fit the frameworks' own types, in strict TypeScript and without a cast", async (t) => {
  if (!await requireOrSkip(t, "the frameworks' packages", existsSync(PACKAGES), HOW)) return;
  assert.equal(await check(join(ROOT, "tools/frameworks")), "");
});

test("N-034 the programs of docs/frameworks.md are strict TypeScript where their packages are installed", async (t) => {
  if (!await requireOrSkip(t, "the frameworks' packages", existsSync(PACKAGES), HOW)) return;
  const programs = await blocksFor("tests/frameworks/types_test.ts", "docs/frameworks.md");
  assert.equal(programs.length, 5);
  await using copy = await copyExamples();
  for (const [index, text] of programs.entries()) await writeFile(join(copy.root, `guide_${index}.ts`), text);
  assert.equal(await checkIn(copy.root, "guide_*.ts"), "");
});

test("N-034 the examples of frameworks are strict TypeScript where their packages are installed", async (t) => {
  if (!await requireOrSkip(t, "the frameworks' packages", existsSync(PACKAGES), HOW)) return;
  await using copy = await copyExamples();
  assert.equal(await checkIn(copy.root, "examples"), "");
});
