/**
 * What every command about hook files takes.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { OpenedHookFiles, OpenHookFilesOptions } from "../hooks/open_hook_files.ts";
import { homeFolder } from "../core/files/home.ts";
import type { DocumentIssue } from "../core/documents/document_report.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { printable, type Printer, type Terminal } from "./terminal.ts";

/** Options as the command line gives them. */
export interface HookFlags {
  /** `--dir`. */
  readonly dir: string;
  /** `--home`. */
  readonly home?: string;
  /** `--json`. */
  readonly json?: boolean;
}

/** Where the hooks and the operator's folder are. */
export interface HookPlaces {
  /** The runtime of this process. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
}

/** Adds `--dir`, `--home` and `--json` to a command. */
export function addHookOptions(command: Command): Command {
  return addHomeOptions(command.option("--dir <repo>", "the repository's folder", "."));
}

/** Adds `--home` and `--json` to a command. */
export function addHomeOptions(command: Command): Command {
  return command
    .option("--home <dir>", "operator's folder; without it $KAGED_HOME, else ~/.local/share/kaged")
    .option("--json", "print JSON");
}

/** Returns the runtime and the operator's folder, links resolved where it is there. */
export async function hookPlaces({ home }: Pick<HookFlags, "home">, terminal: Terminal): Promise<HookPlaces> {
  const runtime = await terminal.runtime();
  const given = home === undefined ? undefined : resolve(terminal.cwd, home);
  const folder = homeFolder(given, (name) => runtime.env(name));
  return { runtime, home: await runtime.files.realPath(folder).catch(() => folder) };
}

/** Opens the hook files that the flags name. */
export async function openHooks(
  flags: HookFlags,
  terminal: Terminal,
  places: HookPlaces,
  own: Partial<OpenHookFilesOptions> = {},
): Promise<OpenedHookFiles> {
  const { openHookFiles } = await import("../hooks/open_hook_files.ts");
  return await openHookFiles({ ...places, dir: resolve(terminal.cwd, flags.dir), ...own });
}

/** Prints what is wrong with files, or only looks wrong. */
export function printIssues(issues: readonly DocumentIssue[], kind: "error" | "warning", out: Printer): void {
  const paint = kind === "error" ? out.paint.red : out.paint.yellow;
  for (const { code, file, line, column, path, message, hint } of issues) {
    const subject = path === "" ? message : `${path}: ${message}`;
    out.line(`${paint(`${kind}[${code}]`)} ${printable(`${file}:${line}:${column}  ${subject}`)}`);
    if (hint !== undefined) out.line(`  hint: ${printable(hint)}`);
  }
}
