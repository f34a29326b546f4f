import assert from "node:assert/strict";
import { test } from "node:test";
import { addUse, proposalOf, ruleLines, type ToolUse } from "../../../src/core/rules/propose_rules.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import fc from "../../support/fast_check.ts";

const place = { tool: "mail.send", agent_path: "primary" };
const watched = (more: Record<string, unknown> = {}) => {
  const data = { ...place, by: "config.toml:1", read_only: false, destructive: false, ...more };
  return { type: "plugin.tool_watched", data };
};
const answered = (decision: string, more: Record<string, unknown> = {}) => {
  return { type: "approval.answered", data: { ...place, decision, edited: false, ...more } };
};

function usesOf(...events: { type: string; data: Record<string, unknown> }[]): ToolUse[] {
  const uses = new Map<string, ToolUse>();
  for (const event of events) addUse(uses, event);
  return [...uses.values()];
}

function proposed(...events: { type: string; data: Record<string, unknown> }[]): string {
  const { decision, why } = proposalOf(usesOf(...events)[0]!, "harbor");
  return `${decision}: ${why}`;
}

test("watched calls and answers are counted for each tool and agent, and nothing else is", () => {
  const uses = usesOf(
    watched(),
    watched({ by: "config.toml:9", destructive: true }),
    watched({ agent_path: "primary.subagents.a", read_only: true }),
    answered("allow"),
    answered("allow", { edited: true }),
    answered("deny"),
    answered("allow", { tool: "connect" }),
    answered("allow", { tool: 'x.y"\ndecision' }),
    answered("allow", { agent_path: null }),
    { type: "plugin.tool_blocked", data: { ...place, by: "x" } },
  );
  assert.deepEqual(uses, [
    {
      tool: "mail.send",
      agent: "primary",
      watched: 2,
      allowed: 1,
      edited: 1,
      denied: 1,
      isReadOnly: false,
      isDestructive: true,
      watchedBy: ["config.toml:1", "config.toml:9"],
    },
    {
      tool: "mail.send",
      agent: "primary.subagents.a",
      watched: 1,
      allowed: 0,
      edited: 0,
      denied: 0,
      isReadOnly: true,
      isDestructive: false,
      watchedBy: ["config.toml:1"],
    },
  ]);
});

test("a proposal follows what people said, then what the tool claims, and asks in every case of doubt", () => {
  const [yes, no] = [answered("allow"), answered("deny")];
  assert.equal(proposed(watched()), "ask: nobody has answered for it");
  assert.equal(proposed(watched({ read_only: true })), "allow: it claims only to read");
  assert.equal(proposed(watched({ read_only: true }), watched()), "ask: nobody has answered for it");
  assert.equal(proposed(watched(), watched({ read_only: true })), "ask: nobody has answered for it");
  assert.equal(proposed(yes, yes), "ask: allowed only 2 times");
  assert.equal(proposed(yes, yes, yes), "allow: allowed every time, 3 times");
  assert.equal(proposed(yes, yes, yes, yes, no), "ask: allowed 4 times, denied once");
  assert.equal(proposed(yes, yes, yes, answered("allow", { edited: true })), "ask: allowed with other arguments, once");
  assert.equal(proposed(no), "deny: denied every time, once");
  assert.equal(proposed(watched({ read_only: true }), no, no), "deny: denied every time, 2 times");
});

test("any proposals are lines that config.toml takes as they are, with the tool, agent and decision they name", async () => {
  const facts = fc.record({
    tool: fc.constantFrom("mail.send", "mail.read", "a-b.c_d"),
    agent_path: fc.constantFrom("primary", "primary.subagents.a", `primary.subagents.${"long".repeat(16)}.subagents.b`),
    decision: fc.constantFrom("allow", "deny"),
    edited: fc.boolean(),
  });
  const events = fc.array(facts.map((data) => ({ type: "approval.answered", data })), { minLength: 1 });
  await fc.assert(fc.asyncProperty(events, async (all) => {
    const rules = usesOf(...all).map((use) => proposalOf(use, "harbor"));
    const { toolRules, warnings } = await parseOperatorConfig(ruleLines(rules).join("\n"), { file: "config.toml" });
    assert.deepEqual(toolRules.map(({ id: _, ...rule }) => rule), rules.map(({ why: _, ...rule }) => rule));
    assert.deepEqual(warnings, []);
  }));
});
