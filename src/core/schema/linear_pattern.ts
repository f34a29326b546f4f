/**
 * Patterns of plugins, run by an engine whose time grows with the text alone: no pattern can stall the host, as
 * `^(a+)+$` stalls engines that go back.
 *
 * @module
 */

/** Longest pattern that is read. */
export const MAX_PATTERN_LENGTH = 1000;

/** Parts a compiled pattern may have: nested counts grow far beyond their text. */
const MAX_PROGRAM = 5000;

/** A pattern ready to be run. */
export interface LinearPattern {
  /** Steps a run takes for each character of the text, at most. */
  readonly size: number;
  /** Whether the pattern is found anywhere in `text`. */
  test(text: string): boolean;
}

/** Reads patterns. */
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
      const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
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
