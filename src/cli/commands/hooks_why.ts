/**
 * `kaged hooks why`: what came of the last run, and who blocked it.
 *
 * @module
 */
import type { Command } from "commander";
import { addHomeOptions, type HookFlags, hookPlaces } from "../hook_places.ts";
import { printHookRun } from "../print_hook_run.ts";
import { printable, type Terminal } from "../terminal.ts";

type WhyFlags = Pick<HookFlags, "home" | "json">;

/** Adds the command. */
export function addHooksWhy(parent: Command, terminal: Terminal): void {
  const command = parent.command("why")
    .summary("why did the last run block, or not")
    .description(
      "Shows what came of the last run of hooks, wherever it was: who blocked and why, who broke, who was skipped.",
    );
  addHomeOptions(command)
    .addHelpText("after", "\nExamples:\n  kaged hooks why\n  kaged hooks why --json | jq .reason")
    .action(async (flags: WhyFlags) => await why(flags, terminal));
}

async function why(flags: WhyFlags, terminal: Terminal): Promise<void> {
  const { runtime, home } = await hookPlaces(flags, terminal);
  const { readHookRun } = await import("../../hooks/sources/command/last_run.ts");
  const run = await readHookRun(home, runtime);
  if (flags.json) return terminal.out.line(JSON.stringify(run, null, 2));
  terminal.out.line(terminal.out.paint.dim(printable(`${run.at}  ${run.dir}`)));
  printHookRun(run, terminal.out);
}
