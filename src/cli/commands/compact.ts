/**
 * `kaged compact`: make an agent's window smaller, with its plugins, and show what is left.
 *
 * @module
 */
import type { Command } from "commander";
import type { CompactionResult } from "../../core/compaction/types.ts";
import { HostError } from "../../core/errors/host_error.ts";
import type { Message } from "../../core/compaction/messages.ts";
import { wholeNumber } from "../options.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { addHostOptions, type HostFlags, readJson, withHost } from "../with_host.ts";

interface CompactFlags extends HostFlags {
  readonly messages: string;
  readonly targetTokens?: number;
  readonly trigger: string;
}

/** Adds `kaged compact` to the command line. */
export function addCompact(parent: Command, terminal: Terminal): void {
  const command = parent.command("compact")
    .summary("make an agent's window smaller")
    .description("Starts the plugins of a project and compacts a list of messages as an agent of it would.")
    .requiredOption("--messages <file>", "the window, a JSON list of messages; - reads it from standard input")
    .option(
      "--target-tokens <n>",
      "tokens to come down to (default: what project.yaml says)",
      wholeNumber("a number of tokens", 0),
    )
    .option("--trigger <why>", "reason that plugins are sent", "manual");
  addHostOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((flags: CompactFlags) => compact(flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged compact --project . --messages window.json --target-tokens 2000
  kaged compact --project . --messages - --json < window.json | jq .messages
With --json it prints { "messages", "superseded", "by", "summary"?, "retained", "injected", "leftOut"?, "before",
"after", "fallback"? }.`;

async function compact(flags: CompactFlags, terminal: Terminal): Promise<void> {
  const messages = await readJson(flags.messages, terminal);
  if (!Array.isArray(messages)) {
    throw new HostError("host.misuse", `"${flags.messages}" holds no list of messages`, {
      hint: 'Write [{ "role": "user", "content": "…" }, …]',
    });
  }
  const { agent, trigger, targetTokens } = flags;
  const request = {
    agent,
    trigger,
    messages: messages as Message[],
    ...(targetTokens !== undefined && { targetTokens }),
  };
  const result = await withHost(flags, terminal, (host, session) => host.compact({ ...request, session }));
  if (flags.json) terminal.out.json(result);
  else print(result, terminal.out);
}

function print(result: CompactionResult, out: Printer): void {
  const { messages, by, before, after, summary, fallback, retained, leftOut = [] } = result;
  const { line, paint } = out;
  const size = `${before.messages} → ${after.messages} messages, ${before.tokens} → ${after.tokens} tokens`;
  line(`${paint.bold(by === "none" ? "Nothing to compact" : `Compacted by ${by}`)}: ${size}`);
  if (fallback) line(paint.yellow(`Fell back (${fallback.reason}): ${fallback.detail}`));
  const texts = [
    ...(summary === undefined ? [] : [{ title: "Summary", text: summary }]),
    ...retained.map(({ plugin, text }) => ({ title: `Retained by ${plugin}`, text })),
  ];
  for (const { title, text } of texts) {
    line(`${title}:`);
    out.quote(text);
  }
  for (const { plugin, bytes } of leftOut) {
    line(paint.yellow(`Left out: the text of ${plugin}, ${bytes} bytes, for which the window has no room`));
  }
  for (const { id, role, content } of messages) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    const oneLine = text.replaceAll(/\s+/g, " ");
    line(`  ${paint.dim(String(id))} ${role}  ${oneLine.length > 100 ? `${oneLine.slice(0, 100)}…` : oneLine}`);
  }
}
