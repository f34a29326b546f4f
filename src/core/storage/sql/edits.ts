/**
 * Changes to a statement's text, and the aliases they make necessary.
 *
 * @module
 */

/** A piece of the text that is replaced. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A result column without alias. */
export interface ResultColumn {
  /** Where its expression starts. */
  readonly start: number;
  /** Where the token after it starts: SQLite names it by the text up to there. */
  readonly end: number;
  /** Where its last token ends. */
  readonly lastEnd: number;
  /** Whether SQLite names it after a column. */
  readonly plain: boolean;
}

/** Returns the text with every edit made. */
export function applyEdits(sql: string, edits: readonly Edit[]): string {
  let text = "";
  let from = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    text += sql.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return text + sql.slice(from);
}

/**
 * Returns an alias for each column whose name an edit would change. SQLite names a column that is an expression by its
 * text, in which the prefix would show; and one that is a search table's hidden column by the table's full name, which
 * `hiddenName` replaces.
 */
export function columnNames(
  sql: string,
  edits: readonly Edit[],
  columns: readonly ResultColumn[],
  hiddenName: (start: number) => string | null,
): Edit[] {
  const sorted = edits.toSorted((a, b) => a.start - b.start);
  return columns.flatMap(({ start, end, lastEnd, plain }) => {
    const first = firstFrom(sorted, start);
    if (first === sorted.length || sorted[first]!.start >= end) return [];
    const inside = sorted.slice(first, first + 2).filter((edit) => edit.end <= end);
    const name = plain
      ? inside.map((edit) => hiddenName(edit.start)).find((hidden) => hidden !== null)
      : sql.slice(start, end).trim();
    return name === undefined ? [] : [{ start: lastEnd, end: lastEnd, text: ` AS "${name!.replaceAll('"', '""')}"` }];
  });
}

/** Index of the first edit at or after a place. */
function firstFrom(edits: readonly Edit[], start: number): number {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edits[middle]!.start < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
