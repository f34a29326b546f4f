/**
 * The rules on tools as they are now: read with the project, and again when the operator's file changes.
 *
 * @module
 */
import { compileRules, DESTRUCTIVE_ID, type Judge } from "../core/rules/judge.ts";
import type { ApprovalSettings, JudgedCall, OperatorRules, Verdict } from "../core/rules/rules.ts";
import type { DeskPorts } from "../core/approvals/desk_types.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { addToolRule } from "../core/project/edit_tool_rules.ts";
import { readOperatorConfig } from "../core/project/operator_config.ts";
import { rulesOf } from "../core/project/tool_rules.ts";
import type { Project } from "../core/project/types.ts";
import type { HostPackages } from "./host_packages.ts";

type RuledProject = Pick<Project, "id" | "agents">;

/** Rules that can be replaced while calls go on. */
export class LiveRules {
  #operator: OperatorRules;
  #project: RuledProject;
  #judge: Judge;

  constructor(operator: OperatorRules, project: RuledProject) {
    this.#operator = operator;
    this.#project = project;
    this.#judge = compileRules(rulesOf(operator, project));
  }

  /** Whether there is none: most hosts have none, and pay nothing. */
  get isEmpty(): boolean {
    return this.#judge.isEmpty;
  }

  /** `[approvals]` of config.toml. */
  get settings(): ApprovalSettings {
    return this.#operator.approvals;
  }

  /** The operator's part. */
  get operator(): OperatorRules {
    const { toolRules, approvals } = this.#operator;
    return { toolRules, approvals };
  }

  judge(call: JudgedCall): Verdict {
    return this.#judge.judge(call);
  }

  /** Uses other rules from the next call on. */
  replace(operator: OperatorRules, project: RuledProject = this.#project): void {
    this.#operator = operator;
    this.#project = project;
    this.#judge = compileRules(rulesOf(operator, project));
  }
}

/** Returns what keeps an answer `always`: about the network with the plugin's grants, else with the rules. */
export function answerKeeper(
  rules: DeskPorts["keepAlways"],
  packages: () => Pick<HostPackages, "addHost">,
): DeskPorts["keepAlways"] {
  return async (approval, source, answer) => {
    if (source.kind !== "network") return await rules(approval, source, answer);
    const { plugin } = approval;
    // A no has no place in the record: a host that is not in it is not granted.
    return plugin !== null && answer.decision === "allow" && await packages().addHost(plugin, source.id);
  };
}

/** Returns what keeps an answer `always` to a rule of the operator: a rule above that one, in force at once. */
export function ruleKeeper(
  rules: LiveRules,
  { home, runtime }: { readonly home: string; readonly runtime: Runtime },
): DeskPorts["keepAlways"] {
  return async ({ tool, agentPath: agent, projectId: project }, source, { decision }) => {
    if (source.kind !== "rule") return false;
    const verdict = rules.judge({ tool, agent, project, isDestructive: source.id === DESTRUCTIVE_ID });
    if (verdict.whose !== "operator" || verdict.decision !== "ask") return false;
    await addToolRule(home, { tool, agent, project, decision }, { above: verdict.rule }, runtime);
    rules.replace(await readOperatorConfig(home, runtime.files));
    return true;
  };
}
