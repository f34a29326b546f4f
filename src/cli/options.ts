/**
 * Options that several commands take, and readers of their values.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { checkHome, homeFolder } from "../core/files/home.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Terminal } from "./terminal.ts";

/** Values of `--home` and `--json`. */
export interface HomeFlags {
  readonly home?: string;
  readonly json?: boolean;
}

/** Adds `--home` and `--json` to a command. */
export function addHomeOptions(command: Command): Command {
  return addHomeOption(command).option("--json", "print JSON");
}

/** Adds `--home` to a command. */
export function addHomeOption(command: Command): Command {
  return command.option("--home <dir>", "operator's folder (default: $KAGED_HOME, else ~/.local/share/kaged)");
}

/** The runtime of this process and the operator's folder. */
export interface Places {
  readonly runtime: Runtime;
  readonly home: string;
}

/** Returns the places of a command; the operator's folder is absolute, with links resolved where it exists. */
export async function placesOf({ home }: HomeFlags, terminal: Terminal): Promise<Places> {
  const runtime = await terminal.runtime();
  const folder = homeFolder(home === undefined ? undefined : resolve(terminal.cwd, home), runtime.env);
  const real = await runtime.files.realPath(folder).catch(() => folder);
  await checkHome(real, runtime);
  return { runtime, home: real };
}

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

/** Returns a reader for an option that may be repeated: its values, in order. */
export function collected<T>(parse: (text: string) => T): (text: string, before?: readonly T[]) => T[] {
  return (text, before = []) => [...before, parse(text)];
}

/** Returns a reader for an option `name=value` that may be repeated: name → value. `shape` is for the error. */
export function collectedPairs(
  shape: string,
  pattern: RegExp = /^([^=]+)=(.+)$/s,
): (text: string, known?: Readonly<Record<string, string>>) => Record<string, string> {
  return (text, known = {}) => {
    const [, name, value] = pattern.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new InvalidArgumentError(`It takes ${shape}`);
    return { ...known, [name]: value };
  };
}

/** Returns a reader for a whole number; `what` is for the error. */
export function wholeNumber(
  what: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It takes ${what}`);
  };
}

/** Reads JSON; a word that is none is a text. */
export function jsonOr(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

/** Reads a JSON object from the command line. */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${messageOf(error)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InvalidArgumentError("It is JSON but no object");
}

/** Throws `host.misuse` for a text that no plugin can be called by: it would end up in paths. */
export function requirePluginName(name: string): void {
  if (/^[a-z][a-z0-9-]*$/.test(name)) return;
  throw new HostError("host.misuse", `"${name}" is no name of a plugin`, {
    hint: "Pass the name in its manifest; kaged plugin list shows those that are installed",
  });
}
