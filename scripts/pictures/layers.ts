/**
 * Rooms in layers: each above those it imports, and only the arrows that say something new.
 *
 * @module
 */
import { isCore, type RoomImport, type Rooms } from "./rooms.ts";

/** Rooms as a drawing shows them. */
export interface Layers {
  /** From the top: first the rooms around the core, then those of the core. */
  readonly rows: readonly (readonly string[])[];
  /** The first row of the core. */
  readonly coreRow: number;
  /** Arrows downwards, without those that a longer way makes plain. */
  readonly arrows: readonly RoomImport[];
  /** Imports against the order of the layers: files form no circle, rooms may. */
  readonly against: readonly RoomImport[];
}

/** Returns the rooms in layers, without the ground that all of them stand on. */
export function layersOf({ names, ground, imports }: Rooms): Layers {
  const rooms = names.filter((room) => !ground.includes(room));
  const { downward, against } = withoutCircles(
    imports.filter(({ from, to }) => rooms.includes(from) && rooms.includes(to)),
  );
  const arrows = downward.filter((arrow) => !hasLongerWay(arrow, downward));
  const depths = depthsOf(rooms, arrows);
  const rows = Array.from(
    { length: 1 + Math.max(0, ...depths.values()) },
    (_, depth) => rooms.filter((room) => depths.get(room) === depth),
  );
  const coreRow = rows.findIndex((row) => row.some(isCore));
  return { rows, coreRow: coreRow < 0 ? rows.length : coreRow, arrows, against };
}

/** Splits imports: the many go down, the few that would close a circle, or lead out of the core, go against the order. */
function withoutCircles(imports: readonly RoomImport[]): { downward: RoomImport[]; against: RoomImport[] } {
  const downward: RoomImport[] = [];
  const against: RoomImport[] = [];
  for (const each of imports.toSorted((a, b) => b.count - a.count)) {
    const leadsOut = isCore(each.from) && !isCore(each.to);
    (leadsOut || reaches(each.to, each.from, downward) ? against : downward).push(each);
  }
  return { downward, against };
}

const hasLongerWay = ({ from, to }: RoomImport, all: readonly RoomImport[]): boolean =>
  all.some((first) => first.from === from && first.to !== to && reaches(first.to, to, all));

function reaches(from: string, to: string, all: readonly RoomImport[]): boolean {
  const seen = new Set([from]);
  for (const room of seen) for (const each of all) if (each.from === room) seen.add(each.to);
  return seen.has(to);
}

/** Returns the row of each room: below all its importers, as low as it can, then as near to most of its arrows. */
function depthsOf(rooms: readonly string[], arrows: readonly RoomImport[]): Map<string, number> {
  const height = new Map<string, number>();
  const heightOf = (room: string, floor: number): number => {
    const known = height.get(room);
    if (known !== undefined) return known;
    const below = arrows.filter(({ from, to }) => from === room && isCore(to) === isCore(room))
      .map(({ to }) => heightOf(to, floor));
    height.set(room, 1 + Math.max(floor, ...below));
    return height.get(room)!;
  };
  const coreTop = Math.max(-1, ...rooms.filter(isCore).map((room) => heightOf(room, -1)));
  const top = Math.max(0, coreTop, ...rooms.filter((room) => !isCore(room)).map((room) => heightOf(room, coreTop)));
  const depths = new Map(rooms.map((room) => [room, top - heightOf(room, coreTop)]));
  for (const room of rooms.toSorted((a, b) => depths.get(a)! - depths.get(b)!)) {
    const importers = arrows.filter(({ to }) => to === room);
    const imported = arrows.filter(({ from }) => from === room);
    if (importers.length <= imported.length) continue;
    const highest = isCore(room) ? top - coreTop : 0;
    depths.set(room, Math.max(highest, ...importers.map(({ from }) => 1 + depths.get(from)!)));
  }
  return depths;
}
