/**
 * Judges the calls of tools by rules: the operator's first match decides, and a project may only tighten that. Pure.
 *
 * @module
 */
import { namePattern } from "./name_pattern.ts";
import { type JudgedCall, type RuleOwner, type RuleSet, strictness, type ToolRule, type Verdict } from "./rules.ts";

/** Rules that are ready to judge. */
export interface Judge {
  /** Whether every call is allowed, whatever it is: nothing needs to be judged then. */
  readonly isEmpty: boolean;
  judge(call: JudgedCall): Verdict;
  /** Returns the verdict with the part that every rule had in it. */
  explain(call: JudgedCall): Explanation;
}

/** A verdict, and how it came about. */
export interface Explanation {
  readonly verdict: Verdict;
  /** The operator's rules in their order, then the project's. */
  readonly rules: readonly ExplainedRule[];
  /** Whether `[approvals] destructive` was asked, because the tool claims to destroy and no rule of the operator matched. */
  readonly isByClaim: boolean;
}

/** One rule and a call. */
export interface ExplainedRule {
  readonly rule: ToolRule;
  readonly whose: RuleOwner;
  /** `decides` and `matches` both match; the first is the one whose decision holds. */
  readonly state: "decides" | "matches" | "differs";
  /** Why, in words. */
  readonly why: string;
}

/** Source of a verdict that `[approvals] destructive` made. */
export const DESTRUCTIVE_ID = "config.toml:approvals.destructive";

/** Returns the decision on a call. For many calls, compile the rules once. */
export function judgeCall(call: JudgedCall, rules: RuleSet): Verdict {
  return compileRules(rules).judge(call);
}

/** Prepares rules for any number of calls. */
export function compileRules({ operator, project, settings }: RuleSet): Judge {
  const [own, tightening] = [operator.map(compiled), project.map(compiled)];
  const judge = (call: JudgedCall): Verdict => {
    const match = own.find(({ differs }) => differs(call) === null)?.rule ?? null;
    const base = match ? verdictOf(match, "operator") : byClaim(call, settings.destructive);
    const strictest = strictestOf(tightening.filter(({ differs }) => differs(call) === null));
    const isTighter = strictest !== null && strictness(strictest.decision) > strictness(base.decision);
    return isTighter ? verdictOf(strictest, "project") : base;
  };
  return {
    isEmpty: operator.length === 0 && project.length === 0 && settings.destructive === "allow",
    judge,
    explain(call) {
      const verdict = judge(call);
      const first = own.find(({ differs }) => differs(call) === null)?.rule ?? null;
      const line = (whose: RuleOwner) => (one: Compiled): ExplainedRule => {
        const { rule } = one;
        const difference = one.differs(call);
        if (difference !== null) return { rule, whose, state: "differs", why: difference };
        if (rule === verdict.rule) return { rule, whose, state: "decides", why: decidesBecause(whose, first) };
        return { rule, whose, state: "matches", why: yieldsBecause(rule, { whose, first, verdict }) };
      };
      const rules = [...own.map(line("operator")), ...tightening.map(line("project"))];
      return { verdict, rules, isByClaim: call.isDestructive && first === null };
    },
  };
}

/** A rule whose patterns are prepared. */
interface Compiled {
  readonly rule: ToolRule;
  /** Returns in what a call is not the rule's, in words; null for a match. */
  differs(call: JudgedCall): string | null;
}

function compiled(rule: ToolRule): Compiled {
  const fitsTool = namePattern(rule.tool);
  const fitsAgent = rule.agent === null ? () => true : namePattern(rule.agent);
  return {
    rule,
    differs({ tool, agent, project }) {
      if (!fitsTool(tool)) return `the tool is not "${rule.tool}"`;
      if (!fitsAgent(agent)) return `the agent is not "${rule.agent}"`;
      return rule.project === null || rule.project === project ? null : `it is for project "${rule.project}"`;
    },
  };
}

function strictestOf(all: readonly Compiled[]): ToolRule | null {
  return all.reduce<ToolRule | null>((best, { rule }) => {
    return best === null || strictness(rule.decision) > strictness(best.decision) ? rule : best;
  }, null);
}

function verdictOf(rule: ToolRule, whose: RuleOwner): Verdict {
  const { id, tool, decision } = rule;
  const reason = `The ${whose}'s rule ${id} says ${decision} for "${tool}"`;
  return { decision, source: { kind: "rule", id }, rule, whose, reason };
}

/** The verdict where no rule of the operator matches. */
function byClaim({ isDestructive }: JudgedCall, decision: Verdict["decision"]): Verdict {
  if (!isDestructive) return { decision: "allow", source: null, rule: null, whose: null, reason: "No rule matches" };
  const reason = `The tool claims to destroy, and [approvals] destructive of the operator says ${decision}`;
  const source = decision === "allow" ? null : { kind: "rule" as const, id: DESTRUCTIVE_ID };
  return { decision, source, rule: null, whose: source && "operator", reason };
}

function decidesBecause(whose: RuleOwner, first: ToolRule | null): string {
  if (whose === "operator") return "the first of the operator's that matches";
  return first === null ? "stricter than what holds without it" : `stricter than the operator's ${first.id}`;
}

function yieldsBecause(
  rule: ToolRule,
  { whose, first, verdict }: {
    readonly whose: RuleOwner;
    readonly first: ToolRule | null;
    readonly verdict: Verdict;
  },
): string {
  if (whose === "operator") {
    return rule === first ? `${verdict.rule?.id} of the project is stricter` : `${first?.id} stands above it`;
  }
  if (verdict.whose === "project") return `${verdict.rule?.id} stands above it or is stricter`;
  return "what the operator says is as strict, or stricter";
}
