/**
 * "Did you mean …": the known word that a misspelt one is closest to.
 *
 * @module
 */

const MAX_LENGTH = 64;

/** Returns the word of `known` that is at most two edits, or a third of its length, from `word`; else null. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  if (word.length > MAX_LENGTH) return null;
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && distance <= Math.max(2, candidate.length / 3) && distance < candidate.length) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns `Did you mean "x"?`, or what the caller offers instead when nothing is close. */
export function didYouMean(word: string, known: readonly string[], otherwise: string): string {
  const near = nearestWord(word, known);
  return near === null ? otherwise : `Did you mean "${near}"?`;
}

/** Insertions, deletions and replacements that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost));
    }
    last = row;
  }
  return last[b.length]!;
}
