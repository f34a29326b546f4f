import assert from "node:assert/strict";
import { test } from "node:test";
import { type BenchRow, type Goal, type KeptReport, keptReport, resultsMarkdown } from "../../../bench/report.ts";
import { benchChart } from "../../../scripts/pictures/bench_chart.ts";
import { readXml, type XmlElement } from "../../support/read_xml.ts";

const row = (values: Partial<BenchRow>): BenchRow => ({
  ...{ runtime: "node", case: "calls", unit: "calls/s", better: "higher", ours: 20_949, peers: {} },
  ...values,
});
const report = (...rows: BenchRow[]): KeptReport => ({
  ...{ name: "wire", date: "2026-01-02", machine: "2 × CPU", versions: { node: "24.0.0" }, control: 1, goals: [] },
  rows,
});
const shapes = (...rows: BenchRow[]): XmlElement[] => readXml(benchChart(report(...rows)));
const texts = (elements: readonly XmlElement[]): string[] =>
  elements.filter(({ name }) => name === "text").map(({ text }) => text);
/** Places of rectangles of a kind: from, to. */
const spans = (elements: readonly XmlElement[], look: string): [number, number][] =>
  elements.filter(({ name, attributes }) => name === "rect" && attributes.class === look && attributes.rx === undefined)
    .map(({ attributes: { x, width } }) => [Number(x), Number(x) + Number(width)]);

test("a chart names every peer and has a bar for each, with our figure beside them", () => {
  const elements = shapes(row({ peers: { bare: 0.5, "a & <b>": 4, "bare again": 0.5 } }), row({ runtime: "deno" }));
  const said = texts(elements);
  for (const text of ["wire", "calls", "node", "bare", "a & <b>", "20,949 calls/s", "0.50×", "4.00×"]) {
    assert.ok(said.includes(text), text);
  }
  assert.ok(
    !said.includes("bare again") && !said.includes("deno"),
    "a control is no peer; a row without peers is not drawn",
  );
  assert.ok(said.some((text) => text.includes("2026-01-02, 2 × CPU, node 24.0.0")));
  assert.equal(spans(elements, "blue").length + spans(elements, "orange").length, 2);
});

test("a bar goes to the right where we are better: more of a rate, less of a time", () => {
  const elements = shapes(
    row({ peers: { bare: 2 } }),
    row({ case: "start", unit: "ms", better: "lower", peers: { bare: 0.5 } }),
    row({ case: "memory", unit: "KiB", better: "lower", peers: { bare: 2 } }),
  );
  const [rate, time, memory] = spans(elements, "blue");
  assert.deepEqual(rate, time);
  assert.equal(memory![1], rate![0]);
  assert.ok(memory![1] > memory![0]);
});

test("the band of a row is as wide as the two measurements of one thing lie apart", () => {
  const elements = shapes(
    row({ peers: { bare: 2, "bare again": 1 } }),
    row({ case: "recall", peers: { scan: 8, again: 0.25 } }),
    row({ case: "quiet", peers: { bare: 2, "bare again": 2 } }),
  );
  const [first, second, quiet] = spans(elements, "band noise");
  const [bar] = spans(elements, "blue");
  assert.equal(first![1], bar![1], "twice as much once as the other time: the band reaches to 2×");
  const width = ([from, to]: [number, number]): number => to - from;
  assert.ok(Math.abs(width(second!) - 2 * width(first!)) < 0.5, "four times as much: to 4×, ours measured again");
  assert.equal(quiet![0], quiet![1]);
  assert.ok(texts(elements).includes("noise: one thing measured twice"));
});

test("a row without a control has the usual band of the others", () => {
  const control = { bare: 2, "bare again": 1 };
  const bands = spans(shapes(row({ peers: control }), row({ case: "other", peers: { bare: 3 } })), "band noise");
  assert.equal(bands.length, 2);
  assert.deepEqual(bands[0], bands[1]);
});

test("every bar and every band lies inside the picture", () => {
  const elements = shapes(row({ peers: { bare: 0.001, emittery: 5000, "bare again": 0.01 } }));
  for (
    const [from, to] of [...spans(elements, "blue"), ...spans(elements, "orange"), ...spans(elements, "band noise")]
  ) {
    assert.ok(from > 250 && to < 900, `${from} to ${to}`);
  }
});

test("ratios that are none are left out", () => {
  const said = texts(shapes(row({ peers: { bare: 2, broken: NaN, endless: Infinity, nothing: 0 } })));
  for (const name of ["broken", "endless", "nothing"]) assert.ok(!said.includes(name), name);
});

test("a report with nothing to compare is no picture", () => {
  assert.throws(() => benchChart(report(row({}))), /Nothing to draw: no case of "wire" was measured beside a peer/);
});

test("a run is kept with its place, its goals and who met them", () => {
  const goal: Goal = { text: "at least 1", values: { node: 1.2, bun: 0.9 }, isMet: (value) => value >= 1 };
  const { rows, versions, name } = report(row({ peers: { bare: 2 } }));
  const place = { date: "2026-01-02", machine: "2 × CPU" };
  const kept = keptReport({ name, rows, versions, control: NaN }, [goal], place);
  const goals = [{ text: "at least 1", values: { node: 1.2, bun: 0.9 }, met: ["node"] }];
  assert.deepEqual(kept, { ...place, name, rows, versions, control: null, goals });
  assert.match(
    resultsMarkdown({ name, rows, versions, control: 1 }, [goal], place),
    /\(\.\.\/docs\/img\/bench-wire\.svg\)/,
  );
});

test("a run that was measured beside nothing is kept as a table without a picture or a figure of noise", () => {
  const { rows, versions } = report(row({}));
  const place = { date: "2026-01-02", machine: "2 × CPU" };
  const text = resultsMarkdown({ name: "flood", rows, versions, control: NaN }, [], place);
  assert.match(text, /^## flood\n\n2026-01-02, 2 × CPU, .*\. Nothing stands beside these figures\.\n\n\| case /m);
  assert.doesNotMatch(text, /NaN|\.svg|÷/);
});
