import assert from "node:assert/strict";
import { chmod, lstat, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { addToolRule, type PlainRule, removeToolRule } from "../../../src/core/project/edit_tool_rules.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import fc from "../../support/fast_check.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const FILE = `# how things run here
log_level = "info"

# nobody sends mail unasked
# (since May)
[[tool_rules]] # mail
tool = "mail.*"
decision = "ask" # for now

[limits]
pids = 20

[[tool_rules]]
tool = "files.rm"
agent = "primary"
decision = "deny"
# the end
`;
const rule = (tool: string, decision: PlainRule["decision"], more: Partial<PlainRule> = {}): PlainRule => {
  return { tool, decision, agent: null, project: null, ...more };
};
const MAIL = rule("mail.*", "ask");
const FILES = rule("files.rm", "deny", { agent: "primary" });

async function home(t: TestContext, text?: string) {
  const dir = await scratchDir(t);
  const file = join(dir, "config.toml");
  if (text !== undefined) await writeFile(file, text);
  const runtime = await detectRuntime();
  return {
    dir,
    file,
    add: (one: PlainRule, above: PlainRule | null) => addToolRule(dir, one, { above }, runtime),
    remove: (one: PlainRule) => removeToolRule(dir, one, runtime),
    text: () => readFile(file, "utf8"),
  };
}

async function failureOf(work: Promise<unknown>): Promise<{ code?: string; hint?: string | undefined }> {
  return await work.then(() => ({}), ({ code, hint }: HostError) => ({ code, hint }));
}

test("a rule is added right above the one it answers, over that one's comments, and every other character stays", async (t) => {
  const { add, text } = await home(t, FILE);
  const allow = rule("mail.send", "allow", { agent: "primary", project: "harbor" });
  assert.equal(await add(allow, MAIL), "config.toml:4");
  const lines = '[[tool_rules]]\ntool = "mail.send"\nagent = "primary"\nproject = "harbor"\ndecision = "allow"\n\n';
  const once = FILE.replace("# nobody", `${lines}# nobody`);
  assert.equal(await text(), once);
  assert.equal(await add(rule("files.rm", "allow"), FILES), "config.toml:19");
  const twice = once.replace(
    '[[tool_rules]]\ntool = "files.rm"',
    (found) => `[[tool_rules]]\ntool = "files.rm"\ndecision = "allow"\n\n${found}`,
  );
  assert.equal(await text(), twice);
  // The same answer a second time, from another front end.
  assert.equal(await add(allow, MAIL), "config.toml:4");
  assert.equal(await text(), twice);
  const { toolRules } = await parseOperatorConfig(twice, { file: "config.toml" });
  assert.deepEqual(toolRules.map(({ decision }) => decision), ["allow", "ask", "allow", "deny"]);
});

test("without a rule to answer, the new one goes behind the last, or to the end of a file without any", async (t) => {
  const { add, text } = await home(t, FILE);
  assert.equal(await add(rule("a.b", "ask"), null), "config.toml:18");
  assert.equal(await text(), FILE.replace('"deny"\n', '"deny"\n\n[[tool_rules]]\ntool = "a.b"\ndecision = "ask"\n'));
  const [bare, cut] = [await home(t), await home(t, "[limits]\npids = 20")];
  assert.equal(await bare.add(rule("a.b", "ask"), null), "config.toml:1");
  assert.equal(await bare.text(), '[[tool_rules]]\ntool = "a.b"\ndecision = "ask"\n');
  assert.equal((await stat(bare.file)).mode & 0o777, 0o600);
  assert.equal(await cut.add(rule("a.b", "ask"), null), "config.toml:4");
  assert.equal(await cut.text(), '[limits]\npids = 20\n\n[[tool_rules]]\ntool = "a.b"\ndecision = "ask"\n');
});

test("a rule is found by what it says, wherever it has moved; one that is gone is an error and changes nothing", async (t) => {
  const { add, text, file } = await home(t, `# moved\n\n\n${FILE}`);
  assert.equal(await add(rule("mail.send", "allow"), MAIL), "config.toml:7");
  const changed = FILE.replace("files.rm", "files.*");
  await writeFile(file, changed);
  assert.deepEqual(await failureOf(add(rule("files.rm", "allow"), FILES)), {
    code: "config.rule_unknown",
    hint: "See kaged rules list, and try again",
  });
  assert.equal(await text(), changed);
});

test("a rule is removed with its own lines; comments and every other rule stay", async (t) => {
  const { add, remove, text } = await home(t, FILE);
  await add(rule("mail.send", "allow"), MAIL);
  await add(rule("a.b", "ask"), null);
  assert.equal(await remove(rule("mail.send", "allow")), true);
  assert.equal(await remove(rule("a.b", "ask")), true);
  assert.equal(await text(), FILE);
  assert.equal(await remove(rule("a.b", "ask")), false);
  assert.equal(await remove(MAIL), true);
  const left = FILE.replace(/\[\[tool_rules\]\] # mail\n.*\n.*\n/, "");
  assert.equal(await text(), left);
  assert.equal(await remove(FILES), true);
  assert.equal(await text(), left.replace(/\n\[\[tool_rules\]\]\n.*\n.*\n.*\n/, ""));
  const bare = await home(t);
  await bare.add(rule("a.b", "ask"), null);
  assert.equal(await bare.remove(rule("a.b", "ask")), true);
  assert.equal(await bare.text(), "");
});

test("mode, link and line ends of the file stay, and nothing is left beside it", async (t) => {
  const { dir, file, add, text } = await home(t, FILE.replaceAll("\n", "\r\n"));
  await rename(file, join(dir, "real.toml"));
  await chmod(join(dir, "real.toml"), 0o640);
  await symlink("real.toml", file);
  assert.equal(await add(rule("mail.send", "allow"), MAIL), "config.toml:4");
  assert.ok((await lstat(file)).isSymbolicLink());
  assert.equal((await stat(file)).mode & 0o777, 0o640);
  assert.doesNotMatch(await text(), /[^\r]\n/);
  assert.deepEqual((await readdir(dir)).filter((name) => name.startsWith("real")), ["real.toml"]);
});

test("a file that is wrong, would be, or is written in another way stays as it is", async (t) => {
  const cases: readonly [text: string, one: PlainRule, above: PlainRule | null, code: string][] = [
    ['tool_rules = [{ tool = "mail.*", decision = "ask" }]\n', rule("a.b", "ask"), MAIL, "config.edit_refused"],
    ['tool_rules = [{ tool = "mail.*", decision = "ask" }]\n', rule("a.b", "ask"), null, "config.edit_refused"],
    ["[limits]\npids = 0\n", rule("a.b", "ask"), null, "config.invalid"],
    [FILE, rule("*", "allow"), MAIL, "config.invalid"],
  ];
  for (const [text, one, above, code] of cases) {
    const place = await home(t, text);
    assert.equal((await failureOf(place.add(one, above))).code, code, text);
    assert.equal(await place.text(), text);
  }
  const inline = await home(
    t,
    'tool_rules = [{ tool = "mail.*", decision = "ask" }, { tool = "a.b", decision = "ask" }]',
  );
  assert.equal((await failureOf(inline.remove(MAIL))).code, "config.edit_refused");
});

test("lines of a text that look like headers and comments are no place for a rule", async (t) => {
  const strange = `[[tool_rules]]\ntool = """\\
# mail."""
decision = "ask"
[[tool_rules]]
tool = """\\
  files\\
# "no" """
decision = "deny"
`;
  assert.equal((await failureOf((await home(t, strange)).add(rule("a.b", "ask"), null))).code, "config.invalid");
  const odd = `[[tool_rules]]\ntool = "mail.*"\ndecision = """\\\n
    ask"""\n[[tool_rules]]\ntool = "files.rm"\nagent = "primary"\ndecision = "deny"\n`;
  const { add, remove, text } = await home(t, odd);
  assert.equal(await add(rule("a.b", "ask"), FILES), "config.toml:6");
  assert.equal(await remove(rule("a.b", "ask")), true);
  assert.equal(await remove(MAIL), true);
  assert.equal(await text(), '[[tool_rules]]\ntool = "files.rm"\nagent = "primary"\ndecision = "deny"\n');
});

test("two programs that add a rule at the same time both find it in the file", async (t) => {
  const { add, text } = await home(t, FILE);
  await Promise.all(["a", "b", "c", "d"].map((name) => add(rule(`mail.${name}`, "allow"), MAIL)));
  const { toolRules } = await parseOperatorConfig(await text(), { file: "config.toml" });
  assert.deepEqual(toolRules.slice(0, 4).map(({ tool }) => tool).sort(), ["mail.a", "mail.b", "mail.c", "mail.d"]);
  assert.equal(toolRules[4]?.tool, "mail.*");
});

test("any rules that are added stand in the order asked for, and removing them brings the file back", async (t) => {
  const one = fc.record({
    tool: fc.constantFrom("x.y", "x.*", "*.y"),
    decision: fc.constantFrom("allow" as const, "deny" as const),
    isAbove: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(one, { maxLength: 4, selector: (x) => x.tool + x.decision }), async (all) => {
      const { add, remove, text } = await home(t, FILE);
      let expected = ["mail.* ask", "files.rm deny"];
      for (const { tool, decision, isAbove } of all) {
        await add(rule(tool, decision), isAbove ? FILES : null);
        const at = isAbove ? expected.indexOf("files.rm deny") : expected.length;
        expected = expected.toSpliced(at, 0, `${tool} ${decision}`);
      }
      const { toolRules } = await parseOperatorConfig(await text(), { file: "config.toml" });
      assert.deepEqual(toolRules.map(({ tool, decision }) => `${tool} ${decision}`), expected);
      for (const { tool, decision } of all) assert.ok(await remove(rule(tool, decision)));
      assert.equal(await text(), FILE);
    }),
    { numRuns: 25 },
  );
});
