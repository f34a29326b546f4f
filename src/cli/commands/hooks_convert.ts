/**
 * `kaged hooks convert`: a hook file in another dialect, with a report of what is not the same.
 *
 * @module
 */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { CONVERT_TARGETS, convertHooks, type ConvertTarget } from "../../hooks/files/convert_hooks.ts";
import { parseHookFile } from "../../hooks/files/parse_hook_file.ts";
import { printIssues } from "../hook_places.ts";
import { readText } from "../read_text.ts";
import { counted, type Terminal } from "../terminal.ts";

interface ConvertFlags {
  readonly to: ConvertTarget;
  readonly output?: string;
  readonly agent?: string;
  readonly json?: boolean;
}

export function addHooksConvert(parent: Command, terminal: Terminal): void {
  parent.command("convert")
    .summary("write a hook file in another dialect")
    .description(
      "Prints a hook file in another dialect: copilot (.github/hooks/*.json), claude (.claude/settings.json),\n" +
        "plugin (hooks/hooks.json), agent (front matter of .agent.md), codex (.codex/hooks.json), cursor\n" +
        "(.cursor/hooks.json), gemini (.gemini/settings.json) or windsurf (.windsurf/hooks.json). What cannot be carried\n" +
        "over, or means something else there, is reported on standard error.",
    )
    .argument("<file>", "the hook file")
    .addOption(
      new Option("--to <dialect>", "dialect to write").choices(CONVERT_TARGETS)
        .makeOptionMandatory(),
    )
    .option("--output <file>", "write there instead of to standard output; a file that is there stays")
    .option("--agent <name>", "name of the agent, for --to agent")
    .option("--json", "print JSON: { text, carried, notes, warnings }")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, flags: ConvertFlags) => await convert(file, flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged hooks convert .claude/settings.json --to copilot --output .github/hooks/claude.json
  kaged hooks convert .github/hooks/guard.json --to claude`;

async function convert(given: string, flags: ConvertFlags, { cwd, out, err }: Terminal): Promise<void> {
  const file = resolve(cwd, given);
  const parsed = await parseHookFile(await readText(file), { file, name: given });
  const agent = flags.agent === undefined ? {} : { agent: flags.agent };
  const { text, carried, notes } = await convertHooks(parsed, flags.to, agent);
  if (flags.output !== undefined) await writeNew(resolve(cwd, flags.output), text);
  if (flags.json) return out.json({ text, carried, notes, warnings: parsed.warnings });
  if (flags.output === undefined) out.document(text);
  printIssues(parsed.warnings, "warning", err);
  for (const { path, line, kind, text } of notes) {
    const colour = kind === "lost" ? err.paint.red : err.paint.yellow;
    err.line(`${colour(kind)}  ${given}:${line}  ${path}: ${text}`);
  }
  const lost = parsed.hooks.length + parsed.tools.length - carried;
  const count = `${counted(carried, "hook")} carried over`;
  err.line(lost === 0 ? count : `${count}, ${lost} not`);
}

/** Writes a file that is not there yet. */
async function writeNew(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: "wx" }).catch((cause) => {
    if ((cause as { code?: string }).code !== "EEXIST") throw cause;
    throw new HostError("host.misuse", `"${path}" is there already`, {
      data: { path },
      hint: "Name another file with --output, or remove that one first",
    });
  });
}
