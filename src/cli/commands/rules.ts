/**
 * `kaged rules …`: which calls of tools are allowed, watched, asked for and denied, and why.
 *
 * @module
 */
import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { addRulesList } from "./rules_list.ts";
import { addRulesReport } from "./rules_report.ts";
import { addRulesTest } from "./rules_explain.ts";

/** Adds `rules list`, `test` and `report`; `exit` takes the exit code of one that came to its end. */
export function addRules(kaged: Command, terminal: Terminal, exit: (code: number) => void): void {
  const rules = kaged.command("rules")
    .summary("rules on tools: list, test, report")
    .description(
      "Rules on the calls of tools: [[tool_rules]] and [approvals] in config.toml, and approval: of a project's tools.\n" +
        "The operator's first rule that matches decides; a project may only tighten: allow, watch, ask, deny.",
    )
    .addHelpText("after", EXAMPLES);
  addRulesList(rules, terminal);
  addRulesTest(rules, terminal, exit);
  addRulesReport(rules, terminal);
}

const EXAMPLES = `
Examples:
  kaged rules list
  kaged rules test mail.send --agent primary
  kaged rules report my-project --since 2026-11-01`;
