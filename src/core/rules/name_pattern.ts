/**
 * Patterns of names: segments between dots, in which `*` stands for any text without a dot, also for none.
 *
 * @module
 */

/** Returns a test of whether a name fits a pattern. Its work grows with the length of the name, whatever the pattern. */
export function namePattern(pattern: string): (name: string) => boolean {
  if (!pattern.includes("*")) return (name) => name === pattern;
  const segments = pattern.split(".").map(segmentPattern);
  return (name) => {
    const parts = name.split(".");
    return parts.length === segments.length && segments.every((fits, index) => fits(parts[index]!));
  };
}

/**
 * Whether every name that fits `inner` fits `outer` too. A `*` of the inner pattern can be any text, so that only a `*`
 * of the outer one takes it: the inner pattern itself has to fit, read as a name.
 */
export function coversPattern(outer: string, inner: string): boolean {
  return namePattern(outer)(inner);
}

function segmentPattern(segment: string): (text: string) => boolean {
  const [first = "", ...rest] = segment.split("*");
  const last = rest.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const piece of rest) {
      // The earliest place leaves the most room for the pieces after it.
      const found = text.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= end;
  };
}
