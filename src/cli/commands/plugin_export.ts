/**
 * `kaged plugin export`: a plugin's tables, in a file of their own.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { showProgress } from "../questions.ts";
import { printable, type Terminal } from "../terminal.ts";
import { withStorage } from "../with_storage.ts";

interface ExportFlags {
  readonly output: string;
  readonly home?: string;
  readonly json?: boolean;
}

/** Adds the command. */
export function addPluginExport(parent: Command, terminal: Terminal): void {
  parent.command("export")
    .summary("write what a plugin keeps to a SQLite file")
    .description(
      "Writes a plugin's tables, views, indexes and triggers to a new SQLite file, under the names the plugin knows.\n" +
        "Uninstalling a plugin drops its data: this keeps it.",
    )
    .argument("<name>", "the plugin's name")
    .requiredOption("-o, --output <file>", "the file to write; it must not exist")
    .option("--home <dir>", "operator's folder (default: $KAGED_HOME, else ~/.local/share/kaged)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action((name: string, flags: ExportFlags) => exportData(name, flags, terminal));
}

const EXAMPLES = `
Example:
  kaged plugin export notes -o notes.sqlite
With --json it prints { "file", "tables": [] }.`;

async function exportData(name: string, flags: ExportFlags, terminal: Terminal): Promise<void> {
  const home = flags.home === undefined ? undefined : resolve(terminal.cwd, flags.home);
  const file = resolve(terminal.cwd, flags.output);
  const tables = await withStorage({ home, plugin: name }, terminal, async (storage) => {
    if (flags.json || !terminal.isInteractive) return await storage.exportTo(name, file);
    const done = await showProgress(`Writing what ${name} keeps`);
    let outcome = "Not written";
    try {
      const written = await storage.exportTo(name, file);
      outcome = "Written";
      return written;
    } finally {
      done(outcome);
    }
  });
  if (flags.json) terminal.out.line(JSON.stringify({ file, tables }, null, 2));
  else terminal.out.line(printable(`${file}: ${tables.length === 0 ? "no tables" : tables.join(", ")}`));
}
