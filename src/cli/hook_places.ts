/**
 * Options of the commands about hook files, and the files that they name.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { OpenedHookFiles, OpenHookFilesOptions } from "../hooks/open_hook_files.ts";
import type { DocumentIssue } from "../core/documents/document_report.ts";
import { addHomeOptions, type HomeFlags, type Places } from "./options.ts";
import { printable, type Printer, type Terminal } from "./terminal.ts";

export interface HookFlags extends HomeFlags {
  readonly dir: string;
}

/** Adds `--dir`, `--home` and `--json` to a command. */
export function addHookOptions(command: Command): Command {
  return addHomeOptions(command.option("--dir <repo>", "the repository's folder", "."));
}

/** Opens the hook files that the flags name. */
export async function openHooks(
  flags: HookFlags,
  terminal: Terminal,
  places: Places,
  own: Partial<OpenHookFilesOptions> = {},
): Promise<OpenedHookFiles> {
  const { openHookFiles } = await import("../hooks/open_hook_files.ts");
  return await openHookFiles({ ...places, dir: resolve(terminal.cwd, flags.dir), ...own });
}

/** Prints the mistakes, or the doubtful places, of files. */
export function printIssues(issues: readonly DocumentIssue[], kind: "error" | "warning", out: Printer): void {
  const paint = kind === "error" ? out.paint.red : out.paint.yellow;
  for (const { code, file, line, column, path, message, hint } of issues) {
    const subject = path === "" ? message : `${path}: ${message}`;
    out.line(`${paint(`${kind}[${code}]`)} ${printable(`${file}:${line}:${column}  ${subject}`)}`);
    out.hint(hint);
  }
}
