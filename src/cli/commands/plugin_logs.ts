/**
 * `kaged plugin logs`: the lines a plugin wrote to stderr, whether a host runs or not.
 *
 * @module
 */
import { type Command, Option } from "commander";
import { logPath, type PluginLogEntry, readPluginLog } from "../../host/plugin_logs.ts";
import { defined } from "../../core/values/plain_data.ts";
import { followLog, type LogFollower } from "../follow_log.ts";
import { operate, type Operator, unknownPlugin } from "../operator.ts";
import { requirePluginName, wholeNumber } from "../options.ts";
import { hostsWith } from "../../http/running_hosts.ts";
import type { Terminal } from "../terminal.ts";

interface LogFlags {
  readonly follow?: boolean;
  readonly lines: number;
  readonly limit?: number;
  readonly cursor?: string;
}

export function addPluginLogs(parent: Command, terminal: Terminal): void {
  const command = parent.command("logs")
    .summary("show a plugin's log")
    .description("Shows the newest lines a plugin wrote to stderr, in every host of this home.")
    .argument("<name>", "the plugin's name")
    .option("-f, --follow", "go on with each new line until Ctrl-C")
    .option("-n, --lines <count>", "how many lines to begin with", wholeNumber("a number of lines", 0), 50)
    .addOption(
      new Option("--limit <count>", "show one page of at most this many lines, and the cursor of the page before it")
        .argParser(wholeNumber("a number from 1 to 1000", 1, 1000)).conflicts(["lines", "follow"]),
    )
    .addOption(new Option("--cursor <cursor>", "show the page that a cursor leads to").conflicts("follow"))
    .addHelpText("after", EXAMPLES);
  operate(command, terminal, logs);
}

const EXAMPLES = `
Examples:
  kaged plugin logs notes -n 200
  kaged plugin logs notes -f
  kaged plugin logs notes --limit 500 --json
With --json it prints one object a line: { "timestamp", "instance", "line" }; with --limit or --cursor
{ "lines": [ … ], "next": "<cursor>" | null }, the oldest line first, and the cursor leads to older lines.`;

async function logs(operator: Operator, name: string, flags: LogFlags): Promise<void> {
  const { follow, lines, limit, cursor } = flags;
  requirePluginName(name);
  const { home, json, signal, runtime: { files }, terminal: { out, err } } = operator;
  const onLine = ({ timestamp, instance, line }: PluginLogEntry): void => {
    if (json) out.json({ timestamp, instance, line }, { isLine: true });
    else out.line(`${out.paint.dim(`${timestamp} ${instance ?? "host"}`)} ${line}`);
  };
  // Taken before the file is read: a line that comes meanwhile is shown twice rather than never.
  const offset = (await files.info(logPath(home, name)))?.size ?? null;
  const asked = { limit: limit ?? lines, ...defined({ cursor }) };
  const { items, next } = await readPluginLog({ home, plugin: name }, asked, files);
  if (offset === null) {
    const local = await operator.local();
    const isKnown = local.records.has(name) || (await hostsWith(home, name)).length > 0;
    if (!isKnown) throw unknownPlugin(name, local);
  }
  if (json && (limit ?? cursor) !== undefined) return out.json({ lines: items, next });
  items.forEach(onLine);
  if (items.length === 0 && !json) err.line(`${name} has logged nothing${cursor === undefined ? "" : " before that"}`);
  if (!follow && next !== null && !json) err.line(err.paint.dim(`older lines: --cursor ${next}`));
  if (!follow) return;
  const onHost: LogFollower["onHost"] = ({ host: { pid }, project: { id } }, isFollowed) =>
    err.line(err.paint.dim(`${isFollowed ? "following" : "no longer following"} ${id} (pid ${pid})`));
  await followLog({ home, plugin: name, offset: offset ?? 0, files, signal, onLine, onHost });
}
