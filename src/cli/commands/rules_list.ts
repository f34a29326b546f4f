/**
 * `kaged rules list`: the rules in the order they are asked.
 *
 * @module
 */
import type { Command } from "commander";
import { namePattern } from "../../core/rules/name_pattern.ts";
import type { RuleOwner, ToolRule } from "../../core/rules/rules.ts";
import { printIssues } from "../hook_places.ts";
import { addRuleOptions, readRules, type RuleFlags, type RulePlace, ruleWords } from "../rule_places.ts";
import type { Printer, Terminal } from "../terminal.ts";

export function addRulesList(parent: Command, terminal: Terminal): void {
  const command = parent.command("list")
    .summary("show the rules in their order")
    .description("Shows the operator's rules in their order, those of a project, and the settings. Starts nothing.");
  addRuleOptions(command)
    .option("--agent <path>", "only rules that can match this agent")
    .addHelpText("after", EXAMPLES)
    .action((flags: RuleFlags) => list(flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged rules list
  kaged rules list --project ./music --agent primary.subagents.researcher
With --json it prints { "file", "project", "rules": [ { "id", "whose", "tool", "agent", "project", "decision" } ],
"settings": { "destructive", "wait_sec", "network", "sampling" }, "warnings" }.`;

async function list(flags: RuleFlags, terminal: Terminal): Promise<void> {
  const place = await readRules(flags, terminal);
  const isMeant = ({ agent }: ToolRule): boolean =>
    flags.agent === undefined || agent === null || namePattern(agent)(flags.agent);
  const rows = [
    ...place.rules.operator.filter(isMeant).map((rule) => ({ rule, whose: "operator" as const })),
    ...place.rules.project.filter(isMeant).map((rule) => ({ rule, whose: "project" as const })),
  ];
  if (flags.json) return terminal.out.json(asJson(place, rows));
  print(place, rows, terminal.out);
  printIssues(place.operator.warnings, "warning", terminal.err);
}

interface Row {
  readonly rule: ToolRule;
  readonly whose: RuleOwner;
}

function asJson({ operator, loaded, rules: { settings } }: RulePlace, rows: readonly Row[]): Record<string, unknown> {
  const { destructive, waitSec, network, sampling } = settings;
  return {
    file: operator.file,
    project: loaded?.project.id ?? null,
    rules: rows.map(({ rule: { id, tool, agent, project, decision }, whose }) => {
      return { id, whose, tool, agent, project, decision };
    }),
    settings: { destructive, wait_sec: waitSec, network, sampling },
    warnings: operator.warnings,
  };
}

function print({ rules: { settings } }: RulePlace, rows: readonly Row[], out: Printer): void {
  const { line, paint } = out;
  if (rows.length === 0) line(paint.dim("No rules: every call is allowed"));
  let owner: RuleOwner | null = null;
  for (const { rule, whose } of rows) {
    if (whose !== owner) {
      line(
        paint.bold(
          whose === "operator" ? "The operator's, the first that matches decides" : "The project's, only stricter",
        ),
      );
    }
    owner = whose;
    line(`  ${rule.decision.padEnd(5)}  ${ruleWords(rule)}  ${paint.dim(rule.id)}`);
  }
  const { destructive, waitSec, network, sampling } = settings;
  line(paint.bold("Settings"));
  line(
    `  destructive  ${destructive}  ${paint.dim("tools that claim to destroy, where no rule of the operator matches")}`,
  );
  line(`  wait_sec     ${waitSec}  ${paint.dim("then a request that nobody answered is denied")}`);
  line(`  network      ${network}  ${paint.dim("connections that are not granted")}`);
  line(`  sampling     ${sampling}  ${paint.dim("requests of MCP servers for the client's model")}`);
}
