/**
 * Words of shell text, as far as they are known without running it.
 *
 * @module
 */

/** Returns a word that a shell reads as it is. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns the words of shell text, quotes taken off, variables of `known` filled in, without the targets of redirections.
 * Parts that only a shell can expand, such as `$(…)`, stay in their words as they are written.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.deepEqual(shellWords('bash "$ROOT/a b.sh" -x > log; true', { ROOT: "/r" }), ["bash", "/r/a b.sh", "-x", "true"]);
 * ```
 */
export function shellWords(text: string, known: Readonly<Record<string, string>> = {}): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  let isTarget = false;
  const end = (): void => {
    if (word === null) return;
    if (!isTarget) words.push(word);
    word = null;
    isTarget = false;
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote === "'" ? char === "'" : quote === '"' && char === '"') quote = "";
    else if (quote === "" && (char === "'" || char === '"')) {
      quote = char;
      word ??= "";
    } else if (char === "\\" && quote !== "'") word = (word ?? "") + (text[++at] ?? "");
    else if (char === "$" && quote !== "'") {
      const variable = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/.exec(text.slice(at, at + 130));
      const name = variable?.[1] ?? variable?.[2] ?? "";
      const value = Object.hasOwn(known, name) ? known[name] : undefined;
      word = (word ?? "") + (value ?? variable?.[0] ?? char);
      at += (variable?.[0].length ?? 1) - 1;
    } else if (quote === "" && /[\s;&|()<>]/.test(char)) {
      end();
      if (!/\s/.test(char)) isTarget = char === ">";
    } else word = (word ?? "") + char;
  }
  end();
  return words;
}
