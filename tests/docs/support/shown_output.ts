/**
 * The commands a guide shows and what it says they print.
 *
 * @module
 */

/** A command and the output shown below it; null where none is shown. */
export interface ShownCommand {
  readonly command: string;
  readonly output: string | null;
}

/** Reads a block of `$ command` lines, each followed by its output. A `\` at the end of a command continues it. */
export function shownCommands(block: string): ShownCommand[] {
  const found: { command: string; output: string | null }[] = [];
  for (const line of block.trimEnd().split("\n")) {
    const last = found.at(-1);
    if (line.startsWith("$ ")) found.push({ command: line.slice(2), output: null });
    else if (last === undefined) throw new Error(`Output before the first command: ${line}`);
    else if (last.output === null && last.command.endsWith("\\")) last.command += `\n${line}`;
    else last.output = last.output === null ? line : `${last.output}\n${line}`;
  }
  return found;
}

/** Says whether `printed` is what is shown: `…` stands for any part of a line, alone on its line for any lines. */
export function isShown(shown: string, printed: string): boolean {
  const lines = shown.trimEnd().split("\n").map((line) =>
    line.trim() === "…" ? "(?:[^\\n]*\\n)*" : `${line.trimEnd().split("…").map(RegExp.escape).join("[^\\n]*")} *\\n`
  );
  return new RegExp(`^${lines.join("")}$`).test(`${printed.trimEnd()}\n`);
}
