/**
 * `kaged hookspec emit`: write the files that follow from a hookspec.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { addHookspecOptions, followingFiles, type HookspecFlags } from "../hookspec_files.ts";
import { claimOut } from "../hookspec_owner.ts";
import { printable, type Terminal } from "../terminal.ts";

/** Adds `hookspec emit`. */
export function addHookspecEmit(parent: Command, terminal: Terminal): void {
  const command = parent.command("emit")
    .summary("write the files that follow from a hookspec")
    .description(
      "Writes types, schemas and pages for every kind of a hookspec: TypeScript, Python, Go, OpenRPC and Markdown.\n" +
        "The same hookspec gives the same bytes; a file that holds them already is left alone. A generated file of a\n" +
        "kind that is gone is removed. A folder of --out is one hookspec's: another is refused there.",
    );
  addHookspecOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((flags: HookspecFlags) => emit(flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged hookspec emit
  kaged hookspec emit --dir spec --out build/kinds
With --json it prints { "files": [ { "path", "language", "written" } ], "removed": [ path ] }.`;

async function emit(flags: HookspecFlags, terminal: Terminal): Promise<void> {
  const { all, leftovers, files } = await followingFiles(flags, terminal);
  const stale = all.filter(({ text, found }) => text !== found);
  for (const { file, text } of stale) {
    await files.makeDir(dirname(file), { recursive: true, mode: 0o755 });
    await files.write(file, text, 0o644);
  }
  for (const { file } of leftovers) await files.remove(file);
  if (flags.out !== undefined) {
    await claimOut({ out: resolve(terminal.cwd, flags.out), dir: resolve(terminal.cwd, flags.dir) }, files);
  }
  if (flags.json) {
    const removed = leftovers.map(({ path }) => path);
    const rows = all.map(({ path, language, text, found }) => ({ path, language, written: text !== found }));
    return terminal.out.line(JSON.stringify({ files: rows, removed }, null, 2));
  }
  for (const { path } of stale) terminal.out.line(`wrote ${printable(path)}`);
  for (const { path } of leftovers) terminal.out.line(`removed ${printable(path)}`);
  const removed = leftovers.length > 0 ? `, ${leftovers.length} removed` : "";
  terminal.out.line(`${all.length} files, ${stale.length} written${removed}`);
}
