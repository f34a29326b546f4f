/**
 * `kaged plugin logs`: the lines a plugin wrote to stderr, whether a host runs or not.
 *
 * @module
 */
import type { Command } from "commander";
import { logPath, type PluginLogEntry, readPluginLog } from "../../host/plugin_logs.ts";
import { followLog } from "../follow_log.ts";
import { addOperatorOptions, type OperatorFlags, withOperator } from "../operator.ts";
import { requirePluginName, wholeNumber } from "../options.ts";
import { printable, type Terminal } from "../terminal.ts";

interface LogFlags extends OperatorFlags {
  readonly follow?: boolean;
  readonly lines: number;
}

export function addPluginLogs(parent: Command, terminal: Terminal): void {
  const command = parent.command("logs")
    .summary("show a plugin's log")
    .description("Shows the newest lines a plugin wrote to stderr, in every host of this home.")
    .argument("<name>", "the plugin's name")
    .option("-f, --follow", "go on with each new line until Ctrl-C")
    .option("-n, --lines <count>", "how many lines to begin with", wholeNumber("a number of lines", 0), 50);
  addOperatorOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((name: string, flags: LogFlags) => logs(name, flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged plugin logs notes -n 200
  kaged plugin logs notes -f
With --json it prints one object a line: { "timestamp", "instance", "line" }.`;

async function logs(name: string, flags: LogFlags, terminal: Terminal): Promise<void> {
  requirePluginName(name);
  const { err } = terminal;
  await withOperator(flags, terminal, async ({ home, signal, runtime: { files } }) => {
    // Taken before the file is read: a line that comes meanwhile is shown twice rather than never.
    const offset = (await files.info(logPath(home, name)))?.size ?? 0;
    const entries = await readPluginLog(home, name, { files, tail: flags.lines });
    for (const entry of entries) print(entry, flags, terminal);
    if (entries.length === 0 && !flags.json) err.line(printable(`${name} has logged nothing`));
    if (!flags.follow) return;
    await followLog({
      home,
      plugin: name,
      offset,
      files,
      signal,
      onLine: (entry) => print(entry, flags, terminal),
      onHost({ host: { pid }, project: { id } }, isFollowed) {
        err.line(err.paint.dim(printable(`${isFollowed ? "following" : "no longer following"} ${id} (pid ${pid})`)));
      },
    });
  });
}

function print({ timestamp, instance, line }: PluginLogEntry, { json }: LogFlags, { out }: Terminal): void {
  if (json) return out.line(JSON.stringify({ timestamp, instance, line }));
  out.line(`${out.paint.dim(printable(`${timestamp} ${instance ?? "host"}`))} ${printable(line)}`);
}
