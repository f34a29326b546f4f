/**
 * `kaged plugin logs`: the lines a plugin wrote to stderr, whether a host runs or not.
 *
 * @module
 */
import type { Command } from "commander";
import { logPath, type PluginLogEntry, readPluginLog } from "../../host/plugin_logs.ts";
import { followLog, type LogFollower } from "../follow_log.ts";
import { operate, type Operator, unknownPlugin } from "../operator.ts";
import { requirePluginName, wholeNumber } from "../options.ts";
import { hostsWith } from "../running_hosts.ts";
import type { Terminal } from "../terminal.ts";

interface LogFlags {
  readonly follow?: boolean;
  readonly lines: number;
}

export function addPluginLogs(parent: Command, terminal: Terminal): void {
  const command = parent.command("logs")
    .summary("show a plugin's log")
    .description("Shows the newest lines a plugin wrote to stderr, in every host of this home.")
    .argument("<name>", "the plugin's name")
    .option("-f, --follow", "go on with each new line until Ctrl-C")
    .option("-n, --lines <count>", "how many lines to begin with", wholeNumber("a number of lines", 0), 50)
    .addHelpText("after", EXAMPLES);
  operate(command, terminal, logs);
}

const EXAMPLES = `
Examples:
  kaged plugin logs notes -n 200
  kaged plugin logs notes -f
With --json it prints one object a line: { "timestamp", "instance", "line" }.`;

async function logs(operator: Operator, name: string, { follow, lines }: LogFlags): Promise<void> {
  requirePluginName(name);
  const { home, json, signal, runtime: { files }, terminal: { out, err } } = operator;
  const onLine = ({ timestamp, instance, line }: PluginLogEntry): void => {
    if (json) out.json({ timestamp, instance, line }, { isLine: true });
    else out.line(`${out.paint.dim(`${timestamp} ${instance ?? "host"}`)} ${line}`);
  };
  // Taken before the file is read: a line that comes meanwhile is shown twice rather than never.
  const offset = (await files.info(logPath(home, name)))?.size ?? null;
  const entries = await readPluginLog(home, name, { files, tail: lines });
  if (offset === null) {
    const local = await operator.local();
    const isKnown = local.records.has(name) || (await hostsWith(home, name)).length > 0;
    if (!isKnown) throw unknownPlugin(name, local);
  }
  entries.forEach(onLine);
  if (entries.length === 0 && !json) err.line(`${name} has logged nothing`);
  if (!follow) return;
  const onHost: LogFollower["onHost"] = ({ host: { pid }, project: { id } }, isFollowed) =>
    err.line(err.paint.dim(`${isFollowed ? "following" : "no longer following"} ${id} (pid ${pid})`));
  await followLog({ home, plugin: name, offset: offset ?? 0, files, signal, onLine, onHost });
}
