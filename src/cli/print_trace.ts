/**
 * Prints the report of a run that was watched with strace.
 *
 * @module
 */
import type { GrantReport } from "../operator/syscalls/grant_report.ts";
import { printable, type Printer } from "./terminal.ts";

/** Prints the report for a person. */
export function printTrace({ notes, grants, denied, smallest }: GrantReport, { line, paint }: Printer): void {
  line();
  line(paint.bold("What the run used"));
  if (grants.length === 0) line("  Nothing was granted");
  for (const { capability, used, examples } of grants) {
    const state = used === null ? paint.dim("not watched") : used ? paint.green("used") : paint.yellow("not used");
    line(`  ${printable(capability)}  ${state}`);
    for (const example of examples) line(paint.dim(`    ${printable(example)}`));
  }
  if (denied.length > 0) {
    line();
    line(paint.bold("What it asked for in vain"));
    for (const { kind, what, capability } of denied) {
      const way = capability === null ? "never granted" : `would need ${capability}`;
      line(`  ${kind} ${printable(what)}  ${paint.dim(printable(way))}`);
    }
  }
  line();
  line(paint.bold("Smallest list that covers the run"));
  line("  capabilities:" + (smallest.length === 0 ? " []" : ""));
  for (const capability of smallest) line(`    - ${JSON.stringify(capability)}`);
  for (const note of notes) line(paint.yellow(`note: ${printable(note)}`));
}
