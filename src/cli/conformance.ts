/**
 * `kaged plugin check --conformance`: the rules of the wire, one line each, with the messages around a broken one.
 *
 * @module
 */
import { resolve } from "node:path";
import type { ConformanceReport, RuleResult } from "../operator/conformance/try_rules.ts";
import { interruptible } from "./interrupt.ts";
import { type RunFlags, withPlaces } from "./run_options.ts";
import { printable, type Printer, type Terminal } from "./terminal.ts";

export interface ConformanceFlags extends RunFlags {
  readonly rule?: readonly string[];
}

/** Tries the rules on the plugin in `dir` and prints which it keeps. */
export async function checkRules(dir: string, flags: ConformanceFlags, terminal: Terminal): Promise<ConformanceReport> {
  const { checkConformance } = await import("../operator/conformance/check_conformance.ts");
  const { selectRules } = await import("../operator/conformance/rules.ts");
  const rules = flags.rule ?? [];
  const width = Math.max(...selectRules(rules).map(({ id }) => id.length));
  const onRule = flags.json ? () => {} : (result: RuleResult) => printRule(result, width, terminal.out);
  const report = await interruptible((signal) =>
    withPlaces(
      flags,
      terminal,
      (places) => checkConformance(resolve(terminal.cwd, dir), { ...places, rules, signal, onRule }),
    )
  );
  if (flags.json) terminal.out.json(report);
  else printCounts(report, terminal.out);
  return report;
}

function printRule(result: RuleResult, width: number, { line, paint }: Printer): void {
  const { id, requirement, written, expected, status, detail, sent, came, log = [], hint = "" } = result;
  const mark = { ok: paint.green("✓"), failed: paint.red("✗"), skipped: paint.dim("-") }[status];
  const reason = status === "skipped" ? paint.dim(` (${printable(detail)})`) : "";
  line(`${mark} ${id.padEnd(width)}  ${expected}${reason}`);
  if (status !== "failed") return;
  const detailLine = (what: string, text: string): void => line(`    ${paint.dim(what.padEnd(7))}  ${printable(text)}`);
  line(`    ${paint.red(printable(detail))}`);
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
