import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import type { Issue } from "../../../src/core/project/types.ts";

const parse = (file: string, content: unknown) =>
  parseHookFile(typeof content === "string" ? content : JSON.stringify(content), { file });

async function issueOf(file: string, content: unknown): Promise<Issue> {
  const error: HostError = await parse(file, content).then(() => assert.fail(`${file} was read`), (thrown) => thrown);
  assert.equal(error.code, "hook.invalid");
  return (error.data as { issues: Issue[] }).issues[0]!;
}

test("B-007 files of other programs are refused with what to do instead", async () => {
  for (const file of [".devin/hooks.v1.json", "/r/.zed/hooks.json", "/r/.vscode/settings.json", "a.schema.json"]) {
    const { code, message, hint } = await issueOf(file, { hooks: {} });
    assert.equal(code, "hook.unknown_dialect", file);
    assert.match(message, /^This file is .*, and no hook file that is read here$/, file);
    assert.ok(hint, file);
  }
});

test("B-007 a file that lies nowhere in particular is read by how it looks", async () => {
  const run = { type: "command", command: "x" };
  const dialectOf = async (content: unknown) => (await parse("/r/some.json", content)).hooks[0]?.dialect;
  assert.equal(await dialectOf({ hooks: { PreToolUse: [{ hooks: [run] }] } }), "plugin");
  assert.equal(await dialectOf({ version: 1, hooks: { preToolUse: [{ type: "command", bash: "x" }] } }), "copilot");
  for (const content of [{ hooks: { a: [{}] } }, { hooks: [] }, {}, []]) {
    assert.equal((await issueOf("/r/some.json", content)).code, "hook.unknown_dialect", JSON.stringify(content));
  }
});

test("B-008 a matcher group without hooks, or with a matcher that is no text, is reported at its place", async () => {
  const claude = "/r/.claude/settings.json";
  const issue = async (group: unknown): Promise<string> => {
    const { hooks, warnings: [{ code, path } = assert.fail()] } = await parse(claude, {
      hooks: { PreToolUse: [group] },
    });
    assert.deepEqual(hooks, []);
    return `${code} ${path}`;
  };
  assert.equal(await issue({ matcher: "Bash" }), "hook.missing_field hooks.PreToolUse[0].hooks");
  const hooks = [{ type: "command", command: "x" }];
  assert.equal(await issue({ matcher: 3, hooks }), "hook.wrong_type hooks.PreToolUse[0].matcher");
  assert.equal((await issueOf(claude, { hooks: [] })).code, "hook.wrong_type");
});

test("B-009 an .agent.md without front matter, or without hooks in it, has none; what is no map is refused", async () => {
  const agent = "/r/.github/agents/reviewer.agent.md";
  for (const text of ["# Reviewer\n", "---\nname: reviewer\n---\n", "---\nhooks:\n---\n", "---\n\n---\n"]) {
    assert.deepEqual((await parse(agent, text)).hooks, [], JSON.stringify(text));
  }
  assert.equal((await issueOf(agent, "---\n- a\n- b\n---\n")).code, "hook.not_a_map");
});
