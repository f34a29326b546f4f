/**
 * `kaged doctor`: what this machine can enforce, and what to do where it cannot.
 *
 * @module
 */
import type { Command } from "commander";
import type { MachineReport, MachineRow } from "../../operator/doctor/report.ts";
import { interruptible } from "../interrupt.ts";
import { withPlaces } from "../run_options.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

interface DoctorFlags {
  readonly home?: string;
  readonly json?: boolean;
}

/** Adds the command; `exit` takes the exit code of an examination that ran to its end. */
export function addDoctor(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  parent.command("doctor")
    .summary("what this machine can enforce, and what to install if it cannot")
    .description(
      "Examines this machine: can it cage a plugin, and which interpreters can plugins use?\n" +
        "Builds one real cage to find out. Exit code 1 when plugins cannot run here.",
    )
    .option("--home <dir>", "operator's folder; without it a fresh one is used and removed")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: DoctorFlags) => exit((await examine(flags, terminal)).ok ? 0 : 1));
}

const EXAMPLES = `
Examples:
  kaged doctor
  kaged doctor --json | jq '.checks[] | select(.status != "ok")'`;

async function examine(flags: DoctorFlags, terminal: Terminal): Promise<MachineReport> {
  const { examineMachine } = await import("../../operator/doctor/examine_machine.ts");
  const report = await interruptible(() =>
    withPlaces(flags, terminal, ({ runtime, home }) => examineMachine(runtime, home))
  );
  if (flags.json) terminal.out.line(JSON.stringify(report, null, 2));
  else printReport(report, terminal.out);
  return report;
}

function printReport({ ok, checks }: MachineReport, out: Printer): void {
  const width = Math.max(...checks.map(({ id }) => id.length));
  for (const row of checks) printRow(row, width, out);
  out.line();
  out.line(ok ? out.paint.green("Plugins can run here") : out.paint.red("Plugins cannot run here"));
}

function printRow({ id, status, detail, hint, code, optional }: MachineRow, width: number, { line, paint }: Printer) {
  const colour = status === "ok" ? paint.green : status === "degraded" || optional ? paint.yellow : paint.red;
  line(`${colour(status.padEnd(8))}  ${id.padEnd(width)}  ${printable(detail)}${code ? paint.dim(` [${code}]`) : ""}`);
  if (hint !== undefined) line(`${" ".repeat(width + 12)}hint: ${printable(hint)}`);
}
