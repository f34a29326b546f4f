import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { blocksFor } from "../docs/support/guides.ts";
import { runtimeName } from "../support/require_or_skip.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
// npm is a program of Node's: once is enough.
const once = runtimeName === "node" ? test : () => {};

once("the two commands of README.md are npm start, which agent_test.ts runs, and npm test", async () => {
  const [shown] = await blocksFor("tests/examples/two_commands_test.ts", "README.md");
  const commands = shown!.trimEnd().split("\n").map((line) => line.replace(/ *#.*/, ""));
  assert.deepEqual(commands, ["npm start", "npm test"]);
  // All of it would be this test again: one small file stands for the others.
  const args = ["test", "--", "--runtime", "node", "tests/core/values/permits_test.ts"];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { stdout } = await promisify(execFile)("npm", args, { cwd: root, env });
  assert.match(stdout, /^[1-9]\d* passed, 0 failed, 0 skipped/m);
});
