/**
 * Prints the outcome of a run of hooks.
 *
 * @module
 */
import type { HookRun } from "../hooks/sources/command/last_run.ts";
import type { HookTrace } from "../hooks/engine/result.ts";
import { printable, type Printer } from "./terminal.ts";

/** Prints the verdict, then each hook's part in it. */
export function printHookRun({ hook, blocked, blockedBy, reason, trace, warnings }: HookRun, out: Printer): void {
  const { line, paint } = out;
  if (blocked) {
    const by = trace.find(({ source }) => source.id === blockedBy)?.source;
    const where = by?.file === undefined ? "" : ` (${by.file}:${by.line})`;
    line(`${paint.red("blocked")} ${hook} by ${printable(`${blockedBy}${where}`)}`);
    line(`  ${printable(reason ?? "")}`);
  } else {line(
      `${paint.green("passed")} ${hook}: ${
        trace.length === 0 ? "no hook that may run is for it" : "nothing was blocked"
      }`,
    );}
  for (const each of trace) line(`  ${traceLine(each, out)}`);
  for (const warning of warnings) line(`  ${paint.yellow("warning")}: ${printable(warning)}`);
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
  const facts = did.length === 0 ? "" : `  ${printable(did.join(", "))}`;
  return `${colour(outcome)}  ${printable(source.id)}${facts}  ${paint.dim(`${Math.round(durationMs)} ms`)}`;
}
