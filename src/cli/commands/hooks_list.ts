/**
 * `kaged hooks list`: the hooks of a repository in the order they run, and whether they are trusted.
 *
 * @module
 */
import type { Command } from "commander";
import { DEFAULT_PRIORITY } from "../../hooks/dispatch/order.ts";
import { PORTABLE_HOOKS } from "../../hooks/engine/names.ts";
import type { LoadedHook } from "../../hooks/files/load_hook_files.ts";
import type { McpHook } from "../../hooks/files/types.ts";
import type { TrustState } from "../../hooks/files/trust_store.ts";
import type { OpenedHookFiles } from "../../hooks/open_hook_files.ts";
import { addHookOptions, type HookFlags, openHooks, printIssues } from "../hook_places.ts";
import { placesOf } from "../options.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { printHeld } from "./hooks_trust.ts";

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

/** A command, or a tool of an MCP server, where it stands in the order. */
interface Row {
  readonly hook: LoadedHook | McpHook;
  readonly trust: TrustState;
  readonly place: number;
}

async function list(flags: HookFlags, terminal: Terminal): Promise<number> {
  await using opened = await openHooks(flags, terminal, await placesOf(flags, terminal));
  const rows = inOrder(opened);
  const { errors, warnings } = opened.found;
  if (flags.json) terminal.out.json(asJson(opened, rows));
  else {
    print(opened, rows, terminal.out);
    printIssues(warnings, "warning", terminal.err);
    printIssues(errors, "error", terminal.err);
  }
  return errors.length > 0 ? 1 : 0;
}

/** Sorts as the engine does: by moment, by priority, by registration, commands before tools. */
function inOrder({ judged }: OpenedHookFiles): Row[] {
  const all = [
    ...judged.flatMap(({ file, trust }) => file.hooks.map((hook) => ({ hook, trust }))),
    ...judged.flatMap(({ file, trust }) => file.tools.map((hook) => ({ hook, trust }))),
  ];
  return PORTABLE_HOOKS.flatMap((moment) =>
    all.filter(({ hook }) => hook.hook === moment)
      .sort((a, b) => priorityOf(a.hook) - priorityOf(b.hook))
      .map((row, index) => ({ ...row, place: index + 1 }))
  );
}

const priorityOf = ({ priority = DEFAULT_PRIORITY }: LoadedHook | McpHook): number => priority;

function asJson({ found, held }: OpenedHookFiles, rows: readonly Row[]): Record<string, unknown> {
  return {
    dir: found.dir,
    hooks: rows.flatMap((row) => "tool" in row.hook ? [] : [commandJson(row.hook, row)]),
    mcp: rows.flatMap((row) => "tool" in row.hook ? [toolJson(row.hook, row)] : []),
    held,
    left_out: found.leftOut,
    warnings: found.warnings,
    errors: found.errors,
  };
}

function commandJson(hook: LoadedHook, { trust, place }: Row): Record<string, unknown> {
  return {
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
  };
}

function toolJson({ hook, tool, priority, file, line }: McpHook, { trust, place }: Row): Record<string, unknown> {
  return { hook, place, tool, priority, file, line, trust };
}

const WORDS: Readonly<Record<TrustState, string>> = {
  own: "your own",
  trusted: "trusted",
  untrusted: "not trusted: does not run",
  changed: "changed since you trusted it: does not run",
};

function print({ found, judged, held }: OpenedHookFiles, rows: readonly Row[], out: Printer): void {
  const { line, paint } = out;
  if (rows.length === 0) line(paint.dim(`No hooks in ${found.dir}`));
  let moment = "";
  for (const { hook, trust, place } of rows) {
    if (hook.hook !== moment) line(paint.bold(hook.hook));
    moment = hook.hook;
    const colour = trust === "untrusted" || trust === "changed" ? paint.yellow : paint.green;
    line(`  ${place}. ${"tool" in hook ? `MCP tool ${hook.tool}` : hook.script}`);
    const facts = paint.dim(factsOf(hook).join(", "));
    const parts = [`     ${hook.file}:${hook.line}`, facts, colour(WORDS[trust])];
    line(parts.filter((part) => part !== "").join("  "));
  }
  for (const file of held) printHeld(file, found.dir, out);
  for (const { id, reason } of found.leftOut) line(paint.dim(`left out: ${id}: ${reason}`));
  if (judged.some(({ trust }) => trust === "untrusted" || trust === "changed")) {
    line();
    line("Look at them and decide: kaged hooks trust");
  }
}

function factsOf(hook: LoadedHook | McpHook): string[] {
  const priority = priorityOf(hook);
  const order = priority === DEFAULT_PRIORITY ? [] : [`priority ${priority}`];
  if ("tool" in hook) return order;
  const { timeoutMs, matcher, condition, agent, background, advisory } = hook;
  return [
    `${timeoutMs / 1000} s`,
    ...order,
    ...(matcher === undefined ? [] : [`matches ${matcher}`]),
    ...(condition === undefined ? [] : [`if ${condition}`]),
    ...(agent === null ? [] : [`agent ${agent}`]),
    ...(background ? ["in the background"] : []),
    ...(advisory ? ["advice only"] : []),
  ];
}
