import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { copyExamples, exampleNames, HOW, PACKAGES } from "../support/framework_examples.ts";
import { requireOrSkip, runtimeName } from "../support/require_or_skip.ts";

const MOST_LINES = 60;
/** Guides whose output is compared here; each example has one. */
const GUIDES = [
  "examples/frameworks/ai-sdk/README.md",
  "examples/frameworks/anthropic/README.md",
  "examples/frameworks/claude-agent/README.md",
  "examples/frameworks/langchain/README.md",
  "examples/frameworks/mastra/README.md",
  "examples/frameworks/openai-agents/README.md",
  "examples/frameworks/plain/README.md",
];

test("N-034 every example of a framework is run by a test", async () => {
  const isRun = (name: string) => GUIDES.includes(`examples/frameworks/${name}/README.md`);
  assert.deepEqual((await exampleNames()).filter((name) => !isRun(name)), []);
});

for (const guide of GUIDES) {
  const name = guide.split("/").at(-2)!;
  test(`N-034 the example examples/frameworks/${name} is short, and prints what its README.md shows`, async (t) => {
    if (!await requireOrSkip(t, "the frameworks' packages", existsSync(PACKAGES), HOW)) return;
    await using copy = await copyExamples();
    const cwd = copy.folder(name);
    const lines = (await readFile(join(cwd, "agent.ts"), "utf8")).split("\n").length - 1;
    assert.ok(lines < MOST_LINES, `agent.ts has ${lines} lines`);
    const args = runtimeName === "deno" ? ["run", "--allow-all", "--no-lock", "--no-check"] : [];
    const env = { ...process.env, KAGED_HOME: join(copy.root, "home") };
    const run = promisify(execFile)(process.execPath, [...args, "agent.ts"], { cwd, env });
    const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
    assert.equal(stdout, await shown(cwd), stderr);
  });
}

/** The output that the guide of an example shows. */
async function shown(dir: string): Promise<string> {
  const guide = await readFile(join(dir, "README.md"), "utf8");
  const [, output] = /^```\n\$ node agent\.ts\n([^]*?)^```$/m.exec(guide) ?? assert.fail("README.md shows no output");
  return output!;
}
