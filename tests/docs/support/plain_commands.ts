/**
 * Commands of a script that need no shell: `kaged` with words and quoted words, one command a line.
 *
 * @module
 */

/** A part of a script: the words of a command, or lines for a shell. */
export type Piece = { readonly kaged: readonly string[] } | { readonly shell: string };

const WORD = String.raw`(?:'[^']*'|"[^"$\x60\\]*"|[^\s'"$\x60\\|&;<>()*?~#{}\[\]])+`;
// The two that live on standard input and signals are left to the shell.
const COMMAND = new RegExp(String.raw`^(?:bin/)?kaged((?: +(?!(?:mcp|serve)\b)${WORD})+) *(?:# .*)?$`);

/** Splits a script. Where a line changes what the shell is for the next ones, all of it is for the shell. */
export function piecesOf(script: string): Piece[] {
  if (/<<|^\s*(cd|export|set|if|for|while|\w+=)|\\$|^.*&&?\s*$/m.test(script)) return [{ shell: script }];
  const pieces: ({ kaged: string[] } | { shell: string })[] = [];
  for (const line of script.split("\n")) {
    const words = COMMAND.exec(line)?.[1]?.match(new RegExp(WORD, "g"));
    const last = pieces.at(-1);
    if (words) pieces.push({ kaged: words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2")) });
    else if (last && "shell" in last) last.shell += `\n${line}`;
    else if (line.trim() !== "" && !line.trim().startsWith("#")) pieces.push({ shell: line });
  }
  return pieces;
}
