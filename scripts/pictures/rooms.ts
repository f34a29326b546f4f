/**
 * The rooms of the house and the imports between them, read from the sources. An import of types counts like any other:
 * a room that spells another room's types cannot be understood or moved without it.
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
  /** In alphabetical order. */
  readonly names: readonly string[];
  /** Rooms of the core that every other room may import; a drawing gives them no arrows. */
  readonly ground: readonly string[];
  readonly imports: readonly RoomImport[];
}

/** All imports of one room from another. */
export interface RoomImport {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

const GROUND = ["core/errors", "core/ports", "core/values"];
const IMPORT = /^(?:import|export) [^;]*?from "(\.[^"]+)";|\bimport\("(\.[^"]+)"\)/gms;

/** Returns the files that a source imports, types included, as paths from the root of the repository. */
export function importsOf({ path, text }: Source): string[] {
  return [...text.matchAll(IMPORT)].map(([, early, late]) =>
    new URL((early ?? late)!, `file:///${path}`).pathname.slice(1)
  );
}

/** Returns the room of a file: `core/<folder>`, the name of a folder beside the core, or `mod.ts` for an entry. */
export function roomOf(path: string): string {
  const [, core, beside] = /^src\/(?:(core\/\w+)|(\w+)\/)/.exec(path) ?? [];
  return core ?? beside ?? "mod.ts";
}

/** Whether a room is part of the core. */
export const isCore = (room: string): boolean => room.startsWith("core/");

/** Returns the rooms of some sources; generated files count for nothing. */
export function roomsOf(sources: readonly Source[]): Rooms {
  const counts = new Map<string, RoomImport>();
  const names = new Set<string>();
  for (const source of sources.filter(({ path }) => !path.includes("/generated/"))) {
    const from = roomOf(source.path);
    names.add(from);
    for (const target of importsOf(source)) {
      const to = roomOf(target);
      if (to === from || target.includes("/generated/")) continue;
      const key = `${from} ${to}`;
      counts.set(key, { from, to, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  const imports = [...counts.values()].sort((a, b) => compare(`${a.from} ${a.to}`, `${b.from} ${b.to}`));
  return { names: [...names].sort(compare), ground: GROUND.filter((room) => names.has(room)), imports };
}

/** Returns circles of a graph, each as the names along it; none means that there is no circle. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const circles: string[][] = [];
  const visit = (node: string, trail: readonly string[]): void => {
    if (trail.includes(node)) return void circles.push([...trail.slice(trail.indexOf(node)), node]);
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0;
