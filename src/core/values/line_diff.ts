/**
 * The difference between two texts, line by line.
 *
 * @module
 */

/** One line of a difference: kept, taken out or put in. */
export interface DiffLine {
  /** ` ` kept, `-` taken out, `+` put in. */
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/** More pairs of lines than this are not compared: all is then said to be replaced. */
const MAX_PAIRS = 4_000_000;
const CONTEXT = 3;

/**
 * Returns the lines that differ, each with a few kept ones around it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const lines = lineDiff("a\nb\n", "a\nc\n").map(({ mark, text }) => mark + text);
 * assert.deepEqual(lines, [" a", "-b", "+c"]);
 * ```
 */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const middle = compared(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  const kept = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ mark: " ", text }));
  const all = [...kept(old.slice(0, start)), ...middle, ...kept(old.slice(old.length - end))];
  const isNear = (at: number): boolean => all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(isChange);
  return all.filter((line, at) => isChange(line) || isNear(at));
}

const isChange = ({ mark }: DiffLine): boolean => mark !== " ";

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The longest common part kept, the rest taken out and put in. */
function compared(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const out = old.map((text): DiffLine => ({ mark: "-", text }));
  const put = fresh.map((text): DiffLine => ({ mark: "+", text }));
  if (old.length * fresh.length > MAX_PAIRS) return [...out, ...put];
  const width = fresh.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === fresh[j]
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push({ mark: " ", text: old[i++]! });
      j++;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) lines.push(out[i++]!);
    else lines.push(put[j++]!);
  }
  return [...lines, ...out.slice(i), ...put.slice(j)];
}
