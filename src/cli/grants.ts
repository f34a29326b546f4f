/**
 * Capabilities that are granted on the command line.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { formatCapability, parseCapability } from "../core/manifest/capability.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { collected } from "./options.ts";
import { isExposure } from "../packages/consent/describe_secret.ts";
import type { Terminal } from "./terminal.ts";

export interface GrantFlags {
  readonly grant?: readonly string[];
  readonly grantFile?: string;
}

/** Adds `--grant` and `--grant-file`. */
export function addGrantOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--grant <capability>", "grant a capability by name, without a question; may be repeated")
        .argParser(collected(canonical)),
    )
    .option("--grant-file <file>", "grant the capabilities in this file, one on each line; # starts a comment");
}

/** Returns every capability that is granted by name, in canonical form. */
export async function grantsOf({ grant = [], grantFile }: GrantFlags, terminal: Terminal): Promise<string[]> {
  if (grantFile === undefined) return [...grant];
  const file = resolve(terminal.cwd, grantFile);
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.replace(/(?:^|\s)#.*$/, "").trim());
  const named = lines.flatMap((line, index) => {
    if (line === "") return [];
    try {
      return [canonical(line)];
    } catch (error) {
      throw new HostError("host.misuse", `${file}:${index + 1}: ${messageOf(error)}`, { hint: "Correct the line" });
    }
  });
  return [...grant, ...named];
}

function canonical(text: string): string {
  if (isExposure(text)) return text;
  const result = parseCapability(text.replace(/^- /, ""));
  if (result.ok) return formatCapability(result.capability);
  throw new InvalidArgumentError(result.problem.message);
}
