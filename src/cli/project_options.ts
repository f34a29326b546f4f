/**
 * What every command about a project takes.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { homeFolder } from "../core/files/home.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Terminal } from "./terminal.ts";

/** Options as the command line gives them. */
export interface ProjectFlags {
  /** `--home`. */
  readonly home?: string;
  /** `--plugin`, collected: package → folder. */
  readonly plugin?: Readonly<Record<string, string>>;
  /** `--json`. */
  readonly json?: boolean;
}

/** Adds `--home`, `--plugin` and `--json` to a command. */
export function addProjectOptions(command: Command): Command {
  return addPlaceOptions(command).option("--json", "print JSON");
}

/** Adds `--home` and `--plugin` to a command. */
export function addPlaceOptions(command: Command): Command {
  return command
    .option("--home <dir>", "operator's folder; without it $KAGED_HOME, else ~/.local/share/kaged")
    .addOption(
      new Option("--plugin <package=dir>", "folder to use for a package in place of the store; may be repeated")
        .argParser(collectPlugin),
    );
}

/** Returns the operator's folder and the plugins' folders, absolute. */
export function projectPlaces(
  { home, plugin = {} }: ProjectFlags,
  terminal: Terminal,
  runtime: Runtime,
): { readonly home: string; readonly plugins: Readonly<Record<string, string>> } {
  const at = (path: string): string => resolve(terminal.cwd, path);
  const plugins = Object.fromEntries(Object.entries(plugin).map(([pkg, dir]) => [pkg, at(dir)]));
  return { home: homeFolder(home === undefined ? undefined : at(home), (name) => runtime.env(name)), plugins };
}

function collectPlugin(text: string, known: Record<string, string> = {}): Record<string, string> {
  const [, pkg, dir] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (pkg === undefined || dir === undefined) throw new InvalidArgumentError("It takes package=folder");
  return { ...known, [pkg]: dir };
}
