/**
 * Prints the outcome of each change that `kaged serve --watch` saw: one line, and the reasons of a failure below it.
 *
 * @module
 */
import type { WatchReport } from "../host/watch_plugins.ts";
import { manifestLines } from "./print_error.ts";
import { printable, type Printer } from "./terminal.ts";

export function printWatch(report: WatchReport, { line, done, hint: printHint, paint }: Printer): void {
  if (report.kind === "reloaded") {
    const { plugin, version, tookMs, gained } = report;
    const more = gained.length === 0 ? "" : `; it may now also: ${gained.join(", ")}`;
    return done(`${plugin} ${version} reloaded in ${Math.round(tookMs)} ms${more}`);
  }
  const { plugin, error } = report;
  const { message, code, hint } = error;
  const cause = error.cause instanceof Error ? error.cause as { code?: string; data?: unknown } : error;
  const said = code === "plugin.reload_failed" ? message : `Plugin "${plugin}" does not run: ${message}`;
  line(`${paint.red("✗")} ${printable(said)}`);
  const details = manifestLines({ ...(cause.code !== undefined && { code: cause.code }), data: cause.data });
  for (const detail of details) line(`  ${printable(detail)}`);
  if (details.length === 0) printHint(hint);
}
