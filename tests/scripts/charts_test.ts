import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type ChartPlaces, drawCharts } from "../../scripts/charts.ts";
import { readXml } from "../support/read_xml.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const BENCH = {
  ...{ name: "wire", date: "2026-01-02", machine: "2 × CPU", versions: {}, control: null, goals: [] },
  rows: [{ runtime: "bun", case: "calls", unit: "calls/s", better: "higher", ours: 7, peers: { bare: 2, odd: null } }],
};
const SOAK = {
  ...{ name: "soak", date: "2026-01-02", machine: "2 × CPU", runtime: "node 24", minutes: 10, counts: {} },
  series: [{
    name: "memory",
    unit: "MiB",
    samples: [{ t: 0, value: 1 }, { t: 9, value: 1 }],
    verdict: "flat",
    isFlat: true,
  }],
};

async function places(t: TestContext, files: Readonly<Record<string, unknown>> = {}): Promise<ChartPlaces> {
  const dir = await scratchDir(t);
  await mkdir(join(dir, "results"));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(dir, "results", name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return { results: join(dir, "results"), images: join(dir, "img") };
}

test("npm run charts draws every kept result", async (t) => {
  const where = await places(t, { "wire.json": BENCH, "soak-node.json": SOAK });
  const written = await drawCharts([], where);
  assert.deepEqual(written, [join(where.images, "soak-node.svg"), join(where.images, "bench-wire.svg")]);
  for (const path of written) assert.ok(readXml(await readFile(path, "utf8")).length > 10, path);
});

test("npm run charts leaves out a run that was measured beside nothing", async (t) => {
  const alone = { ...BENCH, name: "flood", rows: [{ ...BENCH.rows[0], peers: { again: 1.1 } }] };
  const where = await places(t, { "wire.json": BENCH, "flood.json": alone });
  assert.deepEqual(await drawCharts([], where), [join(where.images, "bench-wire.svg")]);
});

test("npm run charts -- wire draws that one", async (t) => {
  const where = await places(t, { "wire.json": BENCH, "soak-node.json": SOAK });
  assert.deepEqual(await drawCharts(["wire"], where), [join(where.images, "bench-wire.svg")]);
});

test("without results there is a message that says how to get some, and no picture", async (t) => {
  const where = await places(t, { "wire.json": BENCH });
  await assert.rejects(
    drawCharts(["soak-node"], where),
    /no .*results\/soak-node\.json\n {2}Measure first: npm run soak -- --runtime node$/,
  );
  await assert.rejects(drawCharts(["wire", "jobs"], where), /npm run bench -- jobs --write$/);
  await assert.rejects(
    drawCharts([], { ...where, results: `${where.results}/none` }),
    /npm run bench -- <name> --write$/,
  );
  await assert.rejects(readdir(where.images));
});

test("a result that is not what a run writes is refused by file and place, and nothing is drawn", async (t) => {
  const where = await places(t, {
    "wire.json": BENCH,
    "torn.json": '{"name":',
    "soak-node.json": { ...SOAK, series: [{ ...SOAK.series[0], samples: [{ t: 0, value: "much" }] }] },
    "alone.json": { ...BENCH, rows: [{ ...BENCH.rows[0], peers: {} }] },
  });
  await assert.rejects(drawCharts(["wire", "torn"], where), /torn\.json is not JSON: /);
  await assert.rejects(drawCharts(["wire", "soak-node"], where), /soak-node\.json at series\.0\.samples\.0\.value: /);
  await assert.rejects(drawCharts(["wire", "alone"], where), /Nothing to draw/);
  await assert.rejects(readdir(where.images));
});
