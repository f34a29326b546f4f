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
import { type GrantAnswer, unanswered } from "../packages/consent/withholding.ts";
import type { Questions } from "./questions.ts";
import type { Terminal } from "./terminal.ts";

export interface GrantFlags {
  readonly grant?: readonly string[];
  readonly grantFile?: string;
  readonly withhold?: readonly string[];
  readonly each?: boolean;
}

/** Adds `--grant`, `--grant-file`, `--withhold` and `--each`. */
export function addGrantOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--grant <capability>", "grant a capability by name, without a question; may be repeated")
        .argParser(collected(canonical)),
    )
    .option("--grant-file <file>", "grant the capabilities in this file, one on each line; # starts a comment")
    .addOption(
      new Option("--withhold <capability>", "have the plugin run without a capability it asks for; may be repeated")
        .argParser(collected(canonical)),
    )
    .option("--each", "ask for each capability by itself; those that you decline are withheld");
}

/** Returns the operator's answer as far as flags give it, in canonical form. */
export async function answerOf(flags: GrantFlags, terminal: Terminal): Promise<Required<GrantAnswer>> {
  return { granted: await grantsOf(flags, terminal), withhold: [...flags.withhold ?? []] };
}

/**
 * Asks for each of `asked` that the answer so far leaves open; a no withholds it. Returns the answer with both. A secret
 * that a version would see cannot be withheld, so that it is left to the questions that follow.
 */
export async function askEach(
  plugin: string,
  asked: readonly string[],
  answer: Required<GrantAnswer>,
  ask: Questions,
): Promise<Required<GrantAnswer>> {
  const { granted, withhold } = { granted: [...answer.granted], withhold: [...answer.withhold] };
  for (const one of asked) {
    // A yes or a no may have answered for this one too: who declines reading is not asked for writing.
    if (isExposure(one) || unanswered([one], { granted, withhold }).length === 0) continue;
    (await ask.confirm(`Grant ${plugin} ${one}?`) ? granted : withhold).push(one);
  }
  return { granted, withhold };
}

/** Returns ` without <capabilities>`, for questions; nothing where none is withheld. */
export function withoutText(withheld: readonly string[]): string {
  return withheld.length === 0 ? "" : ` without ${withheld.join(", ")}`;
}

/** Returns every capability that is granted by name, in canonical form. */
async function grantsOf({ grant = [], grantFile }: GrantFlags, terminal: Terminal): Promise<string[]> {
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

/** Reads one capability of a command line; throws where it is none. */
export function canonical(text: string): string {
  if (isExposure(text)) return text;
  const result = parseCapability(text.replace(/^- /, ""));
  if (result.ok) return formatCapability(result.capability);
  throw new InvalidArgumentError(result.problem.message);
}
