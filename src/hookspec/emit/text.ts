/**
 * Text that every emitter writes.
 *
 * @module
 */
import type { KindSpec, SpecType } from "../types.ts";

/** What every generated file says of itself. */
export const GENERATED_MARK = "enerated by `kaged hookspec emit` from ";

/** The line that heads every generated file. */
export function generatedHead({ file }: KindSpec): string {
  return `G${GENERATED_MARK}${file}; do not edit.`;
}

/** Breaks one line of words into lines of at most `width` characters; a longer word stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** What a value may be beyond its type, in words: `at least 0`, `1 to 5 characters`; empty when nothing is said. */
export function boundsInWords(type: SpecType): string {
  switch (type.type) {
    case "integer":
    case "number":
      return rangeInWords(type.minimum, type.maximum, "");
    case "string":
      return rangeInWords(type.minLength, type.maxLength, " characters");
    case "list":
      return rangeInWords(type.minItems, type.maxItems, " items");
    default:
      return "";
  }
}

function rangeInWords(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? "" : `at most ${most}${unit}`;
}
