/**
 * `kaged plugin logs`: what a plugin wrote to stderr, whether a host runs or not.
 *
 * @module
 */
import { open } from "node:fs/promises";
import { type Command, InvalidArgumentError } from "commander";
import { HostError } from "../../core/errors.ts";
import { logPath, type PluginLogEntry, readLogEntry, readPluginLog } from "../../core/host/plugin_logs.ts";
import { addOperatorOptions, type Operator, type OperatorFlags, withOperator } from "../operator.ts";
import { printable, type Terminal } from "../terminal.ts";

interface LogFlags extends OperatorFlags {
  readonly follow?: boolean;
  readonly lines: number;
}

/** Adds the command. */
export function addPluginLogs(parent: Command, terminal: Terminal): void {
  const command = parent.command("logs")
    .summary("show what a plugin logs")
    .description("Shows the newest lines a plugin wrote to stderr, in every host of this home.")
    .argument("<name>", "the plugin's name")
    .option("-f, --follow", "go on with each new line until Ctrl-C")
    .option("-n, --lines <count>", "how many lines to begin with", parseCount, 50);
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
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    throw new HostError("host.misuse", `"${name}" is no name of a plugin`, { hint: "Run kaged plugin list" });
  }
  await withOperator(flags, terminal, async (operator) => {
    const { home, runtime: { files } } = operator;
    const path = logPath(home, name);
    const offset = (await files.info(path))?.size ?? 0;
    const entries = await readPluginLog(home, name, { files, tail: flags.lines });
    for (const entry of entries) print(entry, flags, terminal);
    if (flags.follow) return await follow(path, offset, operator, (entry) => print(entry, flags, terminal));
    if (entries.length === 0 && !flags.json) terminal.err.line(printable(`${name} has logged nothing`));
  });
}

function print({ timestamp, instance, line }: PluginLogEntry, { json }: LogFlags, { out }: Terminal): void {
  if (json) return out.line(JSON.stringify({ timestamp, instance, line }));
  out.line(`${out.paint.dim(printable(`${timestamp} ${instance ?? "host"}`))} ${printable(line)}`);
}

const LOOK_MS = 200;

/** Gives out each line that comes to the file, also after it was set aside for a new one, until the command is ended. */
async function follow(
  path: string,
  offset: number,
  { signal, runtime: { files } }: Operator,
  give: (entry: PluginLogEntry) => void,
): Promise<void> {
  let inode = (await files.info(path))?.ino ?? null;
  while (!signal.aborted) {
    const info = await files.info(path);
    if (info && info.ino !== inode) [inode, offset] = [info.ino, 0];
    if (info && info.size > offset) {
      const bytes = await readFrom(path, offset);
      offset += bytes.length;
      new TextDecoder().decode(bytes).split("\n").flatMap(readLogEntry).forEach(give);
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
}

/** Reads whole lines from `offset` on. */
async function readFrom(path: string, offset: number): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(Math.min(1024 * 1024, Math.max(0, size - offset)));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a);
    return bytes.subarray(0, end + 1);
  } finally {
    await file.close();
  }
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 0) throw new InvalidArgumentError("It takes a number of lines");
  return count;
}
