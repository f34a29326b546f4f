import assert from "node:assert/strict";
import { test } from "node:test";
import { soakChart, type SoakSeries } from "../../../scripts/pictures/soak_chart.ts";
import { readXml } from "../../support/read_xml.ts";

const series = (name: string, values: readonly number[]): SoakSeries => ({
  ...{ name, unit: "MiB", verdict: `${name} <flat> & quiet`, isFlat: true },
  samples: values.map((value, at) => ({ t: at * 60, value })),
});

const run = (...all: SoakSeries[]): string =>
  soakChart({ date: "2026-01-02", machine: "2 × CPU", runtime: "node 24", minutes: 10, series: all });

test("each series of a long run has a panel with its name, unit, verdict and line", () => {
  const elements = readXml(run(series("memory", [100, 110, 90]), series("disk", [0, 0, 0])));
  const texts = elements.filter(({ name }) => name === "text").map(({ text }) => text);
  for (
    const text of [
      "memory, MiB",
      "memory <flat> & quiet",
      "disk, MiB",
      "disk <flat> & quiet",
      "0 min",
      "2",
      "2026-01-02, 2 × CPU, node 24",
    ]
  ) {
    assert.ok(texts.includes(text), text);
  }
  const lines = elements.filter(({ attributes }) => attributes.class === "series blue").map(({ attributes }) =>
    attributes.d!
  );
  assert.deepEqual(lines.map((line) => line.split("L").length), [3, 3]);
  assert.doesNotMatch(lines.join(), /NaN|Infinity/);
});

test("panels count from zero: what is flat looks flat", () => {
  const line = (values: number[]): number[] => {
    const drawn = readXml(run(series("memory", values)))
      .find(({ attributes }) => attributes.class === "series blue")!.attributes.d!;
    return drawn.slice(1).split("L").map((point) => Number(point.split(" ")[1]));
  };
  const [low, high] = line([100, 101]);
  assert.ok(low! - high! > 0 && low! - high! < 2, "one percent is hardly seen");
  const [nothing, much] = line([0, 100]);
  assert.ok(nothing! - much! > 50);
});

test("what grew is drawn in another colour", () => {
  const lines = readXml(run(series("memory", [1, 1]), { ...series("disk", [1, 9]), isFlat: false }))
    .map(({ attributes }) => attributes.class).filter((look) => look?.startsWith("series "));
  assert.deepEqual(lines, ["series blue", "series orange"]);
});
