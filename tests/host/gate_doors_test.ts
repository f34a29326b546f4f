import assert from "node:assert/strict";
import { test } from "node:test";
import { SOURCES } from "../support/gate_doors.ts";
import { canCage } from "../support/hook_repo.ts";

const isForTheModel = (texts: readonly string[], text: string): boolean =>
  texts.filter((one) => one.includes(text)).length === 1;

for (const [name, open] of Object.entries(SOURCES)) {
  test(`N-001 N-002 B-004 through every door, ${name} that blocks a tool refuses the call with who and why`, async (t) => {
    if (!await canCage(t)) return;
    await using g = await open(t, { pre_tool_use: { action: "block", reason: "Not on a Monday" } });
    for (const [door, call] of Object.entries(g.doors)) {
      const { error, output } = await call({ text: "hi" });
      assert.match(error?.code ?? `none, and ${JSON.stringify(output)}`, /^(403 )?tool\.blocked$/, door);
      assert.equal(error?.message, `The call of "notes.ask" was blocked by ${g.by}: Not on a Monday`, door);
      const { by, reason, tool } = error?.data as Record<string, string>;
      assert.deepEqual([by, reason, tool], [g.by, "Not on a Monday", "notes.ask"], door);
      assert.deepEqual(await g.heard(), { pre_tool_use: 1 }, door);
    }
    const { h } = g.s;
    assert.equal(h.all("plugin.method_called").filter(({ data }) => data.method === "notes.ask").length, 0);
    assert.equal(h.all("plugin.tool_blocked").length, Object.keys(g.doors).length);
    assert.equal(h.all("plugin.tool_blocked")[0]?.data.by, g.by);
  });

  test(`N-001 N-002 B-004 through every door, arguments that ${name} modified reach the tool, and its text the caller`, async (t) => {
    if (!await canCage(t)) return;
    await using g = await open(t, {
      pre_tool_use: { action: "modify", modifiedInput: { text: "safer" }, additionalContext: ["Mind the gap"] },
      post_tool_use: { action: "injectContext", additionalContext: ["Seen it"] },
    });
    for (const [door, call] of Object.entries(g.doors)) {
      const { error, output, context } = await call({ text: "hi" });
      assert.deepEqual([error, output], [undefined, { text: "safer" }], door);
      assert.ok(isForTheModel(context, "Mind the gap") && isForTheModel(context, "Seen it"), door);
      assert.equal(context.length, 2, door);
      assert.deepEqual(await g.heard(), { pre_tool_use: 1, post_tool_use: 1 }, door);
    }
  });

  test(`N-001 N-002 B-004 through every door, the output is the one that ${name} left, or is withheld`, async (t) => {
    if (!await canCage(t)) return;
    await using g = await open(t, { post_tool_use: { action: "modify", modifiedOutput: { redacted: true } } });
    for (const [door, call] of Object.entries(g.doors)) {
      assert.deepEqual(await call({ text: "hi" }), { output: { redacted: true }, context: [] }, door);
      assert.deepEqual(await g.heard(), { post_tool_use: 1 }, door);
    }
    await using strict = await open(t, { post_tool_use: { action: "block", reason: "A secret is in it" } });
    for (const [door, call] of Object.entries(strict.doors)) {
      const { error, output } = await call({ text: "hi" });
      assert.equal(output, undefined, door);
      assert.match(error?.message ?? "", /^The output of "notes\.ask" was blocked by .*: A secret is in it$/, door);
      assert.deepEqual(await strict.heard(), { post_tool_use: 1 }, door);
    }
  });
}
