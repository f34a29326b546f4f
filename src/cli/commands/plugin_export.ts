/**
 * `kaged plugin export`: a plugin's tables, in a file of their own.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { operate, type Operator, withStorage } from "../operator.ts";
import { requirePluginName } from "../options.ts";
import type { Terminal } from "../terminal.ts";

export function addPluginExport(parent: Command, terminal: Terminal): void {
  const command = parent.command("export")
    .summary("write a plugin's data to a SQLite file")
    .description(
      "Writes a plugin's tables, views, indexes and triggers to a new SQLite file, under the names the plugin knows.\n" +
        "Uninstalling a plugin drops its data: export it first to keep it.",
    )
    .argument("<name>", "the plugin's name")
    .requiredOption("-o, --output <file>", "the file to write; it must not exist")
    .addHelpText("after", EXAMPLES);
  operate(command, terminal, exportData);
}

const EXAMPLES = `
Example:
  kaged plugin export notes -o notes.sqlite
With --json it prints { "file", "tables": [] }.`;

async function exportData(operator: Operator, name: string, { output }: { readonly output: string }): Promise<void> {
  requirePluginName(name);
  const { home, ask, json, terminal: { out, cwd } } = operator;
  const file = resolve(cwd, output);
  const texts = { message: `Writing the data of ${name}`, done: "Written", failed: "Not written" };
  const tables = await withStorage(operator, (storage) => ask.during(storage.exportTo(name, file), texts));
  if (tables === null) {
    throw new HostError("host.misuse", `No plugin keeps anything in "${home}"`, { hint: "Name the home with --home" });
  }
  if (json) return out.json({ file, tables });
  out.line(`${file}: ${tables.length === 0 ? "no tables" : tables.join(", ")}`);
}
