import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";
import { requireOrSkip } from "../support/require_or_skip.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

test("N-034 adapters fit the frameworks' own types, in strict TypeScript and without a cast", async (t) => {
  const isThere = existsSync(`${ROOT}tools/frameworks/node_modules/ai/package.json`);
  const hint = "sh scripts/setup.sh extras installs the frameworks in tools/frameworks";
  if (!await requireOrSkip(t, "the frameworks' packages", isThere, hint)) return;
  const checked = promisify(execFile)(`${ROOT}node_modules/.bin/tsc`, ["-p", "tools/frameworks"], { cwd: ROOT });
  const { stdout } = await checked.catch((error: { stdout: string }) => error);
  assert.equal(stdout, "");
});
