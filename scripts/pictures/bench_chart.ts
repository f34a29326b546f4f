/**
 * A benchmark as a chart: for each case and runtime one bar per peer, as long as we are better or worse, on a band as
 * wide as the noise.
 *
 * @module
 */
import { type BenchRow, isControl, isRatio, type KeptReport } from "../../bench/report.ts";
import { figure, ratioScale, type Scale } from "./scale.ts";
import { element, label, SERIES, svgFile, textWidth } from "./svg.ts";

const WIDTH = 920;
/** With room beside it for the figures of the longest bars. */
const PLOT: readonly [number, number] = [310, 860];
const FIGURES_END = 246;
const TOP = 118;
const BAR = 13;
const ROW_GAP = 6;
const CASE_HEAD = 30;

/** One case on one runtime. */
interface Group {
  readonly row: BenchRow;
  readonly bars: readonly { readonly peer: string; readonly better: number }[];
  /** How far apart two measurements of one thing were: 1 without noise. */
  readonly noise: number | null;
}

/**
 * Returns docs/img/bench-<name>.svg. Cases that were measured beside nothing are left out.
 *
 * @throws {RangeError} When no case is left: an empty chart would say that all is well.
 */
export function benchChart(report: KeptReport): string {
  const groups = groupsOf(report);
  if (groups.length === 0) {
    throw new RangeError(`Nothing to draw: no case of "${report.name}" was measured beside a peer`);
  }
  const peers = [...new Set(groups.flatMap(({ bars }) => bars.map(({ peer }) => peer)))];
  const reach = groups.flatMap((
    { bars, noise },
  ) => [...bars.map(({ better }) => better), noise ?? 1, 1 / (noise ?? 1)]);
  const scale = ratioScale(reach, PLOT);
  const colourOf = (peer: string): string => SERIES[peers.indexOf(peer) % SERIES.length]!;
  const body: string[] = [];
  let y = TOP;
  for (const [name, members] of Map.groupBy(groups, ({ row }) => row.case)) {
    body.push(label(name, { class: "ink strong", x: 20, y: y + 20 }));
    y += CASE_HEAD;
    for (const group of members) {
      body.push(...groupShapes(group, { y, scale, colourOf }));
      y += group.bars.length * BAR + ROW_GAP;
    }
  }
  return svgFile({
    width: WIDTH,
    height: y + 20,
    title: `${report.name}: ours beside ${peers.join(", ")}`,
    body: [...heading(report), ...legend(peers, colourOf), ...grid(scale, y), ...body],
  });
}

/** Returns what can be compared; a ratio is turned so that more than 1 is better for us. */
function groupsOf({ rows }: KeptReport): Group[] {
  const measured = rows.map((row) => ({ row, noise: noiseOf(row) }));
  const known = measured.flatMap(({ noise }) => noise === null ? [] : [noise]).sort((a, b) => a - b);
  const usual = known[Math.floor(known.length / 2)] ?? null;
  return measured.map(({ row, noise }) => ({
    row,
    bars: Object.entries(row.peers).filter(([peer, ratio]) => !isControl(peer) && isRatio(ratio))
      .map(([peer, ratio]) => ({ peer, better: row.better === "higher" ? ratio : 1 / ratio })),
    noise: noise ?? usual,
  })).filter(({ bars }) => bars.length > 0);
}

/** The largest difference between something and the same once more; `again` alone is ours once more. */
function noiseOf({ peers }: BenchRow): number | null {
  const pairs = Object.keys(peers).filter(isControl).map((again) => {
    const once = again === "again" ? 1 : peers[again.slice(0, -" again".length)];
    return isRatio(once) && isRatio(peers[again]) ? once / peers[again] : null;
  }).filter((ratio) => ratio !== null);
  return pairs.length === 0 ? null : Math.max(...pairs.map((ratio) => Math.max(ratio, 1 / ratio)));
}

interface Place {
  readonly y: number;
  readonly scale: Scale;
  readonly colourOf: (peer: string) => string;
}

function groupShapes({ row, bars, noise }: Group, { y, scale, colourOf }: Place): string[] {
  const height = bars.length * BAR;
  const one = scale.at(1);
  const band = noise === null ? [] : [element("rect", {
    class: "band noise",
    x: scale.at(1 / noise),
    y: y - 2,
    width: scale.at(noise) - scale.at(1 / noise),
    height: height + 3,
  })];
  const middle = y + height / 2 + 4;
  return [
    ...band,
    label(row.runtime, { class: "ink", x: 34, y: middle }),
    label(`${figure(row.ours)} ${row.unit}`, { class: "muted small end", x: FIGURES_END, y: middle }),
    ...bars.flatMap(({ peer, better }, at) => {
      const end = scale.at(better);
      const top = y + at * BAR;
      const side = better < 1 ? { class: "muted small end", x: end - 5 } : { class: "muted small", x: end + 5 };
      return [
        element("rect", {
          class: colourOf(peer),
          x: Math.min(one, end),
          y: top,
          width: Math.abs(end - one),
          height: 10,
        }),
        label(`${better < 10 ? better.toFixed(2) : figure(better)}×`, { ...side, y: top + 9 }),
      ];
    }),
    element("path", { class: "one", d: `M${Math.round(one * 10) / 10} ${y - 2}v${height + 3}` }),
  ];
}

function heading({ name, date, machine, versions }: KeptReport): string[] {
  const on = Object.entries(versions).map(([runtime, version]) => `${runtime} ${version}`).join(", ");
  return [
    label(name, { class: "ink strong large", x: 20, y: 32 }),
    label(`${date}, ${machine}, ${on}`, { class: "muted small", x: 20, y: 52 }),
  ];
}

function legend(peers: readonly string[], colourOf: (peer: string) => string): string[] {
  let x = 20;
  const entry = (look: string, text: string): string => {
    const at = x;
    x += textWidth(text) + 34;
    return element("rect", { class: look, x: at, y: 66, width: 12, height: 12, rx: 2 }) +
      label(text, { class: "ink", x: at + 18, y: 77 });
  };
  return [...peers.map((peer) => entry(colourOf(peer), peer)), entry("band", "noise: one thing measured twice")];
}

function grid({ at, ticks }: Scale, bottom: number): string[] {
  const one = at(1);
  return [
    label("peer better ◂", { class: "muted small end", x: one - 16, y: 98 }),
    label("▸ ours better", { class: "muted small", x: one + 16, y: 98 }),
    ...ticks.flatMap((tick) => [
      label(`${figure(tick)}×`, { class: "muted small middle", x: at(tick), y: 114 }),
      element("path", { class: "axis", d: `M${Math.round(at(tick) * 10) / 10} 120V${bottom}` }),
    ]),
  ];
}
