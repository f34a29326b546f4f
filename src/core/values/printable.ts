/**
 * Text of others, made safe to print: nothing a plugin wrote can end a line of ours, move the cursor, turn the direction
 * of writing, hide a character, or pass a look-alike letter off as a Latin one.
 *
 * @module
 */

/** Most text is this, and is printed as it is. */
const PLAIN = /^[\t\u0020-\u007e]*$/;

/**
 * Characters that a terminal obeys or does not show: controls and line ends, direction marks, zero-width characters,
 * fillers, tags, halves of surrogate pairs. An emoji keeps its joiners and its variation selector: they are part of it.
 */
const UNSEEN = new RegExp(
  [
    /[\ufe0e\ufe0f](?<!\p{Extended_Pictographic}.)/u,
    /\u200d(?<!\p{Extended_Pictographic}\ufe0f?\u200d(?=\p{Extended_Pictographic}))/u,
    /(?![\t\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u,
  ].map(({ source }) => source).join("|"),
  "gu",
);

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN = /\p{Script=Latin}/u;
/** Letters that look like Latin ones: whole scripts, and of Greek those letters alone, for `kΩ` and `Δt` are words. */
const LOOK_ALIKE =
  /[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχϲϳ\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}]/gu;

/**
 * Returns text as one line that shows every character it holds: those nobody would see become `\u001b`, a line end
 * becomes `\n`, and so do letters of another script that stand in a word with Latin ones (`p\u0430ypal`). Escapes are
 * those of JSON, so JSON text keeps its meaning. Printable text comes back as it is.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSEEN, escaped)
    .replace(WORD, (word) => LATIN.test(word) ? word.replace(LOOK_ALIKE, escaped) : word);
}

/** Stands before each further line of a text that may have several: no line of ours begins with it. */
const MARGIN = "  │ ";

/** Returns text of several lines, each {@link printable} and behind a margin, so that none looks like a line of ours. */
export function quotedLines(text: string): string[] {
  return text.replace(/\n$/, "").split(/\r?\n/).map((line) => MARGIN + printable(line));
}

/**
 * Prints a warning with `console.error`, where an embedder gave no function for it. Its first line is ours; what follows,
 * such as a stack with a plugin's message in it, is quoted.
 */
export function printWarning(message: unknown): void {
  const text = message instanceof Error ? message.stack ?? String(message) : String(message);
  const [first = "", ...rest] = text.split(/\r?\n/);
  console.error([printable(first), ...rest.flatMap(quotedLines)].join("\n"));
}

function escaped(character: string): string {
  if (character === "\n") return "\\n";
  let escapes = "";
  for (let at = 0; at < character.length; at++) {
    escapes += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escapes;
}
