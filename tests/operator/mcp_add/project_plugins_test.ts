import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { addToAgent, removeFromAgents, writeProject } from "../../../src/operator/mcp_add/project_plugins.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

async function ground(t: TestContext, text: string | null) {
  const dir = await scratchDir(t);
  const file = join(dir, "project.yaml");
  if (text !== null) await writeFile(file, text);
  const runtime = await detectRuntime();
  const add = async (agent: string, plugin: string): Promise<string | null> => {
    const change = await addToAgent({ dir, agent, plugin, files: runtime.files });
    if (change) await writeProject(change, runtime);
    return change && await readFile(file, "utf8");
  };
  const remove = async (plugin: string): Promise<string | null> => {
    const change = await removeFromAgents(dir, plugin, runtime.files);
    if (change) await writeProject(change, runtime);
    return change && await readFile(file, "utf8");
  };
  return { dir, file, runtime, add, remove };
}

const PROJECT = `# The band's project
id: band
primary: # the main agent
  plugins:
    notes: { package: "@kaged/notes" } # keep
  subagents:
    researcher:
      tools: {}
`;

test("N-031 a server is written into the project for one agent, and comments stay", async (t) => {
  const { add, remove, file } = await ground(t, PROJECT);
  const kept = '    notes: { package: "@kaged/notes" } # keep\n';
  assert.equal(await add("primary", "memory"), PROJECT.replace(kept, `${kept}    memory: { package: memory }\n`));
  assert.equal(await add("primary", "memory"), null, "it is there");
  assert.match(
    (await add("primary.subagents.researcher", "memory"))!,
    /tools: \{\}\n {6}plugins: \{ memory: \{ package: memory \} \}\n$/,
  );
  await remove("memory");
  assert.equal(await readFile(file, "utf8"), `${PROJECT}      plugins: {  }\n`);
  assert.equal(await remove("memory"), null);
});

test("a folder without a project gets one, and a plugin's key is not taken from another", async (t) => {
  const { add } = await ground(t, null);
  assert.equal(await add("primary", "memory"), "primary:\n  plugins:\n    memory: { package: memory }\n");
  const other = await ground(t, 'primary:\n  plugins:\n    memory: { package: "@x/memory" }\n');
  assert.match(
    (await other.add("primary", "memory"))!,
    /memory: \{ package: "@x\/memory" \}\n {4}memory-2: \{ package: memory \}/,
  );
});

test("an agent that the project does not have is named, with those it has", async (t) => {
  const { add } = await ground(t, PROJECT);
  await assert.rejects(add("primary.subagents.writer", "memory"), {
    code: "mcp_add.agent_unknown",
    hint: /researcher/,
  });
});

test("the last plugin, and one of several lines, is removed with its lines alone", async (t) => {
  const one = await ground(t, "primary:\n  plugins:\n    a:\n      package: a\n      config: {}\n  tools: {}\n");
  assert.equal(await one.remove("a"), "primary:\n  plugins:\n  tools: {}\n");
  const flow = await ground(t, "primary: { plugins: { a: { package: a }, b: { package: b }, c: { package: c } } }\n");
  assert.equal(await flow.remove("b"), "primary: { plugins: { a: { package: a }, c: { package: c } } }\n");
  assert.equal(await flow.remove("c"), "primary: { plugins: { a: { package: a } } }\n");
});

test("a project that changes while it is edited, or that hides behind an alias, is left as it is", async (t) => {
  const { dir, file, runtime } = await ground(t, PROJECT);
  const change = await addToAgent({ dir, agent: "primary", plugin: "memory", files: runtime.files });
  await writeFile(file, `${PROJECT}# mine\n`);
  await assert.rejects(writeProject(change!, runtime), { code: "mcp_add.edit_refused" });
  assert.equal(await readFile(file, "utf8"), `${PROJECT}# mine\n`);
  const alias = await ground(t, "x-p: &p\n  a: { package: a }\nprimary:\n  plugins: *p\n");
  await assert.rejects(alias.remove("a"), { code: "mcp_add.edit_refused" });
});
