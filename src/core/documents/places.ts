/**
 * Places of values in a document: each reader builds a tree of spots beside the data, and reports look places up in it.
 *
 * @module
 */

/** Keys and indexes that lead from the root of a document to a value. */
export type DocumentPath = readonly (string | number)[];

/** A place in a file: both numbers count from 1, columns in UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The start of a file: for issues about the whole of it, and for values whose place is not known. */
export const FILE_START: Place = { line: 1, column: 1 };

/** One value of a document: its path, its place, and the values inside it. */
export class Spot {
  /** Steps from the root. */
  readonly depth: number;
  readonly #value: Place;
  readonly #key: Place;
  readonly #above: Spot | null;
  readonly #step: string | number;
  /** Null while there are none: most values of a document are leaves. */
  #below: Map<string, Spot> | null = null;

  /** `key` is the place of the key in front of the value; list items and roots have none. */
  constructor(value: Place, key: Place = value, above: Spot | null = null, step: string | number = "") {
    this.depth = above === null ? 0 : above.depth + 1;
    this.#value = value;
    this.#key = key;
    this.#above = above;
    this.#step = step;
  }

  get path(): DocumentPath {
    return this.#above === null ? [] : [...this.#above.path, this.#step];
  }

  /** Adds the value under `step`. A step that is known already keeps its first place. */
  add(step: string | number, value: Place, key?: Place): Spot {
    const below = this.#below ??= new Map();
    const known = below.get(String(step));
    if (known) return known;
    const spot = new Spot(value, key, this, step);
    below.set(String(step), spot);
    return spot;
  }

  /** Returns the place of the value at `path`, or of its key; for a path that is not there, the nearest place above. */
  placeOf(path: DocumentPath, part: "key" | "value"): Place {
    const [step, ...rest] = path;
    if (step === undefined) return part === "key" ? this.#key : this.#value;
    return this.#below?.get(String(step))?.placeOf(rest, part) ?? this.#value;
  }
}

/** Returns a function from offsets in `text` to their places. */
export function placeFinder(text: string): (offset: number) => Place {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    // The last line that starts at or before the offset, by halving: a file may have tens of thousands of lines.
    let [line, end] = [0, starts.length];
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if (starts[middle]! <= offset) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: offset - starts[line]! + 1 };
  };
}
