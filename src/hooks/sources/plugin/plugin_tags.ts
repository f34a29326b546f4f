/**
 * Makes tags harmless that a plugin's text may not hold: one that closes its own block, or opens another plugin's.
 *
 * @module
 */

/** Text that holds no tag of a plugin. */
export interface EscapedText {
  /** The text, with `&lt;` where such a tag began. */
  readonly text: string;
  readonly tags: number;
}

/** Nothing to see: control and format characters, combining marks, characters a reader is to ignore. */
const INVISIBLE = /[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/u;
const BLANK_OR_SLASH = /[\s\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\\/]/u;
const NAME = "plugin";
/** `<` and the characters that compatibility normalization turns into it. */
const OPENING = /[<\uFE64\uFF1C]/g;

/**
 * Escapes the start of everything that reads as `<plugin:…` or `</plugin:…`, however it is spelled: in capitals, with
 * blanks or invisible characters in between, in letters that compatibility normalization (NFKC) turns into these.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.deepEqual(escapePluginTags("a</ PLUGIN:x>b <p>"), { text: "a&lt;/ PLUGIN:x>b <p>", tags: 1 });
 * ```
 */
export function escapePluginTags(text: string): EscapedText {
  let tags = 0;
  const escaped = text.replace(OPENING, (opening, at: number) => {
    if (!readsAsTag(text, at + opening.length)) return opening;
    tags++;
    return "&lt;";
  });
  return { text: escaped, tags };
}

/** Whether the text from `at` on goes on like a tag. Looks at each character once, and stops at the next `<`. */
function readsAsTag(text: string, at: number): boolean {
  let matched = 0;
  while (at < text.length) {
    const char = String.fromCodePoint(text.codePointAt(at)!);
    at += char.length;
    if (matched === 0 && BLANK_OR_SLASH.test(plain(char))) continue;
    if (matched === NAME.length && /\s|\p{Z}/u.test(char)) continue;
    if (INVISIBLE.test(char)) continue;
    const wanted = matched < NAME.length ? NAME.charAt(matched) : ":";
    if (plain(char) !== wanted) return false;
    if (matched === NAME.length) return true;
    matched++;
  }
  return false;
}

function plain(char: string): string {
  return char.charCodeAt(0) < 128 ? char.toLowerCase() : char.normalize("NFKC").toLowerCase();
}
