/** Reads what Node's coverage says in lcov. */

/** How much of a file ran. */
export interface FileCoverage {
  readonly file: string;
  readonly lines: Share;
  readonly branches: Share;
}

/** A part of a whole. */
export interface Share {
  readonly hit: number;
  readonly of: number;
}

/** Returns the files of an lcov report. A file that stands in it more than once counts once, with its best figures. */
export function coverageOf(lcov: string): FileCoverage[] {
  const found = new Map<string, FileCoverage>();
  for (const record of lcov.split("end_of_record\n")) {
    const file = /^SF:(.*)$/m.exec(record)?.[1];
    if (file === undefined) continue;
    const share = (hit: string, of: string): Share => ({ hit: figure(record, hit), of: figure(record, of) });
    const one = { file, lines: share("LH", "LF"), branches: share("BRH", "BRF") };
    const before = found.get(file);
    if (before === undefined || before.lines.hit < one.lines.hit) found.set(file, one);
  }
  return [...found.values()].sort((a, b) => a.file < b.file ? -1 : 1);
}

const figure = (record: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)$`, "m").exec(record)?.[1] ?? 0);
