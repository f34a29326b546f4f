/**
 * `kaged hooks fire`: fire one hook at an agent's plugins and show the answer of each.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { isUnanswered } from "../../hooks/engine/asks.ts";
import type { HookFired, HookReport } from "../../host/types.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { addTrustedHooks } from "../hook_places.ts";
import { errorJson } from "../print_error.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { addHostOptions, type HostFlags, readJson, withHost } from "../with_host.ts";

interface FireFlags extends HostFlags {
  readonly input?: string;
}

/** Adds the command; `exit` takes the exit code of a firing, whatever the plugins answered. */
export function addHooksFire(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("fire")
    .summary("fire a hook at an agent's plugins")
    .description(
      "Starts the plugins of a project, fires one hook at those of an agent and shows the answer of each.\n" +
        "Hook files that you trust are asked too, and may block." +
        "\nExit code 1 when a plugin fails, or answers outside the contract of the hook.",
    )
    .argument("<hook>", "on_session_start, on_session_idle, pre_compact, post_compact …")
    .option("--input <file>", "params of the hook, a JSON object; - reads them from standard input");
  addHostOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (hook: string, flags: FireFlags) => exit(await fire(hook, flags, terminal)));
}

const EXAMPLES = `
Examples:
  kaged hooks fire on_session_start --project .
  kaged hooks fire on_session_idle --project . --input transcript.json
  kaged hooks fire pre_compact --project . --agent primary.subagents.researcher --input window.json --json
With --json it prints { "hook", "agent", "session", "results": [ { "plugin", "instance", "outcome", "result", "error"?,
"duration_ms" } ], "text", "injected", "warnings", "asked"?, "blocked"? }. Nobody is asked here: where a hook asks and none
blocks, "blocked" names the first that asks.`;

async function fire(hook: string, flags: FireFlags, terminal: Terminal): Promise<number> {
  const params = flags.input === undefined ? {} : await readJson(flags.input, terminal);
  if (!isMap(params)) throw new HostError("host.misuse", `"${flags.input}" holds no JSON object`);
  const { agent } = flags;
  const { session, fired } = await withHost(flags, terminal, async (host, session) => {
    // The same chain as under kaged serve: a gate that blocks there blocks here.
    await using _hooks = await addTrustedHooks(host, await terminal.runtime(), terminal);
    return { session, fired: await host.fireHook(hook, params, { agent, session }) };
  });
  if (flags.json) terminal.out.json({ hook, agent, session, ...asJson(fired) });
  else print(hook, agent, fired, terminal.out);
  return fired.reports.every(({ outcome }) => outcome === "ok") ? 0 : 1;
}

function asJson({ reports, ...rest }: HookFired): Record<string, unknown> {
  const results = reports.map(({ plugin, instance, outcome, result, error, durationMs: duration_ms }) => ({
    plugin,
    instance,
    outcome,
    result,
    ...(error && { error: errorJson(error) }),
    duration_ms,
  }));
  return { results, ...rest };
}

function print(hook: string, agent: string, { reports, text, asked = [], blocked }: HookFired, out: Printer): void {
  const { line, paint } = out;
  if (reports.length === 0 && !blocked) return line(paint.dim(`No plugin of "${agent}" takes ${hook}`));
  for (const report of reports) line(reportLine(report, out));
  if (isUnanswered({ asked, reason: blocked?.reason ?? null })) {
    for (const { by, reason } of asked) line(paint.yellow(`a person would be asked, by ${by}: ${reason}`));
  } else if (blocked) line(paint.yellow(`blocked by ${blocked.by}: ${blocked.reason}`));
  if (text === "") return;
  line();
  out.quote(text);
}

function reportLine({ plugin, outcome, result, error, durationMs }: HookReport, { paint }: Printer): string {
  const took = paint.dim(`${Math.round(durationMs)} ms`);
  if (error) return `${paint.red("✗")} ${plugin}  ${outcome}: ${error.message}  ${took}`;
  return `${paint.green("✓")} ${plugin}  ${JSON.stringify(result)}  ${took}`;
}
