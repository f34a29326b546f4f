/**
 * `kaged rules test`: which rule decides on a call of a tool, and why.
 *
 * @module
 */
import { speaksMcp } from "../../core/manifest/speaks_mcp.ts";
import type { Command } from "commander";
import { compileRules, type Explanation } from "../../core/rules/judge.ts";
import type { Decision, JudgedCall } from "../../core/rules/rules.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { toolFromAlias } from "../../core/tools/tool_registry.ts";
import { addRuleOptions, readRules, type RuleFlags, type RulePlace, ruleWords } from "../rule_places.ts";
import type { Paint, Printer, Terminal } from "../terminal.ts";

interface TestFlags extends RuleFlags {
  readonly agent: string;
  readonly destructive?: boolean;
}

/** Adds the command; `exit` takes the code that tells the decision. */
export function addRulesTest(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("test")
    .summary("show which rule decides on a tool")
    .description(
      "Shows which rule decides when an agent calls a tool, and why every other does not. Calls nothing.\n" +
        "Exit code 0 when the call is allowed or watched, 3 when a person is asked, 4 when it is denied.",
    )
    .argument("<tool>", "full name of the tool, such as mail.send");
  addRuleOptions(command)
    .option("--agent <path>", "agent that calls, such as primary.subagents.researcher", "primary")
    .option("--destructive", "as if the tool claimed to destroy; what an MCP server claims is known once it runs")
    .addHelpText("after", EXAMPLES)
    .action(async (tool: string, flags: TestFlags) => exit(await testTool(tool, flags, terminal)));
}

const EXAMPLES = `
Examples:
  kaged rules test mail.send
  kaged rules test files.remove --agent primary.subagents.researcher --destructive
  kaged rules test mail.send --json | jq -r .decision
With --json it prints { "tool", "agent", "project", "destructive", "decision", "reason", "source",
"rules": [ { "id", "whose", "tool", "agent", "project", "decision", "state", "why" } ] }; "state" is one of
"decides", "matches" and "differs".`;

const EXIT_CODES: Readonly<Record<Decision, number>> = { allow: 0, watch: 0, ask: 3, deny: 4 };

async function testTool(given: string, flags: TestFlags, terminal: Terminal): Promise<number> {
  const tool = toolNamed(given);
  const { agent, destructive: isDestructive = false } = flags;
  const place = await readRules(flags, terminal);
  const doubt = await doubtOf(tool, agent, place);
  const call = { tool, agent, project: place.loaded?.project.id ?? "", isDestructive };
  const explained = compileRules(place.rules).explain(call);
  if (flags.json) terminal.out.json(asJson(call, explained));
  else print(call, explained, terminal.out);
  if (doubt) {
    terminal.err.warning(doubt.message);
    terminal.err.hint(doubt.hint);
  }
  return EXIT_CODES[explained.verdict.decision];
}

/** Returns the full name of a tool that is given by its name or its alias. Throws `host.misuse`. */
function toolNamed(given: string): string {
  const tool = toolFromAlias(given);
  if (/^[a-z][a-z0-9-]*\.[a-z0-9_]+$/.test(tool)) return tool;
  throw new HostError("host.misuse", `"${given}" is no name of a tool`, {
    hint: "Pass the full name of one tool, such as mail.send",
  });
}

/** Returns why the agent may not have such a tool; null where it has, or where its tools are not all known. */
async function doubtOf(tool: string, agent: string, { loaded }: RulePlace): Promise<HostError | null> {
  if (loaded === null) return null;
  const { HostModel } = await import("../../host/model.ts");
  const model = new HostModel(loaded.resolved);
  const { plugins, declared } = model.agent(agent);
  const isListed = plugins.length === declared.length &&
    plugins.every(({ manifest }) => !speaksMcp(manifest));
  if (!isListed) return null;
  try {
    model.tool(tool, agent);
    return null;
  } catch (error) {
    return error as HostError;
  }
}

function asJson(call: JudgedCall, { verdict, rules }: Explanation): Record<string, unknown> {
  const { tool, agent, project, isDestructive } = call;
  const { decision, reason, source } = verdict;
  return {
    tool,
    agent,
    project: project === "" ? null : project,
    destructive: isDestructive,
    decision,
    reason,
    source,
    rules: rules.map(({ rule, whose, state, why }) => {
      return {
        id: rule.id,
        whose,
        tool: rule.tool,
        agent: rule.agent,
        project: rule.project,
        decision: rule.decision,
        state,
        why,
      };
    }),
  };
}

const COLOURS: Readonly<Record<Decision, keyof Paint>> = { allow: "green", watch: "green", ask: "yellow", deny: "red" };

function print({ tool, agent }: JudgedCall, { verdict, rules }: Explanation, out: Printer): void {
  const { line, paint } = out;
  const { decision, reason } = verdict;
  line(`${paint[COLOURS[decision]](decision)}  ${paint.bold(tool)} of ${agent}`);
  line(`  ${reason}`);
  for (const { rule, state, why } of rules) {
    const text = `  ${state.padEnd(7)}  ${rule.id}  ${rule.decision} ${ruleWords(rule)}: ${why}`;
    line(state === "differs" ? paint.dim(text) : text);
  }
}
