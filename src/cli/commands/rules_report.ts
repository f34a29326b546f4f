/**
 * `kaged rules report`: what rules watched and people answered, and the rules that this speaks for.
 *
 * @module
 */
import type { Command } from "commander";
import {
  addUse,
  proposalOf,
  type ProposedRule,
  RECORDED_TYPES,
  ruleLines,
  type ToolUse,
} from "../../core/rules/propose_rules.ts";
import type { TrailPage } from "../../core/audit/read_trail.ts";
import { OPERATOR_TRAIL, type TrailPlace, trailsIn } from "../../core/audit/trail_files.ts";
import type { Files } from "../../core/ports/ports.ts";
import { defined } from "../../core/values/plain_data.ts";
import { trailNamed } from "../audit_options.ts";
import { addHomeOptions, type HomeFlags, placesOf } from "../options.ts";
import { counted, type Printer, type Terminal } from "../terminal.ts";

interface ReportFlags extends HomeFlags {
  readonly since?: string;
  readonly agent?: string;
}

export function addRulesReport(parent: Command, terminal: Terminal): void {
  const command = parent.command("report")
    .summary("turn the record of watched calls into proposed rules")
    .description(
      "Counts, for each tool and agent, the calls that rules only watched and the answers that people gave, and prints\n" +
        "rules that this speaks for, to be read and pasted into config.toml. Changes nothing.",
    )
    .argument("[project]", "id of the project; not needed where the home has the trail of one")
    .option("--since <time>", "what happened at this time or later, such as 2026-11-17 or 2026-11-17T08:30:00Z")
    .option("--agent <path>", "only calls of this agent");
  addHomeOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((project: string | undefined, flags: ReportFlags) => report(project, flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged rules report my-project
  kaged rules report my-project --since 2026-11-01 --json | jq -r .toml

Begin with a rule that only watches, such as tool = "*.*" with decision = "watch". Proposed is deny for what was denied
every time, allow for what was allowed at least 3 times and every time, allow for what claims only to read, else ask.
With --json it prints { "project", "uses": [ { "tool", "agent", "watched", "allowed", "edited", "denied", "read_only",
"destructive", "watched_by", "proposal", "why" } ], "toml" }.`;

async function report(named: string | undefined, flags: ReportFlags, terminal: Terminal): Promise<void> {
  const { runtime: { files }, home } = await placesOf(flags, terminal);
  const project = await projectNamed(named, home, files);
  const uses = await usesIn({ home, project }, flags, files);
  const rows = uses.map((use) => ({ use, proposal: proposalOf(use, project) }));
  if (flags.json) return terminal.out.json(asJson(project, rows));
  print({ project, file: `${home}/config.toml` }, rows, terminal);
}

async function projectNamed(named: string | undefined, home: string, files: Files): Promise<string> {
  const projects = (await trailsIn(home, files)).filter((trail) => trail !== OPERATOR_TRAIL);
  return named === undefined && projects.length === 1 ? projects[0]! : await trailNamed(named, home, files);
}

/** Reads the whole record, page by page; returns the uses by agent and tool. */
async function usesIn(place: TrailPlace, { since, agent }: ReportFlags, files: Files): Promise<ToolUse[]> {
  const { readTrail } = await import("../../core/audit/read_trail.ts");
  const uses = new Map<string, ToolUse>();
  const query = { types: RECORDED_TYPES, limit: 1000, ...defined({ since, agent }) };
  let cursor: string | null = null;
  do {
    const page: TrailPage = await readTrail(place, { ...query, ...(cursor !== null && { cursor }) }, files);
    for (const event of page.events) addUse(uses, event);
    cursor = page.next;
  } while (cursor !== null);
  return [...uses.entries()].sort(([a], [b]) => a < b ? -1 : 1).map(([, use]) => use);
}

interface Row {
  readonly use: ToolUse;
  readonly proposal: ProposedRule;
}

function asJson(project: string, rows: readonly Row[]): Record<string, unknown> {
  return {
    project,
    uses: rows.map(({ use, proposal: { decision, why } }) => ({
      tool: use.tool,
      agent: use.agent,
      watched: use.watched,
      allowed: use.allowed,
      edited: use.edited,
      denied: use.denied,
      read_only: use.isReadOnly,
      destructive: use.isDestructive,
      watched_by: use.watchedBy,
      proposal: decision,
      why,
    })),
    toml: rows.length === 0 ? "" : `${ruleLines(rows.map(({ proposal }) => proposal)).join("\n")}\n`,
  };
}

function print(
  { project, file }: { readonly project: string; readonly file: string },
  rows: readonly Row[],
  { out, err }: Terminal,
): void {
  if (rows.length === 0) {
    out.line(`The trail of ${project} has no call that was watched or asked for`);
    return out.hint('Watch first: a rule with tool = "*.*" and decision = "watch"');
  }
  for (const { use, proposal } of rows) out.line(useLine(use, proposal, out));
  out.line();
  out.line(out.paint.dim(`# For ${file}: above the rules that watch now, since the first match decides.`));
  for (const line of ruleLines(rows.map(({ proposal }) => proposal))) out.line(line);
  const own = [...new Set(rows.flatMap(({ use }) => use.watchedBy.filter((id) => id.startsWith("project.yaml:"))))];
  for (const id of own) err.warning(`${id} is the project's: no rule of the operator loosens it`);
}

function useLine(use: ToolUse, { decision, why }: ProposedRule, { paint }: Printer): string {
  const { tool, agent, watched, allowed, edited, denied, isDestructive } = use;
  const facts = [
    ...(watched > 0 ? [`${watched} watched`] : []),
    ...(allowed > 0 ? [`${allowed} allowed`] : []),
    ...(edited > 0 ? [`${edited} allowed with other arguments`] : []),
    ...(denied > 0 ? [`${denied} denied`] : []),
    ...(isDestructive ? ["claims to destroy"] : []),
  ];
  const asked = counted(watched + allowed + edited + denied, "call");
  return `${paint.bold(tool)} of ${agent}  ${asked}: ${facts.join(", ")}  → ${decision} ${paint.dim(`(${why})`)}`;
}
