/**
 * Finds in a plugin's stderr the name of a program that it could not start: the usual reason is that its manifest does
 * not ask for it, and shells, runtimes and libraries each put that in words of their own.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { programHint, type WithheldGrants } from "./withheld_grant.ts";

/** One pattern for each way of saying it; the name is the only group. */
const NOT_FOUND: readonly RegExp[] = [
  /: (?:line \d+: |\d+: )?([\w.+-]{1,64}): (?:command )?not found$/, // bash, dash, busybox
  /\benv: ['"‘]?([\w.+-]{1,64})['"’]?: No such file or directory$/,
  /\bspawn(?:Sync)? ([\w.+-]{1,64}) ENOENT\b/, // Node
  /Failed to spawn '([\w.+-]{1,64})'/, // Deno
  /Executable not found in \$PATH: "([\w.+-]{1,64})"/, // Bun
  /exec: "([\w.+-]{1,64})": executable file not found in \$PATH/, // Go
  /FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]{1,64})'$/, // Python
];

/** Names in one hint at most. */
const MAX_NAMES = 5;

/** Returns such names in lines of stderr, each once, in the order of the lines. */
export function missingPrograms(stderr: readonly string[]): string[] {
  const names = stderr.flatMap((line) => NOT_FOUND.map((pattern) => pattern.exec(line.trimEnd())?.[1]));
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** Returns the next step for a plugin that could not start a program, or null where its stderr names none. */
export function missingProgramHint(
  stderr: readonly string[],
  withheld: WithheldGrants | null = null,
): string | null {
  const names = missingPrograms(stderr).slice(0, MAX_NAMES);
  if (names.length === 0) return null;
  const held = programHint(withheld, names);
  if (held !== null) return held;
  const grants = names.map((name) => `exec:${name}:plugin:/`).join(", ");
  return `It could not start ${names.map((name) => `"${name}"`).join(", ")}: its cage shows only programs that ` +
    `kaged-plugin.yaml asks for. Add ${grants} to capabilities`;
}

/** Returns the error of a plugin that did not answer in time, with that next step; any other error as it is. */
export function withMissingProgram(
  error: unknown,
  stderr: readonly string[],
  withheld: WithheldGrants | null = null,
): unknown {
  const hint = missingProgramHint(stderr, withheld);
  if (hint === null || !(error instanceof HostError) || error.code !== "initialize.timeout") return error;
  return new HostError(error.code, error.message, { cause: error.cause, data: error.data, hint });
}
