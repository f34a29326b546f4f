/**
 * `kaged hooks list`: which hooks there are, in which order they run, and whether they may.
 *
 * @module
 */
import type { Command } from "commander";
import { PORTABLE_HOOKS } from "../../core/hooks/files/event_names.ts";
import type { LoadedHook } from "../../core/hooks/files/load_hook_files.ts";
import type { TrustState } from "../../core/hooks/files/trust_store.ts";
import type { OpenedHookFiles } from "../../core/hooks/command/open_hook_files.ts";
import { addHookOptions, type HookFlags, hookPlaces, openHooks, printIssues } from "../hook_places.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

const DEFAULT_PRIORITY = 50;

/** Adds the command; `exit` takes the exit code. */
export function addHooksList(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("list")
    .summary("show the hooks in the order they run")
    .description(
      "Shows the hooks of a repository by moment, in the order they run, with file and line. Starts nothing.\n" +
        "Exit code 1 when a hook file cannot be used.",
    );
  addHookOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: HookFlags) => exit(await list(flags, terminal)));
}

const EXAMPLES = `
Examples:
  kaged hooks list
  kaged hooks list --dir ../other --json | jq '.hooks[] | select(.trust != "trusted")'`;

interface Row {
  readonly hook: LoadedHook;
  readonly trust: TrustState;
  readonly place: number;
}

async function list(flags: HookFlags, terminal: Terminal): Promise<number> {
  await using opened = await openHooks(flags, terminal, await hookPlaces(flags, terminal));
  const rows = inOrder(opened);
  const { errors, warnings } = opened.found;
  if (flags.json) terminal.out.line(JSON.stringify(asJson(opened, rows), null, 2));
  else {
    print(opened, rows, terminal.out);
    printIssues(warnings, "warning", terminal.err);
    printIssues(errors, "error", terminal.err);
  }
  return errors.length > 0 ? 1 : 0;
}

/** By moment, then by priority, then by registration: the engine's order. */
function inOrder({ judged }: OpenedHookFiles): Row[] {
  const all = judged.flatMap(({ file, trust }) => file.hooks.map((hook) => ({ hook, trust })));
  return PORTABLE_HOOKS.flatMap((moment) =>
    all.filter(({ hook }) => hook.hook === moment)
      .sort((a, b) => priorityOf(a.hook) - priorityOf(b.hook))
      .map((row, index) => ({ ...row, place: index + 1 }))
  );
}

const priorityOf = ({ priority = DEFAULT_PRIORITY }: LoadedHook): number => priority;

function trustOf(file: string, { judged }: OpenedHookFiles): TrustState {
  return judged.find((one) => one.file.file === file)?.trust ?? "untrusted";
}

function asJson(opened: OpenedHookFiles, rows: readonly Row[]): Record<string, unknown> {
  const { found } = opened;
  return {
    dir: found.dir,
    hooks: rows.map(({ hook, trust, place }) => ({
      hook: hook.hook,
      place,
      id: hook.id,
      native_name: hook.nativeName,
      dialect: hook.dialect,
      file: hook.file,
      line: hook.line,
      priority: priorityOf(hook),
      timeout_ms: hook.timeoutMs,
      command: hook.script,
      matcher: hook.matcher ?? null,
      agent: hook.agent,
      advisory: hook.advisory,
      on_failure: hook.onFailure ?? "pass",
      trust,
    })),
    mcp: found.mcp.flatMap(({ hooks }) =>
      hooks.map(({ hook, tool, priority, file, line }) => ({
        hook,
        tool,
        priority,
        file,
        line,
        trust: trustOf(file, opened),
      }))
    ),
    left_out: found.leftOut,
    warnings: found.warnings,
    errors: found.errors,
  };
}

const WORDS: Readonly<Record<TrustState, string>> = {
  own: "your own",
  trusted: "trusted",
  untrusted: "not trusted: does not run",
  changed: "changed since you trusted it: does not run",
};

function print(opened: OpenedHookFiles, rows: readonly Row[], { line, paint }: Printer): void {
  const { found } = opened;
  if (rows.length + found.mcp.length === 0) line(paint.dim(printable(`No hooks in ${found.dir}`)));
  let moment = "";
  for (const { hook, trust, place } of rows) {
    if (hook.hook !== moment) line(paint.bold(hook.hook));
    moment = hook.hook;
    const colour = trust === "untrusted" || trust === "changed" ? paint.yellow : paint.green;
    const more = [
      `${hook.timeoutMs / 1000} s`,
      ...(priorityOf(hook) === DEFAULT_PRIORITY ? [] : [`priority ${hook.priority}`]),
      ...(hook.matcher === undefined ? [] : [`matches ${hook.matcher}`]),
      ...(hook.agent === null ? [] : [`agent ${hook.agent}`]),
      ...(hook.background ? ["in the background"] : []),
      ...(hook.advisory ? ["advice only"] : []),
    ];
    line(`  ${place}. ${printable(hook.script)}`);
    line(
      `     ${printable(`${hook.file}:${hook.line}`)}  ${paint.dim(printable(more.join(", ")))}  ${
        colour(WORDS[trust])
      }`,
    );
  }
  for (const { hooks } of found.mcp) {
    for (const { hook, tool, file, line: at } of hooks) {
      line(`${paint.bold(hook)}  MCP tool ${printable(`${tool}  ${file}:${at}`)}  ${WORDS[trustOf(file, opened)]}`);
    }
  }
  for (const { id, reason } of found.leftOut) line(paint.dim(printable(`left out: ${id}: ${reason}`)));
  if (opened.judged.some(({ trust }) => trust === "untrusted" || trust === "changed")) {
    line("\nLook at them and decide: kaged hooks trust");
  }
}
