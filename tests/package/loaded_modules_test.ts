import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runtimeName } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { ALLOWED_ROOMS, roomsIn } from "./support/allowed_rooms.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const lister = fileURLToPath(new URL("support/list_modules.mjs", import.meta.url));
const run = async (args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 1 << 26 })).stdout;

/** The modules that an entry loads, as each runtime reports them: paths in the repository, `npm:` packages, built-ins. */
const LISTERS: Readonly<Record<string, (entry: string, t: TestContext) => Promise<string[]>>> = {
  node: async (entry) => JSON.parse(await run([lister, join(root, entry)])),
  deno: async (entry) => {
    const { modules } = JSON.parse(await run(["info", "--json", "--no-lock", "--config", "deno.json", entry]));
    const reached = new Set<string>();
    const visit = (specifier: string): void => {
      if (reached.has(specifier)) return;
      reached.add(specifier);
      const { dependencies = [] } = modules.find((each: { specifier: string }) => each.specifier === specifier) ?? {};
      for (const { code, isDynamic } of dependencies) if (code && !isDynamic) visit(code.specifier);
    };
    visit(new URL(entry, `file://${root}`).href);
    return [...reached];
  },
  bun: async (entry, t) => {
    const out = await scratchDir(t);
    const meta = join(out, "meta.json");
    await run([
      "build",
      entry,
      "--target=bun",
      "--packages=external",
      "--splitting",
      `--metafile=${meta}`,
      "--outdir",
      out,
    ]);
    const { inputs } = JSON.parse(await readFile(meta, "utf8"));
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const { path: next, kind } of inputs[path]?.imports ?? []) if (kind === "import-statement") visit(next);
    };
    visit(entry);
    return [...reached];
  },
};

for (const [entry, allowed] of Object.entries(ALLOWED_ROOMS)) {
  test(`importing ${entry} alone loads its own rooms and nothing of the host`, async (t) => {
    assert.deepEqual(roomsIn(await LISTERS[runtimeName]!(entry, t)), allowed);
  });
}

test("the SDK is one module", async (t) => {
  const modules = await LISTERS[runtimeName]!("src/sdk/mod.ts", t);
  const ours = modules.filter((url) => !isBuiltin(url)).map((url) => url.replace(`file://${root}`, ""));
  assert.deepEqual(ours, ["src/sdk/mod.ts"]);
});
