/**
 * Options of the commands about a project.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { addHomeOption, collectedPairs, type HomeFlags } from "./options.ts";
import type { Terminal } from "./terminal.ts";

export interface ProjectFlags extends HomeFlags {
  /** Folders by package, as they were given. */
  readonly plugin?: Readonly<Record<string, string>>;
}

/** Adds `--home`, `--plugin` and `--json` to a command. */
export function addProjectOptions(command: Command): Command {
  return addPlaceOptions(command).option("--json", "print JSON");
}

/** Adds `--home` and `--plugin` to a command. */
export function addPlaceOptions(command: Command): Command {
  return addPluginOption(addHomeOption(command));
}

/** Adds `--plugin` to a command. */
export function addPluginOption(command: Command): Command {
  return command.addOption(
    new Option("--plugin <package=dir>", "folder to use for a package instead of the installed one; may be repeated")
      .argParser(collectedPairs("package=folder")),
  );
}

/** Returns the folders of `--plugin` by package, absolute. */
export function pluginFolders({ plugin = {} }: ProjectFlags, { cwd }: Terminal): Record<string, string> {
  return Object.fromEntries(Object.entries(plugin).map(([pkg, dir]) => [pkg, resolve(cwd, dir)]));
}
