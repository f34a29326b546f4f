/**
 * The rooms of the house and who imports whom, read from the sources.
 *
 * @module
 */

/** A source file. */
export interface Source {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Rooms and the imports between them. */
export interface Rooms {
  /** Their names, in alphabetical order. */
  readonly names: readonly string[];
  /** Those that are single files of the core: small things every room may use. */
  readonly small: readonly string[];
  /** Who imports whom, and how often. */
  readonly imports: readonly RoomImport[];
}

/** All imports of one room from another. */
export interface RoomImport {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

// Not of types: they are gone when the program runs.
const IMPORT = /^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)";|\bimport\("(\.[^"]+)"\)/gms;

/** Returns the room of a file: a folder of the core, a folder beside it, or the entry `mod.ts`. */
export function roomOf(path: string): string {
  const [, core] = /^src\/core\/(\w+)/.exec(path) ?? [];
  if (core !== undefined) return core;
  const [, beside] = /^src\/(\w+)\//.exec(path) ?? [];
  // Two rooms are called mcp: the core's, and the server that stands on it.
  return beside === undefined ? "mod.ts" : `src/${beside}`;
}

/** Returns the rooms of some sources; generated files count for nothing. */
export function roomsOf(sources: readonly Source[]): Rooms {
  const counts = new Map<string, RoomImport>();
  const names = new Set<string>();
  const small = new Set<string>();
  for (const { path, text } of sources.filter((each) => !each.path.includes("/generated/"))) {
    const from = roomOf(path);
    names.add(from);
    if (/^src\/core\/\w+\.ts$/.test(path)) small.add(from);
    for (const [, still, late] of text.matchAll(IMPORT)) {
      const { pathname } = new URL((still ?? late)!, `file:///${path}`);
      const to = roomOf(pathname.slice(1));
      if (to === from || pathname.includes("/generated/")) continue;
      const key = `${from} ${to}`;
      counts.set(key, { from, to, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  const imports = [...counts.values()].sort((a, b) => compare(`${a.from} ${a.to}`, `${b.from} ${b.to}`));
  return { names: [...names].sort(compare), small: [...small].sort(compare), imports };
}

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0;
