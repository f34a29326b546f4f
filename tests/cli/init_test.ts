import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { AGENT_FRAMEWORKS } from "../../src/operator/scaffold/scaffold_agent.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const json = async (path: string) => JSON.parse(await readFile(path, "utf8"));

test("N-037 kaged init writes an agent for each framework, with the packages that its program imports", async (t) => {
  const dir = await scratchDir(t);
  for (const framework of Object.keys(AGENT_FRAMEWORKS)) {
    const folder = join(dir, framework);
    const { code, stderr } = await runKaged(["init", folder, "--framework", framework, "--yes"]);
    assert.equal(code, 0, stderr);
    const { dependencies, scripts, type } = await json(join(folder, "package.json"));
    assert.deepEqual([type, scripts.start], ["module", "node agent.ts"]);
    const program = await readFile(join(folder, "agent.ts"), "utf8");
    const imported = [...program.matchAll(/from "((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name]) => name!);
    for (const name of imported) assert.ok(name in dependencies, `${framework}: ${name}`);
    assert.ok("@kaged/memory-markdown" in dependencies && "@kaged/smart-compactor" in dependencies);
    assert.ok(!Object.values(dependencies).includes("*"), JSON.stringify(dependencies));
  }
});

test("N-037 kaged init takes runtime, plugins and name from its flags", async (t) => {
  const folder = join(await scratchDir(t), "Agent One");
  const flags = ["--framework", "plain", "--runtime", "deno", "--plugin", "memory", "--name", "one", "--json"];
  const { code, stdout, stderr } = await runKaged(["init", folder, ...flags]);
  assert.equal(code, 0, stderr);
  const { name, runtime, plugins, files } = JSON.parse(stdout);
  assert.deepEqual([name, runtime, plugins], ["one", "deno", ["memory"]]);
  assert.deepEqual((await readdir(folder)).sort(), [...files].sort());
  assert.match((await json(join(folder, "package.json"))).scripts.start, /^deno run /);
  assert.doesNotMatch(await readFile(join(folder, "project.yaml"), "utf8"), /compactor/);
});

test("N-037 kaged init without a plugin is a project that can be read", async (t) => {
  const folder = join(await scratchDir(t), "bare");
  await runKaged(["init", folder, "--framework", "plain", "--plugin", "none", "--yes"]);
  const { code, stderr } = await runKaged(["project", "resolve", folder, "--home", join(folder, "../home")]);
  assert.equal(code, 0, stderr);
});

test("N-037 kaged init leaves a folder that is in use alone, and says what a name may be", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "mine.txt"), "mine");
  const taken = await runKaged(["init", dir, "--yes"]);
  assert.deepEqual([taken.code, await readdir(dir)], [1, ["mine.txt"]]);
  assert.match(taken.stderr, /^error\[scaffold\.not_empty\]/);
  const named = await runKaged(["init", join(dir, "new"), "--yes", "--name", "No Name"]);
  assert.equal(named.code, 1);
  assert.match(named.stderr, /^error\[scaffold\.name_invalid\].*"No Name"/);
});

test("N-037 kaged init asks on a terminal for what is not said", async (t) => {
  if (!await canUseTerminal(t)) return;
  const folder = join(await scratchDir(t), "asked");
  const { code, shown } = await onTerminal(["init", folder, "--framework", "plain"], [
    ["Which runtime?", "\x1b[B\r", "Deno"],
    ["Which plugins?", "\x1b[B\r", "None"],
  ]);
  assert.equal(code, 0, shown);
  assert.equal((await json(join(folder, "package.json"))).scripts.start, "bun agent.ts");
  assert.doesNotMatch(await readFile(join(folder, "project.yaml"), "utf8"), /compactor/);
});
