import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { OperatorRules } from "../../src/core/rules/rules.ts";
import { readOperatorConfig } from "../../src/core/project/operator_config.ts";
import { RULES_LOOK_MS, watchRules } from "../../src/host/watch_rules.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const rule = (tool: string, decision: string) => `[[tool_rules]]\ntool = "${tool}"\ndecision = "${decision}"\n`;

/** A watch over a home; `look` has it look once more and waits for the end of that. */
async function watched(t: TestContext, text: string) {
  const home = await scratchDir(t);
  const file = join(home, "config.toml");
  await writeFile(file, text);
  const { files } = await detectRuntime();
  const clock = createFakeClock();
  let current: OperatorRules = await readOperatorConfig(home, files);
  const told: (string | null)[] = [];
  const watch = watchRules({
    home,
    runtime: { files, clock },
    current: () => current,
    onRules(rules, change) {
      current = rules;
      told.push(change);
    },
    warn: (message) => told.push(`warning: ${message}`),
  });
  t.after(() => watch.close());
  const rest = () => until(() => clock.waiting === 1, "the end of a look");
  return {
    home,
    file,
    watch,
    clock,
    told,
    rules: () => current.toolRules.map(({ tool, decision, id }) => `${id} ${tool} ${decision}`),
    /** Replaces the file in one step, as editors and commands do. */
    async write(changed: string) {
      await writeFile(`${file}.new`, changed);
      await rename(`${file}.new`, file);
    },
    async begin() {
      watch.begin();
      await rest();
    },
    async look(count = 1) {
      for (let i = 0; i < count; i++) {
        clock.advance(RULES_LOOK_MS);
        await rest();
      }
    },
  };
}

test("a running host takes up changed rules once the file rests, and is told in words what changed", async (t) => {
  const { begin, look, write, told, rules } = await watched(t, rule("mail.*", "ask"));
  await begin();
  await look(2);
  assert.deepEqual(told, []);
  await write(`${rule("mail.send", "allow")}${rule("mail.*", "ask")}${rule("files.*", "deny")}`);
  await look();
  assert.deepEqual(told, []); // The first look that sees a change may see half of it.
  await look();
  assert.deepEqual(told.splice(0), ["2 added"]);
  assert.deepEqual(rules(), [
    "config.toml:1 mail.send allow",
    "config.toml:4 mail.* ask",
    "config.toml:7 files.* deny",
  ]);
  await write(`${rule("mail.*", "deny")}[approvals]\nwait_sec = 5\n`);
  await look(2);
  assert.deepEqual(told.splice(0), ["1 added, 3 removed, [approvals] changed"]);
  await write(`# said again\n${rule("mail.*", "deny")}[approvals]\nwait_sec = 5\n`);
  await look(2);
  assert.deepEqual(told.splice(0), [null]);
  assert.deepEqual(rules(), ["config.toml:2 mail.* deny"]);
  await write(`# said again\n${rule("mail.*", "deny")}[approvals]\nwait_sec = 5\n[limits]\npids = 9\n`);
  await look(3);
  assert.deepEqual(told, []);
});

test("rules in another order are a change", async (t) => {
  const { begin, look, write, told } = await watched(t, rule("mail.*", "ask") + rule("*.send", "deny"));
  await begin();
  await write(rule("*.send", "deny") + rule("mail.*", "ask"));
  await look(2);
  assert.deepEqual(told, ["order changed"]);
});

test("a change between the host's own reading and the first look is not missed", async (t) => {
  const { begin, write, told } = await watched(t, rule("mail.*", "ask"));
  await write(rule("mail.*", "deny"));
  await begin();
  assert.deepEqual(told, ["1 added, 1 removed"]);
});

test("a broken file leaves the rules as they were and is warned of once", async (t) => {
  const { begin, look, write, told, rules } = await watched(t, rule("mail.*", "ask"));
  await begin();
  await write(rule("mail.*", "aks"));
  await look(4);
  assert.equal(told.length, 1);
  assert.match(told[0]!, /^warning: Rules on tools stay as they were: .*config\.toml:3:12: "aks" is none of/);
  assert.deepEqual(rules(), ["config.toml:1 mail.* ask"]);
  await write(rule("mail.*", "deny"));
  await look(2);
  assert.equal(told[1], "1 added, 1 removed");
});

test("a file that is gone or empty from one look to the next only takes no rule away", async (t) => {
  const { begin, look, write, file, told, rules } = await watched(t, rule("mail.*", "deny"));
  await begin();
  await rm(file);
  await look();
  await write("");
  await look();
  await write(`${rule("mail.*", "deny")}${rule("a.b", "ask")}`);
  await look();
  assert.deepEqual([told, rules()], [[], ["config.toml:1 mail.* deny"]]);
  await look();
  assert.deepEqual(told.splice(0), ["1 added"]);
  await rm(file);
  await look(2);
  assert.deepEqual([told, rules()], [["2 removed"], []]);
});

test("a watch that is closed looks no more", async (t) => {
  const { begin, write, watch, clock, told } = await watched(t, rule("mail.*", "ask"));
  await begin();
  await watch.close();
  assert.equal(clock.waiting, 0);
  await write(rule("mail.*", "deny"));
  clock.advance(10 * RULES_LOOK_MS);
  await watch.close();
  assert.deepEqual([clock.waiting, told], [0, []]);
});
