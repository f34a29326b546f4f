/**
 * `kaged plugin check`: every rule a plugin must keep, one line each.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { CheckCall } from "../../operator/check/check_options.ts";
import { type Check, CHECK_IDS, type CheckReport } from "../../operator/check/report.ts";
import { checkRules } from "../conformance.ts";
import { interruptible } from "../interrupt.ts";
import { manifestLines } from "../print_error.ts";
import { printTrace } from "../print_trace.ts";
import { collected, parseObject } from "../options.ts";
import { addRunOptions, type RunFlags, withPlaces } from "../run_options.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

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
    .argument("<dir>", "the plugin's folder")
    .option("--trace", "watch the run and print what it used, what it missed and the smallest capability list")
    .option("--conformance", "try every rule of the wire instead; it calls the plugin's tools, methods and hooks")
    .option("--rule <id>", "with --conformance: try this rule only; may be repeated", collected(String))
    .option("--call <method[=json]>", "call a method or tool while it runs; may be repeated", collected(callOf));
  addRunOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (dir: string, flags: CheckFlags) => {
      const { ok } = await (flags.conformance || flags.rule ? checkRules : checkDir)(dir, flags, terminal);
      exit(ok ? 0 : 1);
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

async function checkDir(dir: string, flags: CheckFlags, terminal: Terminal): Promise<CheckReport> {
  const { checkPlugin } = await import("../../operator/check/check_plugin.ts");
  const { trace = false, call: calls = [] } = flags;
  const onCheck = flags.json ? () => {} : (check: Check) => printCheck(check, terminal.out);
  const report = await interruptible((signal) =>
    withPlaces(
      flags,
      terminal,
      (places) => checkPlugin(resolve(terminal.cwd, dir), { ...places, signal, onCheck, trace, calls }),
    )
  );
  if (flags.json) terminal.out.json(report);
  else {
    if (report.trace) printTrace(report.trace, terminal.out);
    printSummary(report, terminal.out);
  }
  return report;
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
  const text = printable(detail);
  line(`${mark} ${id.padEnd(WIDTH)}  ${skipped ? paint.dim(text) : text}${code ? paint.dim(` [${code}]`) : ""}`);
  const indent = " ".repeat(WIDTH + 4);
  const details = manifestLines(check);
  for (const detail of details) line(indent + printable(detail));
  for (const { text, danger } of grants) {
    line(indent + printable(text));
    if (danger !== null) line(indent + paint.yellow(`danger: ${printable(danger)}`));
  }
  for (const warning of warnings) line(indent + paint.yellow(`warning: ${printable(warning)}`));
  for (const said of log) line(indent + paint.dim(`stderr: ${printable(said)}`));
  if (details.length === 0) out.hint(hint, indent);
}

function printSummary({ ok, checks }: CheckReport, { line, paint }: Printer): void {
  const broken = checks.filter((check) => !check.ok && !check.skipped).length;
  const skipped = checks.filter((check) => check.skipped).length;
  const rules = (count: number): string => count === 1 ? "1 rule" : `${count} rules`;
  line();
  if (ok) return line(paint.green(`All ${rules(checks.length)} kept`));
  line(paint.red(`${rules(broken)} broken`) + (skipped > 0 ? `, ${skipped} not tried` : ""));
}
