/**
 * Options of the commands about a project.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { homeFolder } from "../core/files/home.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { addHomeOption, collectedPairs, type HomeFlags } from "./options.ts";
import type { Terminal } from "./terminal.ts";

export interface ProjectFlags extends HomeFlags {
  /** Package → folder. */
  readonly plugin?: Readonly<Record<string, string>>;
}

/** Adds `--home`, `--plugin` and `--json` to a command. */
export function addProjectOptions(command: Command): Command {
  return addPlaceOptions(command).option("--json", "print JSON");
}

/** Adds `--home` and `--plugin` to a command. */
export function addPlaceOptions(command: Command): Command {
  return addHomeOption(command).addOption(
    new Option("--plugin <package=dir>", "folder to use for a package instead of the installed one; may be repeated")
      .argParser(collectedPairs("package=folder")),
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
  return { home: homeFolder(home === undefined ? undefined : at(home), runtime.env), plugins };
}
