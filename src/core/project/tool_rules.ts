/**
 * `[[tool_rules]]` and `[approvals]` of config.toml, and `approval:` of a project's tools: which calls need a person.
 *
 * @module
 */
import { coversPattern, namePattern } from "../rules/name_pattern.ts";
import {
  type ApprovalSettings,
  type Decision,
  DECISIONS,
  DEFAULT_APPROVALS,
  type OperatorRules,
  type RuleSet,
  type ToolRule,
} from "../rules/rules.ts";
import { Fields, LIST } from "../documents/fields.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { defined } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import {
  readSettings,
  type SettingProblem,
  type SettingRule,
  type SettingRules,
  wholeNumber,
} from "./setting_rules.ts";
import type { Project } from "./types.ts";

/** One table of `[[tool_rules]]` as it is written. */
interface Written {
  readonly tool?: string;
  readonly agent?: string;
  readonly project?: string;
  readonly decision?: Decision;
}

/** The keys of a rule that it cannot be without. */
const REQUIRED = ["tool", "decision"];

/** The rules of the keys in one table of `[[tool_rules]]`. */
const KEYS: SettingRules<keyof Written> = {
  tool: { kind: "text", problem: toolProblem },
  agent: { kind: "text", problem: agentProblem },
  project: { kind: "text", problem: projectProblem },
  decision: oneOf(DECISIONS),
};

/** The rules of the settings in `[approvals]`. */
export const APPROVAL_RULES: SettingRules<"destructive" | "wait_sec" | "network" | "sampling"> = {
  destructive: oneOf(DECISIONS),
  wait_sec: wholeNumber(1, 86_400, "It is not a whole number of seconds from 1 to 86400"),
  network: oneOf(["refuse", "ask"]),
  sampling: oneOf(["allow", "ask", "deny"]),
};

/** Returns what a config says of calls; each mistake is reported at its place, and a rule that never decides warned of. */
export function readOperatorRules(root: Fields): OperatorRules {
  const { wait_sec: waitSec, ...settings } = readSettings(root.fields("approvals"), APPROVAL_RULES);
  const approvals = { ...DEFAULT_APPROVALS, ...settings, ...defined({ waitSec }) } as ApprovalSettings;
  const toolRules: ToolRule[] = [];
  (root.get("tool_rules", LIST) ?? []).forEach((item, index) => {
    const table = new Fields(item, [...root.at("tool_rules"), index], root.report);
    const { tool, agent = null, project = null, decision } = readSettings(table, KEYS) as Written;
    for (const key of REQUIRED) if (table.isMap && !table.has(key)) reportMissing(table, key);
    if (tool === undefined || decision === undefined) return;
    const { line } = root.report.placeOf(table.path, "value");
    const rule = { tool, agent, project, decision, id: `config.toml:${line}` };
    const above = toolRules.find((one) => coversRule(one, rule));
    if (above) {
      root.report.warn("config.rule_covered", table.path, {
        message: `The rule never decides: the one at line ${above.id.split(":")[1]} matches whatever it matches`,
      });
    }
    toolRules.push(rule);
  });
  return { toolRules, approvals };
}

/** Returns every rule that holds for the agents of a project. */
export function rulesOf(
  { toolRules, approvals }: OperatorRules,
  { id, agents }: Pick<Project, "id" | "agents">,
): RuleSet {
  const operator = toolRules.filter(({ project }) => project === null || project === id);
  const project = agents.flatMap(({ path, approvals }) =>
    Object.entries(approvals).map(([tool, decision]) => {
      return { tool, agent: path, project: null, decision, id: `project.yaml:${path}:${tool}` };
    })
  );
  return { operator, project, settings: approvals };
}

/** Reads `approval:` of one entry under an agent's `tools:`. A project can only tighten: nothing there allows. */
export function readApproval(name: string, tool: Fields): Decision | undefined {
  if (!tool.has("approval")) return undefined;
  const { approval } = tool.data;
  if (approval === "allow") {
    const message = "A project can only tighten: what is allowed is the operator's to say";
    tool.error("invalid_value", "approval", { message, hint: "Write watch, ask or deny, or leave it out" });
    return undefined;
  }
  const decision = tool.choice("approval", DECISIONS.filter((one) => one !== "allow"));
  const problem = toolProblem(name);
  if (problem === null) return decision;
  tool.report.error("project.invalid_value", tool.path, { ...problem, part: "key" });
  return undefined;
}

/** Whether a rule matches every call that `inner` matches. */
function coversRule(outer: ToolRule, inner: ToolRule): boolean {
  const isSameProject = outer.project === null || outer.project === inner.project;
  const isSameAgent = outer.agent === null || (inner.agent !== null && coversPattern(outer.agent, inner.agent));
  return isSameProject && isSameAgent && coversPattern(outer.tool, inner.tool);
}

function reportMissing(table: Fields, key: string): void {
  const hint = key === "tool" ? 'Write tool = "mail.*"' : `Write decision = "ask", or one of: ${DECISIONS.join(", ")}`;
  table.report.error("config.invalid_value", table.path, { message: `Field ${shown(key)} is missing`, hint });
}

/** A pattern that no tool can fit would hold nobody back. */
function toolProblem(value: unknown): SettingProblem | null {
  if (typeof value === "string" && value.length <= 200 && /^[a-z0-9_*-]+\.[a-z0-9_*-]+$/.test(value)) return null;
  const message = `${shown(value)} fits no tool: they are called <plugin>.<tool>, in lower case`;
  return { message, hint: 'Write "mail.send", "mail.*", or "*.*" for every tool of every plugin' };
}

const AGENT_STEPS = ["primary", "subagents"];

/** Paths of agents are `primary`, `primary.subagents.a`, `primary.subagents.a.subagents.b`. */
function agentProblem(value: unknown): SettingProblem | null {
  const segments = typeof value === "string" ? value.split(".") : [""];
  const fits = segments.length % 2 === 1 && segments.every((segment, index) => {
    const fixed = index === 0 ? AGENT_STEPS[0] : index % 2 === 1 ? AGENT_STEPS[1] : undefined;
    return /^[A-Za-z0-9_*-]{1,64}$/.test(segment) && (fixed === undefined || namePattern(segment)(fixed));
  });
  if (fits) return null;
  return {
    message: `${shown(value)} fits no path of an agent`,
    hint: 'Write "primary", "primary.subagents.researcher" or "primary.subagents.*"; leave it out for every agent',
  };
}

function projectProblem(value: unknown): SettingProblem | null {
  if (typeof value === "string" && /^[a-z][a-z0-9-]{0,63}$/.test(value)) return null;
  return {
    message: `${shown(value)} is no id of a project`,
    hint: "Write its id: as in project.yaml, without patterns",
  };
}

/** A rule for a text that is one of several words. */
function oneOf(words: readonly string[]): SettingRule {
  return {
    kind: "text",
    problem: (value) =>
      words.includes(value as string) ? null : {
        message: `${shown(value)} is none of ${words.join(", ")}`,
        hint: didYouMean(String(value), words, `Use one of: ${words.join(", ")}`),
      },
  };
}
