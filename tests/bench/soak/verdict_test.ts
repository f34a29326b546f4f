import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeAll, soakMarkdown, soakName, soakTable, WATCHED } from "../../../bench/soak/soak_report.ts";
import { judge, median, type Sample, slope } from "../../../bench/soak/verdict.ts";
import { withSection } from "../../../bench/report.ts";
import { soakChart } from "../../../scripts/pictures/soak_chart.ts";
import { readSoak } from "../../../scripts/pictures/read_results.ts";

const series = (count: number, value: (at: number) => number): Sample[] =>
  Array.from({ length: count }, (_, at) => ({ t: at * 10, value: value(at) }));
const bounds = { absolute: 8, relative: 0.05 };
const isFlat = (samples: Sample[]): boolean | null => judge(samples, bounds, "MiB").isFlat;

test("a figure that stays, falls, or wavers around its place is flat", () => {
  assert.equal(isFlat(series(60, () => 100)), true);
  assert.equal(isFlat(series(60, (at) => 200 - at)), true);
  assert.equal(isFlat(series(60, (at) => 100 + (at % 5) * 4)), true);
});

test("a figure that grows past its bounds is not, however slowly", () => {
  const leak = judge(series(60, (at) => 100 + at * 0.4), bounds, "MiB");
  assert.deepEqual([leak.isFlat, leak.text], [false, "grows: +11.6 MiB in the second half"]);
  assert.equal(isFlat(series(60, (at) => 100 + at * 0.2)), true, "5.8 MiB are within 8");
});

test("bounds are the greater of a fixed part and a share of the figure", () => {
  assert.equal(judge(series(60, (at) => 1000 + at), bounds, "").allowed, 0.05 * 1044.5);
  assert.equal(judge(series(60, () => 10), bounds, "").allowed, 8);
});

test("only the second half counts: what fills at first may fill", () => {
  assert.equal(isFlat(series(60, (at) => Math.min(100, at * 4))), true);
  assert.equal(isFlat(series(60, (at) => Math.max(0, at - 30) * 2)), false);
});

test("a few wild samples do not turn the verdict", () => {
  assert.equal(isFlat(series(60, (at) => at > 55 ? 400 : 100)), true);
});

test("a run with few samples has no verdict", () => {
  assert.deepEqual(judge(series(8, () => 1), bounds, ""), {
    isFlat: null,
    growth: 0,
    allowed: 8,
    median: 1,
    text: "too short to say: 4 samples",
  });
  assert.equal(isFlat([]), null);
});

test("median() and slope() of little are what they can be", () => {
  assert.deepEqual([median([]), median([3]), median([1, 2]), median([9, 1, 5])], [0, 3, 1.5, 5]);
  assert.deepEqual([slope([]), slope(series(1, () => 7)), slope(series(3, (at) => at))], [0, 0, 0.1]);
});

test("a run is kept as its chart reads it, and told in a table under its own heading", () => {
  const figures = Object.fromEntries(WATCHED.map(({ key }, at) => [key, at * 10.006]));
  const told = Array.from({ length: 20 }, (_, at) => ({ t: at * 3.333, figures }));
  const judged = judgeAll(told);
  assert.deepEqual(judged.map((one) => one.isFlat), WATCHED.map(() => true));
  const counts = { calls: 76805, rows: 3, hooks: 2, crashes: 1, reloads: 4, cut: 5, lost: 0 };
  const about = { name: "soak", date: "2026-01-02", machine: "2 × CPU", runtime: "node 24", minutes: 10 } as const;
  const result = { ...about, counts, series: judged };
  assert.match(soakChart(readSoak(JSON.stringify(result), "soak.json")), /memory of the host/);
  assert.match(soakTable(judged), /^\| figure +\| first +\| last +\| verdict +\|\n\| -+ \|/);
  const former = "# Benchmark results\n\n## wire\n\nkept\n\n## soak-deno\n\nits own\n\n## soak-node\n\nformer\n";
  const results = withSection(former, soakName(result), soakMarkdown(result));
  assert.match(results, /^## wire\n\nkept\n/m);
  assert.match(results, /^## soak-deno\n\nits own\n/m, "each runtime keeps its last run");
  assert.doesNotMatch(results, /former/);
  assert.match(results, /^## soak-node\n\n2026-01-02, 2 × CPU, node 24\..*--minutes 10/m);
  assert.match(results, /76,805 calls, .* 0 failed otherwise/);
});
