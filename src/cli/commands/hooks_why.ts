/**
 * `kaged hooks why`: the outcome of the last run, and the hook that blocked it.
 *
 * @module
 */
import type { Command } from "commander";
import { addHomeOptions, type HomeFlags, placesOf } from "../options.ts";
import { printHookRun } from "../print_hook_run.ts";
import { printable, type Terminal } from "../terminal.ts";

export function addHooksWhy(parent: Command, terminal: Terminal): void {
  const command = parent.command("why")
    .summary("show why the last run blocked, or did not")
    .description(
      "Shows the outcome of the last run of hooks, in any folder: which hook blocked and why, which broke or were skipped.",
    );
  addHomeOptions(command)
    .addHelpText("after", "\nExamples:\n  kaged hooks why\n  kaged hooks why --json | jq .reason")
    .action(async (flags: HomeFlags) => await why(flags, terminal));
}

async function why(flags: HomeFlags, terminal: Terminal): Promise<void> {
  const { runtime, home } = await placesOf(flags, terminal);
  const { readHookRun } = await import("../../hooks/sources/command/last_run.ts");
  const run = await readHookRun(home, runtime);
  if (flags.json) return terminal.out.json(run);
  terminal.out.line(terminal.out.paint.dim(printable(`${run.at}  ${run.dir}`)));
  printHookRun(run, terminal.out);
}
