/**
 * The architecture as its imports are: rooms in layers, arrows to what each imports.
 *
 * @module
 */
import { layersOf } from "./layers.ts";
import { layoutOf } from "./layout.ts";
import { isCore, type RoomImport, type Rooms } from "./rooms.ts";
import { element, label, svgFile, textWidth } from "./svg.ts";

type Point = readonly [x: number, y: number];

const MARGIN = 24;
const BOX = 34;
const ROW = 84;
const LEGEND = 56;

/** The frame around the core names it once, so that its rooms need not. */
const nameOf = (room: string): string => room.replace(/^core\//, "");
const boxWidth = (room: string): number => Math.max(76, textWidth(nameOf(room)) + 30);

/** Returns docs/img/architecture.svg. */
export function roomsDrawing(rooms: Rooms): string {
  const { rows, coreRow, arrows, against } = layersOf(rooms);
  const depth = new Map(rows.flatMap((row, at) => row.map((room) => [room, at] as const)));
  const { middles, routes, width } = layoutOf(rows, arrows, boxWidth);
  const groundTop = MARGIN + LEGEND + rows.length * ROW;
  const pictureWidth = width + 2 * MARGIN;
  const x = (place: string): number => MARGIN + middles.get(place)!;
  const y = (row: number): number => MARGIN + LEGEND + row * ROW;
  const frameTop = y(coreRow) - (ROW - BOX) / 2;
  const wires = arrows.map((arrow, at) => {
    const [from, ...points] = routes[at]!;
    const to = points.pop()!;
    const start = slot(arrow, arrows.filter((each) => each.from === from), (each) => x(nextOf(each, "from")));
    const end = slot(arrow, arrows.filter((each) => each.to === to), (each) => x(nextOf(each, "to")));
    const top = depth.get(from!)!;
    const path = smooth([
      [x(from!) + start, y(top) + BOX],
      ...points.map((point, step): Point => [x(point), y(top + step + 1) + BOX / 2]),
      [x(to) + end, y(depth.get(to)!) - 1],
    ]);
    return element("path", { class: `wire ${look(arrow)}`, d: path });
  });
  function nextOf(arrow: RoomImport, side: "from" | "to"): string {
    const route = routes[arrows.indexOf(arrow)]!;
    return side === "from" ? route[1]! : route.at(-2)!;
  }
  const dashes = against.map(({ from, to }) => {
    const side = (room: string): number => x(room) + boxWidth(room) / 2 - 8;
    const path = smooth([[side(from), y(depth.get(from)!)], [side(to), y(depth.get(to)!) + BOX + 1]]);
    return element("path", { class: "wire orange dashed", d: path });
  });
  const boxes = rows.flatMap((row, at) =>
    row.map((room) => box(room, x(room) - boxWidth(room) / 2, y(at), boxWidth(room)))
  );
  return svgFile({
    width: Math.ceil(pictureWidth),
    height: groundTop + BOX + 2 * MARGIN,
    title: `The architecture from the imports of its files: ${rooms.names.join(", ")}`,
    body: [
      ...legend(),
      ...frame(frameTop, { width: pictureWidth, bottom: groundTop + BOX + MARGIN }),
      ...wires,
      ...dashes,
      ...boxes,
      ...ground(rooms.ground, groundTop, pictureWidth),
    ],
  });
}

/** Where on a side of its box an arrow starts or ends: next to its neighbours, in the order of their other ends. */
function slot(arrow: RoomImport, all: readonly RoomImport[], at: (arrow: RoomImport) => number): number {
  const place = all.toSorted((a, b) => at(a) - at(b)).indexOf(arrow);
  return (place - (all.length - 1) / 2) * Math.min(12, 60 / all.length);
}

const look = ({ count }: RoomImport): string => count >= 6 ? "muted thick" : count >= 3 ? "muted" : "muted thin";

/** Returns a path through some points that leaves the first and reaches the last upright. */
function smooth(points: readonly Point[]): string {
  const lean = (at: number): number => {
    const [before, after] = [points[at - 1], points[at + 1]];
    const slope = before && after ? (after[0] - before[0]) / (after[1] - before[1]) : 0;
    // More would lead it through the boxes beside the point.
    return Math.max(-0.6, Math.min(0.6, slope));
  };
  const [[startX, startY], ...rest] = points as [Point, ...Point[]];
  const parts = rest.map(([x, y], at) => {
    const [fromX, fromY] = points[at]!;
    const reach = (y - fromY) * (points.length === 2 ? 0.5 : 0.4);
    const bends = [fromX + lean(at) * reach, fromY + reach, x - lean(at + 1) * reach, y - reach];
    return `C${[...bends, x, y].map(round).join(" ")}`;
  });
  return `M${round(startX)} ${round(startY)}${parts.join("")}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

function box(room: string, x: number, y: number, width: number): string {
  return [
    element("rect", { class: "page", x, y, width, height: BOX, rx: 7 }),
    element("rect", { class: isCore(room) ? "box" : "outer", fill: "none", x, y, width, height: BOX, rx: 7 }),
    label(nameOf(room), { class: "ink strong middle", x: x + width / 2, y: y + 22 }),
  ].join("");
}

/** The walls of src/core: arrows cross them inward only. */
function frame(top: number, { width, bottom }: { readonly width: number; readonly bottom: number }): string[] {
  const place = { x: MARGIN / 2, y: top, width: width - MARGIN, height: bottom - top, rx: 12 };
  return [
    element("rect", { class: "panel", ...place }),
    element("rect", { class: "box", fill: "none", ...place }),
    label("src/core", { class: "muted strong end", x: width - MARGIN, y: top + 18 }),
  ];
}

function ground(rooms: readonly string[], y: number, width: number): string[] {
  const each = (width - 2 * MARGIN - (rooms.length - 1) * 10) / rooms.length;
  return [
    label("Rooms that every other room may import", { class: "muted small", x: MARGIN, y: y - 8 }),
    ...rooms.map((room, at) => box(room, MARGIN + at * (each + 10), y, each)),
  ];
}

function legend(): string[] {
  const line = (x: number, look: string, text: string): string[] => [
    element("path", { class: `wire ${look}`, d: `M${x} 34H${x + 34}` }),
    label(text, { class: "muted small", x: x + 42, y: 38 }),
  ];
  return [
    ...line(MARGIN, "muted thin", "1 or 2 imports"),
    ...line(MARGIN + 150, "muted", "3 to 5"),
    ...line(MARGIN + 250, "muted thick", "6 or more"),
    ...line(MARGIN + 370, "orange dashed", "against the order"),
    label("Imports of types are counted. An import that a longer way already shows has no arrow of its own.", {
      class: "muted small",
      x: MARGIN,
      y: 62,
    }),
  ];
}
