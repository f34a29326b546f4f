/**
 * `kaged hookspec check`: are the committed files those that follow from the hookspec?
 *
 * @module
 */
import type { Command } from "commander";
import { lineDiff } from "../../hooks/files/line_diff.ts";
import { addHookspecOptions, type FollowingFile, followingFiles, type HookspecFlags } from "../hookspec_files.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

/** Adds the command; `exit` takes the exit code of a check that ran to its end. */
export function addHookspecCheck(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("check")
    .summary("check a hookspec and the files that follow from it")
    .description(
      "Reads a hookspec and compares the files that follow from it with those that are there, and writes nothing.\n" +
        "Exit code 1 when the hookspec is not in order, a file differs, or a generated one is left over from a kind that\n" +
        "is gone: then it shows what `emit` would change.",
    );
  addHookspecOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: HookspecFlags) => exit(await check(flags, terminal) ? 0 : 1));
}

const EXAMPLES = `
Examples:
  kaged hookspec check
  kaged hookspec check --dir spec --json | jq '.files[] | select(.status != "same") | .path'
With --json it prints { "ok", "files": [ { "path", "language", "status": "same" | "stale" | "missing" | "leftover",
"diff"? } ] }.`;

async function check(flags: HookspecFlags, terminal: Terminal): Promise<boolean> {
  const { all, leftovers } = await followingFiles(flags, terminal);
  const stale = all.filter(({ text, found }) => text !== found);
  const isOk = stale.length === 0 && leftovers.length === 0;
  if (flags.json) {
    const extra = leftovers.map(({ path, language }) => ({ path, language, status: "leftover" }));
    terminal.out.line(JSON.stringify({ ok: isOk, files: [...all.map(row), ...extra] }, null, 2));
    return isOk;
  }
  const { line, paint } = terminal.out;
  for (const file of stale) printDrift(file, terminal.out);
  for (const { path } of leftovers) line(`${paint.bold(printable(path))} is left over: nothing gives it any more\n`);
  const summary = isOk ? `${all.length} files follow from the hookspec` : [
    ...(stale.length > 0 ? [`${stale.length} of ${all.length} files differ`] : []),
    ...(leftovers.length > 0 ? [`${leftovers.length} left over`] : []),
  ].join(", ");
  line(isOk ? paint.green(summary) : `${paint.red(summary)}\n  hint: Run kaged hookspec emit`);
  return isOk;
}

function row(file: FollowingFile): Record<string, unknown> {
  const { path, language, text, found } = file;
  if (found === null) return { path, language, status: "missing" };
  return text === found ? { path, language, status: "same" } : { path, language, status: "stale", diff: diffOf(file) };
}

function diffOf({ text, found }: FollowingFile): string[] {
  return lineDiff(found ?? "", text).map((line) => `${line.mark}${line.text}`);
}

function printDrift(file: FollowingFile, { line, paint }: Printer): void {
  if (file.found === null) return line(`${paint.bold(printable(file.path))} is missing\n`);
  line(paint.bold(printable(file.path)));
  for (const text of diffOf(file)) {
    const colour = text.startsWith("+") ? paint.green : text.startsWith("-") ? paint.red : paint.dim;
    line(colour(printable(text)));
  }
  line();
}
