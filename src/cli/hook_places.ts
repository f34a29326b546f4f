/**
 * The hook files of a repository: those that a command names, and those that a command's host asks.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { hookFileWarnings } from "../hooks/hook_file_warnings.ts";
import type { OpenedHookFiles, OpenHookFilesOptions } from "../hooks/open_hook_files.ts";
import type { DocumentIssue } from "../core/documents/document_report.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Host } from "../host/types.ts";
import { addHomeOptions, type HomeFlags, type Places } from "./options.ts";
import type { Printer, Terminal } from "./terminal.ts";

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

/**
 * Adds the hooks that the operator trusts to the host's chain, and warns of files that are not trusted. Dispose of the
 * result to end their commands and servers.
 *
 * @throws {HostError} `hook.trust_unreadable`: a policy that cannot be read must not be skipped.
 */
export async function addTrustedHooks(
  host: Pick<Host, "hooks" | "view">,
  runtime: Runtime,
  terminal: Terminal,
): Promise<AsyncDisposable> {
  const { openHookFiles } = await import("../open_hook_files.ts");
  const { home, project: { dir } } = host.view;
  const { warning } = terminal.err;
  const opened = await openHookFiles({ runtime, dir, home, onBroken: (_, { message }) => warning(message) });
  for (const { message, file } of opened.found.errors) warning(`${file}: ${message}`);
  warnOfUntrusted(opened, terminal.err);
  host.hooks.add(opened.registrations);
  return opened;
}

/** Prints a warning for each hook file that does not run, and for each whose gates block. */
export function warnOfUntrusted(opened: Pick<OpenedHookFiles, "judged" | "held" | "found">, out: Printer): void {
  for (const { message, hint } of hookFileWarnings(opened)) {
    out.warning(message);
    out.hint(hint);
  }
}

/** Prints the mistakes, or the doubtful places, of files. */
export function printIssues(issues: readonly DocumentIssue[], kind: "error" | "warning", out: Printer): void {
  const paint = kind === "error" ? out.paint.red : out.paint.yellow;
  for (const { code, file, line, column, path, message, hint } of issues) {
    const subject = path === "" ? message : `${path}: ${message}`;
    out.line(`${paint(`${kind}[${code}]`)} ${file}:${line}:${column}  ${subject}`);
    out.hint(hint);
  }
}
