/**
 * Patterns of plugins, run by an engine whose time grows with the text alone: no pattern can stall the host, as
 * `^(a+)+$` stalls engines that go back.
 *
 * @module
 */

/** Longest pattern that is read. */
const MAX_PATTERN_LENGTH = 1000;

/** Parts a compiled pattern may have: nested counts grow far beyond their text. */
const MAX_PROGRAM = 5000;

/** A pattern ready to be run. */
export interface LinearPattern {
  /** Steps a run takes for each character of the text, at most. */
  readonly size: number;
  /** Whether the pattern is found anywhere in `text`. */
  test(text: string): boolean;
}

/** Compiles patterns, each once. */
export interface PatternReader {
  /** Returns the pattern, or why it cannot be run. */
  read(source: string): LinearPattern | { readonly problem: string };
}

/** Returns a reader. The engine loads at the first call. */
export async function patternReader(): Promise<PatternReader> {
  const { RE2JS } = await import("re2js");
  const known = new Map<string, LinearPattern | { readonly problem: string }>();
  const compile = (source: string): LinearPattern | { readonly problem: string } => {
    if (source.length > MAX_PATTERN_LENGTH) {
      return { problem: `The pattern is longer than ${MAX_PATTERN_LENGTH} characters` };
    }
    try {
      new RegExp(source, "u");
    } catch {
      return { problem: "The pattern is no regular expression" };
    }
    try {
      const pattern = RE2JS.compile(linearSource(RE2JS.translateRegExp(source)));
      const size = pattern.programSize();
      if (size > MAX_PROGRAM) return { problem: "The pattern repeats too much" };
      return { size, test: (text) => pattern.test(text) };
    } catch {
      return { problem: "The pattern cannot be run in linear time: leave out lookaround and back references" };
    }
  };
  return {
    read(source) {
      const found = known.get(source) ?? compile(source);
      if (known.size < 1000) known.set(source, found);
      return found;
    },
  };
}

/** White space as JavaScript knows it, inside a class: the engine knows ASCII's only. */
const SPACE = "\\t\\n\\v\\f\\r \\x{a0}\\x{feff}\\x{2028}\\x{2029}\\p{Zs}";
/** Long names of general categories, which the engine knows by their short ones. */
const CATEGORIES: Readonly<Record<string, string>> = {
  letter: "L",
  uppercase_letter: "Lu",
  lowercase_letter: "Ll",
  titlecase_letter: "Lt",
  modifier_letter: "Lm",
  other_letter: "Lo",
  mark: "M",
  number: "N",
  decimal_number: "Nd",
  digit: "Nd",
  letter_number: "Nl",
  other_number: "No",
  punctuation: "P",
  symbol: "S",
  separator: "Z",
  space_separator: "Zs",
  other: "C",
};

/** Returns a pattern in the engine's words, with the meaning it has in JavaScript. */
function linearSource(source: string): string {
  let isClass = false;
  return source.replace(/\\[pP]\{([^}]*)\}|\\[^]|[[\]]/g, (part, property?: string) => {
    if (part === "[") isClass = true;
    if (part === "]") isClass = false;
    if (part === "\\s") return isClass ? SPACE : `[${SPACE}]`;
    if (part === "\\S" && !isClass) return `[^${SPACE}]`;
    if (property === undefined) return part;
    const name = property.replace(/^(?:General_Category|gc|Script|sc)=/, "");
    return `${part.slice(0, 2)}{${CATEGORIES[name.toLowerCase()] ?? name}}`;
  });
}
