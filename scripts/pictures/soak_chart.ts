/**
 * A long run as charts: each figure over time, from zero, with what was made of it.
 *
 * @module
 */
import { figure, zeroScale } from "./scale.ts";
import { element, label, svgFile } from "./svg.ts";

/** A figure that was sampled all along. */
export interface SoakSeries {
  readonly name: string;
  readonly unit: string;
  /** `t` in seconds since the start. */
  readonly samples: readonly { readonly t: number; readonly value: number }[];
  /** The run's verdict: that it stayed flat, or by how much it grew. */
  readonly verdict: string;
  /** Whether it stayed flat; null when the run was too short to judge. */
  readonly isFlat: boolean | null;
}

/** A long run. */
export interface SoakReport {
  readonly date: string;
  readonly machine: string;
  readonly runtime: string;
  readonly minutes: number;
  readonly series: readonly SoakSeries[];
}

const PANEL = { width: 440, height: 190 } as const;
const HEAD = 56;

/** Returns docs/img/soak-<runtime>.svg. */
export function soakChart({ series, date, machine, runtime, minutes }: SoakReport): string {
  const rows = Math.ceil(series.length / 2);
  return svgFile({
    width: 2 * PANEL.width + 20,
    height: HEAD + rows * PANEL.height + 10,
    title: `A long run: ${series.map(({ name, verdict }) => `${name} (${verdict})`).join(", ")}`,
    body: [
      label(`a run of ${figure(minutes)} minutes`, { class: "ink strong large", x: 20, y: 32 }),
      label(`${date}, ${machine}, ${runtime}`, { class: "muted small", x: 20, y: 50 }),
      ...series.map((one, at) => panel(one, 10 + (at % 2) * PANEL.width, HEAD + Math.floor(at / 2) * PANEL.height)),
    ],
  });
}

function panel({ name, unit, samples, verdict, isFlat }: SoakSeries, left: number, top: number): string {
  const across: readonly [number, number] = [left + 66, left + PANEL.width - 20];
  const up: readonly [number, number] = [top + PANEL.height - 34, top + 52];
  const time = zeroScale(samples.map(({ t }) => t / 60), across);
  const value = zeroScale(samples.map((sample) => sample.value), up);
  const points = samples.map((sample) => `${round(time.at(sample.t / 60))} ${round(value.at(sample.value))}`);
  return element(
    "g",
    {},
    [
      label(unit === "" ? name : `${name}, ${unit}`, { class: "ink strong", x: left + 10, y: top + 22 }),
      label(verdict, { class: "muted small", x: left + 10, y: top + 40 }),
      ...value.ticks.flatMap((tick) => [
        element("path", { class: "axis", d: `M${across[0]} ${round(value.at(tick))}H${across[1]}` }),
        label(figure(tick), { class: "muted small end", x: across[0] - 8, y: value.at(tick) + 4 }),
      ]),
      ...time.ticks.map((tick) =>
        label(tick === 0 ? "0 min" : figure(tick), { class: "muted small middle", x: time.at(tick), y: up[0] + 18 })
      ),
      element("path", { class: `series ${isFlat === false ? "orange" : "blue"}`, d: `M${points.join("L")}` }),
    ].join(""),
  );
}

const round = (place: number): number => Math.round(place * 10) / 10;
