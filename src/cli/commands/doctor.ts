/**
 * `kaged doctor`: shows which walls this machine can enforce, and how to get those it cannot.
 *
 * @module
 */
import type { Command } from "commander";
import type { MachineReport, MachineRow } from "../../operator/doctor/report.ts";
import type { HomeFlags } from "../options.ts";
import { printReport, withPlaces } from "../run_options.ts";
import type { Printer, Terminal } from "../terminal.ts";

/** Adds the command; `exit` takes the exit code of an examination that ran to its end. */
export function addDoctor(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  parent.command("doctor")
    .summary("show what this machine can enforce, and what to install if it cannot")
    .description(
      "Examines this machine: can it cage a plugin, and which interpreters can plugins use?\n" +
        "Builds one real cage to find out. Exit code 1 when plugins cannot run here.",
    )
    .option("--home <dir>", "operator's folder, with its [runtimes]; without it a fresh one is used and removed")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: HomeFlags) => {
      const [{ examineMachine }, { ruleRows }, { secretRows }] = await Promise.all([
        import("../../operator/doctor/examine_machine.ts"),
        import("../../operator/doctor/rule_rows.ts"),
        import("../../operator/doctor/secret_rows.ts"),
      ]);
      const run = withPlaces(flags, terminal, async ({ runtime, home, runtimes }) => {
        const { ok, checks } = await examineMachine(runtime, home, runtimes);
        const kept = flags.home === undefined ? undefined : home;
        return { ok, checks: [...checks, ...await secretRows(kept, runtime), ...await ruleRows(kept, runtime)] };
      });
      exit(await printReport(flags, terminal, run, printMachine));
    });
}

const EXAMPLES = `
Examples:
  kaged doctor
  kaged doctor --json | jq '.checks[] | select(.status != "ok")'`;

function printMachine({ ok, checks }: MachineReport, out: Printer): void {
  const width = Math.max(...checks.map(({ id }) => id.length));
  for (const row of checks) printRow(row, width, out);
  out.line();
  out.line(ok ? out.paint.green("Plugins can run here") : out.paint.red("Plugins cannot run here"));
}

function printRow({ id, status, detail, hint, code, optional }: MachineRow, width: number, out: Printer): void {
  const { line, paint } = out;
  const colour = status === "ok" ? paint.green : status === "degraded" || optional ? paint.yellow : paint.red;
  line(`${colour(status.padEnd(8))}  ${id.padEnd(width)}  ${detail}${code ? paint.dim(` [${code}]`) : ""}`);
  out.hint(hint, " ".repeat(width + 12));
}
