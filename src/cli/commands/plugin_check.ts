/**
 * `kaged plugin check`: every rule a plugin must keep, one line each.
 *
 * @module
 */
import { type Command, InvalidArgumentError } from "commander";
import type { ConformanceReport, RuleResult } from "../../operator/conformance/try_rules.ts";
import type { GrantReport } from "../../operator/syscalls/grant_report.ts";
import { type Check, CHECK_IDS, type CheckCall, type CheckReport } from "../../operator/check/report.ts";
import { manifestLines } from "../print_error.ts";
import { collected, parseObject } from "../options.ts";
import { withPlugin } from "../plugin_place.ts";
import { addRunOptions, printReport, type RunFlags } from "../run_options.ts";
import { counted, type Printer, type Terminal } from "../terminal.ts";

interface CheckFlags extends RunFlags {
  readonly trace?: boolean;
  readonly conformance?: boolean;
  readonly rule?: readonly string[];
  readonly call?: readonly CheckCall[];
}

/** Adds the command; `exit` takes the exit code of a check that ran to its end. */
export function addPluginCheck(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("check")
    .summary("check a plugin against every rule")
    .description(
      "Checks a plugin the way a host meets it: reads the manifest, cages it, shakes hands, pings it and shuts it down." +
        "\nOne line per rule; exit code 1 when one is broken.",
    )
    .argument("<dir|name>", "the plugin's folder, such as . or ./greeter, or the name of an installed plugin")
    .option("--trace", "watch the run and print what it used, what it missed and the smallest capability list")
    .option("--conformance", "try every rule of the wire instead; it calls the plugin's tools, methods and hooks")
    .option("--rule <id>", "with --conformance: try this rule only; may be repeated", collected(String))
    .option("--call <method[=json]>", "call a method or tool while it runs; may be repeated", collected(callOf));
  addRunOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (dir: string, flags: CheckFlags) => {
      exit(await (flags.conformance || flags.rule ? checkRules : checkDir)(dir, flags, terminal));
    });
}

const EXAMPLES = `
Examples:
  kaged plugin check .
  kaged plugin check ./greeter --config '{"greeting": "Ahoy"}'
  kaged plugin check ./greeter --runtime-path deno=/opt/deno/bin/deno
  kaged plugin check ./greeter --trace --call 'greeter.greet={"who": "Ada"}'
  kaged plugin check . --conformance
  kaged plugin check . --conformance --rule batch --rule utf8
  kaged plugin check . --json | jq '.checks[] | select(.ok | not)'`;

async function checkDir(dir: string, flags: CheckFlags, terminal: Terminal): Promise<number> {
  const { checkPlugin } = await import("../../operator/check/check_plugin.ts");
  const { trace = false, call: calls = [] } = flags;
  const onCheck = flags.json ? () => {} : (check: Check) => printCheck(check, terminal.out);
  const check = { onCheck, trace, calls };
  const run = withPlugin(dir, flags, terminal, (places, { dir, hash: _, ...place }) => {
    return checkPlugin(dir, { ...places, ...check, ...place });
  });
  return await printReport(flags, terminal, run, printSummary);
}

/** Tries the rules of the wire on the plugin in `dir` and prints which it keeps. */
async function checkRules(dir: string, flags: CheckFlags, terminal: Terminal): Promise<number> {
  const { checkConformance } = await import("../../operator/conformance/check_conformance.ts");
  const { selectRules } = await import("../../operator/conformance/rules.ts");
  const rules = flags.rule ?? [];
  const width = Math.max(...selectRules(rules).map(({ id }) => id.length));
  const onRule = flags.json ? () => {} : (result: RuleResult) => printRule(result, width, terminal.out);
  const run = withPlugin(dir, flags, terminal, (places, { dir, hash: _, ...place }) => {
    return checkConformance(dir, { ...places, rules, onRule, ...place });
  });
  return await printReport(flags, terminal, run, printCounts);
}

function callOf(text: string): CheckCall {
  const [, method = "", json] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  if (method === "") throw new InvalidArgumentError("It takes a method, or method={…}");
  return { method, params: json === undefined ? {} : parseObject(json) };
}

const WIDTH = Math.max(...CHECK_IDS.map((id) => id.length));

function printCheck(check: Check, out: Printer): void {
  const { line, paint } = out;
  const { id, ok, skipped, detail, hint, code, warnings = [], log = [], grants = [] } = check;
  const mark = ok ? paint.green("✓") : skipped ? paint.dim("-") : paint.red("✗");
  line(`${mark} ${id.padEnd(WIDTH)}  ${skipped ? paint.dim(detail) : detail}${code ? paint.dim(` [${code}]`) : ""}`);
  const indent = " ".repeat(WIDTH + 4);
  const details = manifestLines(check);
  for (const detail of details) line(indent + detail);
  for (const { text, danger } of grants) {
    line(indent + text);
    if (danger !== null) line(indent + paint.yellow(`danger: ${danger}`));
  }
  for (const warning of warnings) line(indent + paint.yellow(`warning: ${warning}`));
  for (const said of log) line(indent + paint.dim(`stderr: ${said}`));
  if (details.length === 0) out.hint(hint, indent);
}

function printSummary({ ok, checks, trace }: CheckReport, out: Printer): void {
  const { line, paint } = out;
  if (trace) printTrace(trace, out);
  const broken = checks.filter((check) => !check.ok && !check.skipped).length;
  const skipped = checks.filter((check) => check.skipped).length;
  const warnings = checks.flatMap((check) => check.warnings ?? []).length;
  line();
  if (ok && warnings > 0) {
    return line(paint.yellow(`${counted(checks.length, "rule")} kept, with ${counted(warnings, "warning")}`));
  }
  if (ok) return line(paint.green(`All ${counted(checks.length, "rule")} kept`));
  line(paint.red(`${counted(broken, "rule")} broken`) + (skipped > 0 ? `, ${skipped} not tried` : ""));
}

function printRule(result: RuleResult, width: number, { line, paint }: Printer): void {
  const { id, requirement, written, expected, status, detail, sent, came, log = [], hint = "" } = result;
  const mark = { ok: paint.green("✓"), failed: paint.red("✗"), skipped: paint.dim("-") }[status];
  const reason = status === "skipped" ? paint.dim(` (${detail})`) : "";
  line(`${mark} ${id.padEnd(width)}  ${expected}${reason}`);
  if (status !== "failed") return;
  const detailLine = (what: string, text: string): void => line(`    ${paint.dim(what.padEnd(7))}  ${text}`);
  line(`    ${paint.red(detail)}`);
  for (const text of sent) detailLine("sent", text);
  for (const text of came) detailLine("came", text);
  for (const text of log) detailLine("stderr", text);
  detailLine("written", `${written} (${requirement})`);
  detailLine("hint", hint);
}

function printCounts({ ok, plugin, version, rules }: ConformanceReport, { line, paint }: Printer): void {
  const count = (status: RuleResult["status"]): number => rules.filter((rule) => rule.status === status).length;
  const counts = `${count("ok")} kept, ${count("failed")} broken, ${count("skipped")} not tried`;
  line();
  line((ok ? paint.green : paint.red)(`${plugin} ${version} ${ok ? "conforms" : "does not conform"}: ${counts}`));
}

/** Prints the report of a run that was watched with strace. */
function printTrace({ notes, grants, denied, smallest }: GrantReport, { line, paint }: Printer): void {
  line();
  line(paint.bold("What the run used"));
  if (grants.length === 0) line("  Nothing was granted");
  for (const { capability, used, examples } of grants) {
    const state = used === null ? paint.dim("not watched") : used ? paint.green("used") : paint.yellow("not used");
    line(`  ${capability}  ${state}`);
    for (const example of examples) line(paint.dim(`    ${example}`));
  }
  if (denied.length > 0) {
    line();
    line(paint.bold("What it asked for in vain"));
    for (const { kind, what, capability } of denied) {
      const way = capability === null ? "never granted" : `would need ${capability}`;
      line(`  ${kind} ${what}  ${paint.dim(way)}`);
    }
  }
  line();
  line(paint.bold("Smallest list that covers the run"));
  line("  capabilities:" + (smallest.length === 0 ? " []" : ""));
  for (const capability of smallest) line(`    - ${JSON.stringify(capability)}`);
  for (const note of notes) line(paint.yellow(`note: ${note}`));
}
