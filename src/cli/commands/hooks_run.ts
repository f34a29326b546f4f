/**
 * `kaged hooks run` and `kaged hooks why`: fires one moment at the hooks of a repository and shows the answer of each, at
 * once and later.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import type { CommandEnd } from "../../hooks/sources/command/types.ts";
import type { HookRun } from "../../hooks/sources/command/last_run.ts";
import type { FiredEvent } from "../../hooks/engine/engine.ts";
import { isUnanswered } from "../../hooks/engine/asks.ts";
import type { HookTrace } from "../../hooks/engine/result.ts";
import type { HookSource } from "../../hooks/engine/types.ts";
import { addHookOptions, type HookFlags, openHooks, printIssues, warnOfUntrusted } from "../hook_places.ts";
import { interruptible, unlessAborted } from "../interrupt.ts";
import { addHomeOptions, type HomeFlags, placesOf } from "../options.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { readJson } from "../with_host.ts";

interface RunFlags extends HookFlags {
  readonly input?: string;
  readonly agent: string;
}

/** Adds the command; `exit` takes the exit code. */
export function addHooksRun(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("run")
    .summary("fire one moment at the hooks")
    .description(
      "Fires one moment at the trusted hooks of a repository, each in its cage, and shows the answer of each.\n" +
        "Exit code 1 when a hook breaks. kaged hooks why shows the outcome again.",
    )
    .argument("<moment>", "PreToolUse, SessionStart … or a native name, such as errorOccurred")
    .option("--input <file>", "fields of the event, a JSON object; - reads them from standard input")
    .option("--agent <path>", "agent it happens to", "primary");
  addHookOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (moment: string, flags: RunFlags) => exit(await run(moment, flags, terminal)));
}

/** Adds the command that shows the last run again. */
export function addHooksWhy(parent: Command, terminal: Terminal): void {
  const command = parent.command("why")
    .summary("show why the last run blocked, or did not")
    .description(
      "Shows the outcome of the last run of hooks, in any folder: which hook blocked and why, which broke or were skipped.",
    );
  addHomeOptions(command)
    .addHelpText("after", "\nExamples:\n  kaged hooks why\n  kaged hooks why --json | jq .reason")
    .action(async (flags: HomeFlags) => await why(flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged hooks run SessionStart
  echo '{"tool": {"name": "Bash"}, "input": {"command": "ls"}}' | kaged hooks run PreToolUse --input -
An event has tool { name, success, durationMs }, input, output, error { message, code }, subagent { name, parent, depth },
budget { usedTokens, effectiveLimit }, repository, branch and details.
With --json it prints { "hook", "blocked", "blockedBy", "reason", "asked", "input", "output", "context", "warnings", "trace",
"commands" }. Nobody is asked here: where a hook asks and none blocks, "blocked" is true and "asked" is not empty.`;

async function run(moment: string, flags: RunFlags, terminal: Terminal): Promise<number> {
  const { input } = flags;
  const fields = input === undefined ? {} : eventFields(await readJson(input, terminal), input);
  const places = await placesOf(flags, terminal);
  const [{ createHookEngine }, { saveHookRun }] = await Promise.all([
    import("../../hooks/engine/engine.ts"),
    import("../../hooks/sources/command/last_run.ts"),
  ]);
  const commands: Record<string, unknown>[] = [];
  const { found, result } = await interruptible(async (signal) => {
    await using opened = await openHooks(flags, terminal, places, {
      signal,
      onBroken: (_, { message }) => terminal.err.warning(message),
      onEnd: ({ id }, { exit, ended, stdout, stderr }: CommandEnd) =>
        void commands.push({ id, exit, ended, stdout, stderr }),
    });
    const engine = createHookEngine({ clock: places.runtime.clock });
    engine.add(opened.registrations);
    const event = { sessionId: "ses_run", ...fields, hook: moment, agent: flags.agent } as FiredEvent;
    return { found: opened, result: await unlessAborted(Promise.resolve(engine.fire(event)), signal) };
  });
  const kept = await saveHookRun(places.home, { dir: found.found.dir, result }, places.runtime);
  if (flags.json) terminal.out.json({ ...result, commands });
  else {
    printHookRun(kept, terminal.out);
    for (const text of result.context) {
      terminal.out.line();
      terminal.out.quote(text);
    }
    printIssues(found.found.errors, "error", terminal.err);
    warnOfUntrusted(found, terminal.err);
  }
  return result.trace.some(({ outcome }) => outcome === "broke") ? 1 : 0;
}

async function why(flags: HomeFlags, terminal: Terminal): Promise<void> {
  const { runtime, home } = await placesOf(flags, terminal);
  const { readHookRun } = await import("../../hooks/sources/command/last_run.ts");
  const run = await readHookRun(home, runtime);
  if (flags.json) return terminal.out.json(run);
  terminal.out.line(terminal.out.paint.dim(`${run.at}  ${run.dir}`));
  printHookRun(run, terminal.out);
}

/** Prints the verdict, then each hook's part in it. */
function printHookRun(run: HookRun, out: Printer): void {
  const { hook, blocked, blockedBy, reason, asked, trace, warnings } = run;
  const { line, paint } = out;
  if (isUnanswered(run)) {
    line(`${paint.yellow("asks")} ${hook}: a person would be asked`);
    for (const { source, reason: why } of asked) line(`  by ${placed(source)}: ${why}`);
  } else if (blocked) {
    const by = trace.find(({ source }) => source.id === blockedBy)?.source;
    line(`${paint.red("blocked")} ${hook} by ${by ? placed(by) : blockedBy}`);
    line(`  ${reason ?? ""}`);
  } else {
    const why = trace.length === 0 ? "no hook that may run is for it" : "nothing was blocked";
    line(`${paint.green("passed")} ${hook}: ${why}`);
  }
  for (const each of trace) line(`  ${traceLine(each, out)}`);
  for (const warning of warnings) line(`  ${paint.yellow("warning")}: ${warning}`);
}

/** A hook with the line it is written in. */
function placed({ id, file, line }: HookSource): string {
  return file === undefined ? id : `${id} (${file}:${line})`;
}

function traceLine(trace: HookTrace, { paint }: Printer): string {
  const { source, outcome, durationMs, action, reason, changed, injectedBytes, hadNoSay } = trace;
  const colour = outcome === "broke" ? paint.red : outcome === "ran" ? paint.green : paint.dim;
  const did = [
    ...(action === undefined || action === "passThrough" ? [] : [action]),
    ...(changed === undefined ? [] : [`changed ${changed.join(" and ")}`]),
    ...(injectedBytes === undefined ? [] : [`${injectedBytes} bytes`]),
    ...(hadNoSay ? ["had no say"] : []),
    ...(outcome === "broke" || outcome === "skipped" ? [reason ?? ""] : []),
  ];
  const facts = did.length === 0 ? "" : `  ${did.join(", ")}`;
  return `${colour(outcome)}  ${source.id}${facts}  ${paint.dim(`${Math.round(durationMs)} ms`)}`;
}

type FieldType = "an object" | "a text" | "anything";

const FIELDS: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ...["input", "output"].map((name) => [name, "anything"] as const),
  ...["tool", "error", "subagent", "budget", "details"].map((name) => [name, "an object"] as const),
  ...["sessionId", "repository", "branch", "timestamp"].map((name) => [name, "a text"] as const),
]);
/** The command line sets these; an event that was recorded has them too. */
const IGNORED: readonly string[] = ["hook", "agent"];

/**
 * Returns the fields of the event in `source`. An unknown field would reach no hook, and the run would not show why: so
 * it is an error.
 *
 * @throws {HostError} `hook.event_invalid` or `host.misuse`.
 */
function eventFields(value: unknown, source: string): Readonly<Record<string, unknown>> {
  if (!isMap(value)) {
    throw new HostError("host.misuse", `"${source}" holds no JSON object`, {
      hint: 'Write { "tool": { "name": "Bash" } }',
    });
  }
  for (const [key, field] of Object.entries(value)) {
    const wanted = IGNORED.includes(key) ? "anything" : FIELDS.get(key);
    if (wanted === undefined) {
      const names = [...FIELDS.keys()];
      const hint = didYouMean(key, names, `Fields: ${names.join(", ")}`);
      throw new HostError("hook.event_invalid", `"${source}": an event has no field ${shown(key)}`, { hint });
    }
    if (wanted === "anything" || (wanted === "a text" ? typeof field === "string" : isMap(field))) continue;
    throw new HostError("hook.event_invalid", `"${source}": the field "${key}" is not ${wanted}`, {
      hint: "See kaged hooks run --help for the fields of an event",
    });
  }
  return value;
}
