import assert from "node:assert/strict";
import { test } from "node:test";
import { compileRules, judgeCall } from "../../../src/core/rules/judge.ts";
import { namePattern } from "../../../src/core/rules/name_pattern.ts";
import {
  DECISIONS,
  DEFAULT_APPROVALS,
  type JudgedCall,
  type RuleSet,
  strictness,
  type ToolRule,
} from "../../../src/core/rules/rules.ts";
import fc from "../../support/fast_check.ts";

const CALL: JudgedCall = { tool: "mail.send", agent: "primary", project: "harbor", isDestructive: false };
const rule = (id: string, tool: string, decision: ToolRule["decision"], more: Partial<ToolRule> = {}): ToolRule => {
  return { id, tool, decision, agent: null, project: null, ...more };
};
const set = (operator: ToolRule[], project: ToolRule[] = [], more: Partial<RuleSet["settings"]> = {}): RuleSet => {
  return { operator, project, settings: { ...DEFAULT_APPROVALS, ...more } };
};

test("the operator's first rule that matches tool, agent and project decides", () => {
  const rules = set([
    rule("c:1", "mail.*", "deny", { agent: "primary.subagents.*" }),
    rule("c:2", "mail.*", "deny", { project: "other" }),
    rule("c:3", "mail.send", "ask", { agent: "primary", project: "harbor" }),
    rule("c:4", "*.*", "deny"),
  ]);
  assert.deepEqual(judgeCall(CALL, rules), {
    decision: "ask",
    source: { kind: "rule", id: "c:3" },
    rule: rules.operator[2],
    whose: "operator",
    reason: `The operator's rule c:3 says ask for "mail.send"`,
  });
  const decided = (more: Partial<JudgedCall>) => judgeCall({ ...CALL, ...more }, rules).source?.id;
  assert.equal(decided({ agent: "primary.subagents.a" }), "c:1");
  assert.equal(decided({ agent: "primary.subagents.a.subagents.b" }), "c:4");
  assert.equal(decided({ project: "other" }), "c:2");
  assert.equal(decided({ tool: "mail.read" }), "c:4");
});

test("without a rule of the operator's a tool that claims to destroy gets what [approvals] says, any other is allowed", () => {
  const rules = set([rule("c:1", "files.*", "allow")], [], { destructive: "ask" });
  const none = { decision: "allow", source: null, rule: null, whose: null, reason: "No rule matches" };
  assert.deepEqual(judgeCall(CALL, rules), none);
  assert.deepEqual(judgeCall({ ...CALL, isDestructive: true }, rules), {
    decision: "ask",
    source: { kind: "rule", id: "config.toml:approvals.destructive" },
    rule: null,
    whose: "operator",
    reason: "The tool claims to destroy, and [approvals] destructive of the operator says ask",
  });
  // A rule of the operator's is the word on that tool, whatever it claims.
  assert.equal(judgeCall({ ...CALL, tool: "files.rm", isDestructive: true }, rules).source?.id, "c:1");
  assert.equal(judgeCall({ ...CALL, isDestructive: true }, set([])).source, null);
});

test("a project tightens and never loosens; where both are as strict, the operator's counts", () => {
  for (const own of [null, ...DECISIONS]) {
    for (const theirs of DECISIONS) {
      const operator = own === null ? [] : [rule("c:1", "mail.*", own)];
      const verdict = judgeCall(CALL, set(operator, [rule("p", "mail.send", theirs)]));
      const isTighter = strictness(theirs) > strictness(own ?? "allow");
      assert.equal(verdict.decision, isTighter ? theirs : own ?? "allow", `${own} ${theirs}`);
      assert.equal(verdict.source?.id ?? null, isTighter ? "p" : own === null ? null : "c:1", `${own} ${theirs}`);
      assert.equal(verdict.whose, isTighter ? "project" : own === null ? null : "operator");
    }
  }
  const several = set([], [
    rule("p:1", "*.*", "watch"),
    rule("p:2", "mail.*", "deny"),
    rule("p:3", "mail.send", "ask"),
  ]);
  assert.equal(judgeCall(CALL, several).source?.id, "p:2");
});

test("rules are empty where every call is allowed without a look at them", () => {
  assert.equal(compileRules(set([])).isEmpty, true);
  assert.equal(compileRules(set([rule("c:1", "a.b", "allow")])).isEmpty, false);
  assert.equal(compileRules(set([], [rule("p", "a.b", "ask")])).isEmpty, false);
  assert.equal(compileRules(set([], [], { destructive: "watch" })).isEmpty, false);
});

test("explain() names for every rule whether it matches, whether it decides, and why", () => {
  const told = (rules: RuleSet, call = CALL) => {
    const { verdict, rules: all, isByClaim } = compileRules(rules).explain(call);
    return [
      verdict.decision,
      ...all.map((one) => `${one.rule.id} ${one.state}: ${one.why}`),
      ...isByClaim ? ["claim"] : [],
    ];
  };
  const operator = [
    rule("c:1", "files.*", "deny"),
    rule("c:2", "mail.*", "deny", { agent: "primary.subagents.*" }),
    rule("c:3", "mail.*", "deny", { project: "other" }),
    rule("c:4", "mail.*", "watch"),
    rule("c:5", "*.*", "deny"),
  ];
  const project = [rule("p:1", "mail.send", "ask"), rule("p:2", "mail.*", "watch")];
  const differing = [
    'c:1 differs: the tool is not "files.*"',
    'c:2 differs: the agent is not "primary.subagents.*"',
    'c:3 differs: it is for project "other"',
  ];
  assert.deepEqual(told(set(operator, project)), [
    "ask",
    ...differing,
    "c:4 matches: p:1 of the project is stricter",
    "c:5 matches: c:4 stands above it",
    "p:1 decides: stricter than the operator's c:4",
    "p:2 matches: p:1 stands above it or is stricter",
  ]);
  assert.deepEqual(told(set(operator, [project[1]!])).slice(4), [
    "c:4 decides: the first of the operator's that matches",
    "c:5 matches: c:4 stands above it",
    "p:2 matches: what the operator says is as strict, or stricter",
  ]);
  assert.deepEqual(told(set([], project, { destructive: "deny" }), { ...CALL, isDestructive: true }), [
    "deny",
    "p:1 matches: what the operator says is as strict, or stricter",
    "p:2 matches: what the operator says is as strict, or stricter",
    "claim",
  ]);
});

const patterns = fc.constantFrom("mail.*", "mail.send", "*.send", "*.*", "files.rm", "m*.s*d");
const rules = fc.record({
  tool: patterns,
  agent: fc.constantFrom(null, "primary", "primary.subagents.*", "p*"),
  project: fc.constantFrom(null, "harbor", "other"),
  decision: fc.constantFrom(...DECISIONS),
});
const numbered = (mark: string) =>
  fc.array(rules, { maxLength: 5 }).map((all) => all.map((one, index) => ({ ...one, id: `${mark}:${index}` })));
const sets = fc.record({
  operator: numbered("c"),
  project: numbered("p"),
  settings: fc.constantFrom(...DECISIONS).map((destructive) => ({ ...DEFAULT_APPROVALS, destructive })),
});
const calls = fc.record({
  tool: fc.constantFrom("mail.send", "mail.read", "files.rm", "x.y"),
  agent: fc.constantFrom("primary", "primary.subagents.a"),
  project: fc.constantFrom("harbor", "third"),
  isDestructive: fc.boolean(),
});

test("for any rules: no rule of a project's loosens, the verdict is that of the plain reading, and explain() agrees", () => {
  fc.assert(
    fc.property(sets, calls, (all, call) => {
      const matches = (one: ToolRule) =>
        namePattern(one.tool)(call.tool) && (one.agent === null || namePattern(one.agent)(call.agent)) &&
        (one.project === null || one.project === call.project);
      const base = all.operator.find(matches)?.decision ?? (call.isDestructive ? all.settings.destructive : "allow");
      const strictest = Math.max(
        strictness(base),
        ...all.project.filter(matches).map((one) => strictness(one.decision)),
      );
      const judge = compileRules(all);
      const verdict = judge.judge(call);
      assert.equal(verdict.decision, DECISIONS[strictest]);
      assert.ok(strictness(verdict.decision) >= strictness(judgeCall(call, { ...all, project: [] }).decision));
      if (judge.isEmpty) assert.equal(verdict.decision, "allow");
      const explained = judge.explain(call);
      assert.deepEqual(explained.verdict, verdict);
      const deciding = explained.rules.filter(({ state }) => state === "decides").map((one) => one.rule);
      assert.deepEqual(deciding, verdict.rule === null ? [] : [verdict.rule]);
      for (const one of explained.rules) assert.equal(one.state !== "differs", matches(one.rule));
    }),
    { numRuns: 2_000 },
  );
});
