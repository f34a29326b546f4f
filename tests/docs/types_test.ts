import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../support/require_or_skip.ts";
import { allGuides } from "./support/guides.ts";
import type { Block } from "./support/read_guide.ts";
import { entries, programOf } from "./support/program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true, // As our own sources are checked, which it reads.
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  module: "nodenext",
  target: "esnext",
  lib: ["esnext", "dom", "dom.iterable"],
  types: ["node"],
};

/** What names another runtime's globals is checked there, if at all. */
const isChecked = ({ language, said }: Block): boolean =>
  language === "ts" && said.skip === undefined && (said.runtime ?? "node").split(",").includes("node") &&
  said.elsewhere !== "tests/frameworks/types_test.ts"; // Programs of frameworks, where their packages are.

// The compiler is the same whoever starts it: once, on Node.
const once = runtimeName === "node" ? test : () => {};

once("the TypeScript of every guide type-checks", async (t) => {
  // Inside the repository, where imports find node_modules.
  const dir = join(root, ".scratch", `guides_${crypto.randomUUID()}`);
  await mkdir(dir, { recursive: true });
  await copyFile(join(root, "examples/plugins/notes/kaged_sdk.d.ts"), join(dir, "kaged_sdk.d.ts")); // As a plugin has it.
  t.after(() => rm(dir, { recursive: true, force: true }));
  const paths = Object.fromEntries([...await entries()].map(([name, url]) => [name, [fileURLToPath(url)]]));
  const places = new Map<string, string>();
  for (const blocks of (await allGuides()).values()) {
    for (const block of blocks.filter(isChecked)) {
      const file = `block_${places.size}.ts`;
      places.set(file, block.place);
      await writeFile(join(dir, file), `${programOf(block)}\nexport {};\n`);
    }
  }
  assert.ok(places.size > 5);
  await writeFile(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...OPTIONS, paths } }));
  const compiler = join(root, "node_modules/typescript/lib/tsc.js");
  const said = await new Promise<string>((resolve) =>
    execFile(process.execPath, [compiler, "-p", dir, "--pretty", "false"], { cwd: dir }, (_, stdout) => resolve(stdout))
  );
  assert.equal(said.replaceAll(/block_\d+\.ts/g, (file) => places.get(file) ?? file), "");
});
