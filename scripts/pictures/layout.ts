/**
 * Places boxes in rows and leads arrows between them, with few crossings.
 *
 * @module
 */

/** An arrow from a box to one of a lower row. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
}

/** Boxes and the points where arrows pass a row, with the middle of each. */
export interface Layout {
  readonly middles: ReadonlyMap<string, number>;
  /** For each arrow: its box, the points where it passes rows, the other box. */
  readonly routes: readonly (readonly string[])[];
  readonly width: number;
}

const SWEEPS = 24;
const GAP = 22;

/** Returns where boxes of some widths stand. The same rows make the same layout. */
export function layoutOf(
  boxes: readonly (readonly string[])[],
  arrows: readonly Arrow[],
  widthOf: (box: string) => number,
): Layout {
  const depth = new Map(boxes.flatMap((row, at) => row.map((box) => [box, at] as const)));
  const rows = boxes.map((row) => [...row]);
  const routes = arrows.map(({ from, to }) => {
    const passed = rows.slice(depth.get(from)! + 1, depth.get(to)!).map((row) => {
      const point = `${from}>${to}#${rows.indexOf(row)}`;
      row.push(point);
      return point;
    });
    return [from, ...passed, to];
  });
  const links = routes.flatMap((route) => route.slice(1).map((to, at): Arrow => ({ from: route[at]!, to })));
  const ordered = fewestCrossings(rows, links);
  const room = (box: string): number => depth.has(box) ? widthOf(box) : 0;
  const middles = spread(ordered, links, room);
  const left = Math.min(...ordered.flat().map((box) => middles.get(box)! - room(box) / 2));
  const right = Math.max(...ordered.flat().map((box) => middles.get(box)! + room(box) / 2));
  const moved = new Map([...middles].map(([box, middle]) => [box, middle - left]));
  return { middles: moved, routes, width: right - left };
}

/** Sorts each row by the places of its neighbours, down and up again; the best of all sweeps counts. */
function fewestCrossings(rows: readonly (readonly string[])[], links: readonly Arrow[]): string[][] {
  let order = rows.map((row) => [...row]);
  let best = order;
  let fewest = crossings(order, links);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isDown = sweep % 2 === 0;
    const place = new Map(order.flatMap((row) => row.map((box, at) => [box, at / row.length] as const)));
    const walk = isDown ? order.keys() : [...order.keys()].reverse();
    for (const at of walk) {
      const wish = (box: string): number => {
        const near = links.flatMap(({ from, to }) => isDown ? to === box ? [from] : [] : from === box ? [to] : []);
        return mean(near.map((each) => place.get(each)!)) ?? place.get(box)!;
      };
      const sorted = order[at]!.toSorted((a, b) => wish(a) - wish(b));
      order = order.with(at, sorted);
      sorted.forEach((box, index) => place.set(box, index / sorted.length));
    }
    order = swapped(order, links);
    const found = crossings(order, links);
    if (found < fewest) [best, fewest] = [order, found];
  }
  return best;
}

/** Swaps neighbours in a row wherever that takes crossings away. */
function swapped(rows: readonly (readonly string[])[], links: readonly Arrow[]): string[][] {
  const order = rows.map((row) => [...row]);
  for (const row of order) {
    const near = links.filter(({ from, to }) => row.includes(from) || row.includes(to));
    for (let at = 0; at + 1 < row.length; at++) {
      const before = crossings(order, near);
      [row[at], row[at + 1]] = [row[at + 1]!, row[at]!];
      if (crossings(order, near) >= before) [row[at], row[at + 1]] = [row[at + 1]!, row[at]!];
    }
  }
  return order;
}

function crossings(rows: readonly (readonly string[])[], links: readonly Arrow[]): number {
  const place = new Map(rows.flatMap((row, depth) => row.map((box, at) => [box, { depth, at }] as const)));
  const ends = links.map(({ from, to }) => [place.get(from)!.depth, place.get(from)!.at, place.get(to)!.at] as const);
  let found = 0;
  for (const [at, one] of ends.entries()) {
    for (const other of ends.slice(at + 1)) {
      if (one[0] === other[0] && (one[1] - other[1]) * (one[2] - other[2]) < 0) found++;
    }
  }
  return found;
}

/** Moves each box towards its neighbours as far as its row has room. */
function spread(
  rows: readonly (readonly string[])[],
  links: readonly Arrow[],
  room: (box: string) => number,
): Map<string, number> {
  const distance = (a: string, b: string): number => (room(a) + room(b)) / 2 + GAP;
  const middles = new Map<string, number>();
  for (const row of rows) {
    row.forEach((box, at) => middles.set(box, at === 0 ? 0 : middles.get(row[at - 1]!)! + distance(row[at - 1]!, box)));
  }
  for (let sweep = 0; sweep < 8 * SWEEPS; sweep++) {
    for (const row of sweep % 2 === 0 ? rows : rows.toReversed()) {
      const wishes = row.map((box) => {
        const near = links.flatMap(({ from, to }) => to === box ? [from] : from === box ? [to] : []);
        return mean(near.map((each) => middles.get(each)!)) ?? middles.get(box)!;
      });
      apart(wishes, row.slice(1).map((box, at) => distance(row[at]!, box)))
        .forEach((middle, at) => middles.set(row[at]!, middle));
    }
  }
  return middles;
}

/** Returns the places nearest to some wishes that keep their distances: neighbours in each other's way move as one. */
function apart(wishes: readonly number[], distances: readonly number[]): number[] {
  let offset = 0;
  const offsets = wishes.map((_, at) => offset += at === 0 ? 0 : distances[at - 1]!);
  const blocks: { sum: number; size: number }[] = [];
  for (const [at, wish] of wishes.entries()) {
    let block = { sum: wish - offsets[at]!, size: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.size > block.sum / block.size; last = blocks.at(-1)) {
      block = { sum: block.sum + last.sum, size: block.size + last.size };
      blocks.pop();
    }
    blocks.push(block);
  }
  const bases = blocks.flatMap(({ sum, size }) => Array.from({ length: size }, () => sum / size));
  return bases.map((base, at) => base + offsets[at]!);
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
