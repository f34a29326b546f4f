/**
 * `kaged plugin info`: which tables a plugin keeps, and how large they are.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { printable, type Terminal } from "../terminal.ts";
import { withStorage } from "../with_storage.ts";

interface InfoFlags {
  readonly home?: string;
  readonly json?: boolean;
}

/** Adds the command. */
export function addPluginInfo(parent: Command, terminal: Terminal): void {
  parent.command("info")
    .summary("show what a plugin keeps")
    .description("Shows a plugin's tables with their rows, and the bytes they take, indexes and search data included.")
    .argument("<name>", "the plugin's name")
    .option("--home <dir>", "operator's folder (default: $KAGED_HOME, else ~/.local/share/kaged)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action((name: string, flags: InfoFlags) => showInfo(name, flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged plugin info notes
  kaged plugin info notes --json
With --json it prints { "name", "storage": { "tables": [ { "name", "rows", "bytes" } ], "bytes" } }.`;

async function showInfo(name: string, flags: InfoFlags, terminal: Terminal): Promise<void> {
  const home = flags.home === undefined ? undefined : resolve(terminal.cwd, flags.home);
  const report = await withStorage({ home, plugin: name }, (storage) => storage.report(name));
  if (flags.json) {
    terminal.out.line(JSON.stringify({ name, storage: report }, null, 2));
    return;
  }
  const { tables, bytes } = report;
  terminal.out.line(`${name}: ${tables.length} ${tables.length === 1 ? "table" : "tables"}, ${bytes} bytes`);
  for (const table of tables) {
    terminal.out.line(printable(`  ${table.name}  ${table.rows ?? "?"} rows, ${table.bytes} bytes`));
  }
}
