/**
 * The rules that a command of `kaged rules` is about: the operator's, and those of a project where there is one.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { rulesOf } from "../core/project/tool_rules.ts";
import type { Command } from "commander";
import type { RuleSet, ToolRule } from "../core/rules/rules.ts";
import type { HostProject } from "../host/host_project.ts";
import { addProjectOptions, placesOf, pluginFolders, type ProjectFlags } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/** Values of the options that choose rules. */
export interface RuleFlags extends ProjectFlags {
  readonly project?: string;
  readonly agent?: string;
}

/** The rules, and the project they were read with. */
export interface RulePlace {
  /** Every rule of config.toml, those for other projects too. */
  readonly rules: RuleSet;
  readonly operator: HostProject["operator"];
  /** Null where no project is meant. */
  readonly loaded: HostProject | null;
}

/** Adds `--project` and the options of every command about a project. */
export function addRuleOptions(command: Command): Command {
  return addProjectOptions(
    command.option("--project <dir>", "folder that holds project.yaml (default: this one, where it does)"),
  );
}

/**
 * Reads the rules of the operator, and those of the project that is meant.
 *
 * @throws {HostError} `agent.unknown` for an agent that the project does not have; `config.*`, `project.*`, `local.*`.
 */
export async function readRules(flags: RuleFlags, terminal: Terminal): Promise<RulePlace> {
  const { runtime, home } = await placesOf(flags, terminal);
  const here = resolve(terminal.cwd, flags.project ?? ".");
  if (flags.project === undefined && await runtime.files.target(join(here, "project.yaml")) === null) {
    const { readOperatorConfig } = await import("../core/project/operator_config.ts");
    const operator = await readOperatorConfig(home, runtime.files);
    return {
      rules: { operator: operator.toolRules, project: [], settings: operator.approvals },
      operator,
      loaded: null,
    };
  }
  const { loadHostProject } = await import("../host/host_project.ts");
  const dir = await runtime.files.realPath(here).catch(() => here);
  const loaded = await loadHostProject({ dir, home, plugins: pluginFolders(flags, terminal), runtime });
  const { HostModel } = await import("../host/model.ts");
  if (flags.agent !== undefined) new HostModel(loaded.resolved).agent(flags.agent);
  const { operator } = loaded;
  return { rules: { ...rulesOf(operator, loaded.project), operator: operator.toolRules }, operator, loaded };
}

/** Returns what a rule is about, in words: `mail.* of primary in harbor`. */
export function ruleWords({ tool, agent, project }: ToolRule): string {
  return `${tool}${agent === null ? "" : ` of ${agent}`}${project === null ? "" : ` in ${project}`}`;
}
