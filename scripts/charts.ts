/**
 * Draws charts of what was measured.
 *
 *   npm run charts             every file of bench/results
 *   npm run charts -- wire     one of them
 *
 * `bench/results/<name>.json` becomes `docs/img/bench-<name>.svg`, and `soak-<runtime>.json` becomes
 * `docs/img/soak-<runtime>.svg`.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { isCompared } from "../bench/report.ts";
import { benchChart } from "./pictures/bench_chart.ts";
import { readBench, readSoak } from "./pictures/read_results.ts";
import { soakChart } from "./pictures/soak_chart.ts";

/** Where results are kept, and where charts go. */
export interface ChartPlaces {
  readonly results: string;
  readonly images: string;
}

/**
 * Draws the charts of some results, or of all that can be drawn; returns the files it wrote. A run without peers has no
 * chart, and naming it is an error. Draws all of them or none.
 */
export async function drawCharts(names: readonly string[], { results, images }: ChartPlaces): Promise<string[]> {
  const kept = (await readdir(results).catch(() => [])).filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length)).sort();
  const missing = names.filter((name) => !kept.includes(name));
  if (missing.length > 0 || kept.length === 0) {
    const files = missing.length > 0
      ? missing.map((name) => `${results}/${name}.json`).join(", ")
      : `${results}/*.json`;
    const [name = "<name>"] = missing;
    throw new Error(`Nothing to draw: there is no ${files}\n  Measure first: npm run ${how(name)}`);
  }
  const charts = await Promise.all((names.length > 0 ? names : kept).map(async (name) => {
    const path = `${results}/${name}.json`;
    const text = await readFile(path, "utf8");
    if (isSoak(name)) return [{ path: `${images}/${name}.svg`, svg: soakChart(readSoak(text, path)) }];
    const report = readBench(text, path);
    if (names.length === 0 && !isCompared(report)) return [];
    return [{ path: `${images}/bench-${name}.svg`, svg: benchChart(report) }];
  }));
  const drawn = charts.flat();
  await mkdir(images, { recursive: true });
  for (const { path, svg } of drawn) await writeFile(path, svg);
  return drawn.map(({ path }) => path);
}

const isSoak = (name: string): boolean => name.startsWith("soak-");
const how = (name: string): string =>
  isSoak(name) ? `soak -- --runtime ${name.slice("soak-".length)}` : `bench -- ${name} --write`;

if (import.meta.main) {
  try {
    const written = await drawCharts(process.argv.slice(2), { results: "bench/results", images: "docs/img" });
    for (const path of written) console.log(`wrote ${path}`);
  } catch (error) {
    console.error(`error: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
