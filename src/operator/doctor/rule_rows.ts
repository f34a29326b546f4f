/**
 * The row about the operator's rules on requests: whether each is about a plugin and a host that there are.
 *
 * @module
 */
import { homeFolder } from "../../core/files/home.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { homeRuleWarnings, warningLine } from "../../core/project/net_rule_warnings.ts";
import { readOperatorConfig } from "../../core/project/operator_config.ts";
import type { MachineRow } from "./report.ts";

/**
 * Returns the row for `[[net_rules]]` in `config.toml` of a home, which is by default the one that commands use; none
 * where there are no rules, or the files cannot be read.
 */
export async function ruleRows(given: string | undefined, { files, env }: Runtime): Promise<MachineRow[]> {
  const id = "net_rules";
  try {
    const home = homeFolder(given, env);
    const config = await readOperatorConfig(home, files);
    if (config.netRules.length === 0) return [];
    const warnings = await homeRuleWarnings(home, config, files);
    if (warnings.length === 0) return [{ id, status: "ok", detail: "Each rule is about a plugin and a host of it" }];
    const [first, ...others] = warnings;
    const detail = [first!, ...others].map(({ hint: _, ...warning }) => warningLine(warning)).join("; ");
    return [{ id, status: "degraded", detail, ...(first!.hint !== undefined && { hint: first!.hint }) }];
  } catch {
    return []; // Other commands say what is wrong with the files.
  }
}
