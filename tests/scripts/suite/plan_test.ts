import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { costOf, HEAVY, LEFT_OUT, planBatches } from "../../../scripts/suite/plan.ts";

const RUNTIMES = ["node", "deno", "bun"];
const FILES = globSync("tests/**/*_test.ts").map((path) => `./${path}`).sort();
const runOn = (runtime: string, isLight: boolean): string[] =>
  planBatches(FILES, { runtimes: RUNTIMES, isLight }).filter((batch) => batch.runtime === runtime)
    .flatMap(({ files }) => files).sort();

/** Files whose work Node does for all. */
const isOfNode = (file: string): boolean =>
  /^\.\/tests\/(?:package\/npm_\w+|frameworks\/types|jobs\/list_memory)_test\.ts$/.test(file);
const BUT_NODE = FILES.filter((file) => !isOfNode(file));

test("planBatches() runs every file once on every runtime", () => {
  assert.deepEqual(runOn("node", false), FILES);
  assert.deepEqual(runOn("deno", false), BUT_NODE);
  assert.deepEqual(runOn("bun", false), BUT_NODE);
});

test("planBatches() leaves out of an everyday run what is heavy, but not on Bun, and whole foreign suites", () => {
  const light = FILES.filter((file) => !HEAVY.some((start) => file.startsWith(start)) && !LEFT_OUT.includes(file));
  assert.ok(light.length < FILES.length && light.length > FILES.length / 2);
  assert.deepEqual(runOn("node", true), light);
  assert.deepEqual(runOn("deno", true), light.filter((file) => !isOfNode(file)));
  assert.deepEqual(runOn("bun", true), BUT_NODE.filter((file) => !LEFT_OUT.includes(file)));
});

test("planBatches() starts with the costliest batch, and none takes long beside the others", () => {
  const costs = planBatches(FILES, { runtimes: RUNTIMES, isLight: false }).map(({ cost }) => cost);
  assert.deepEqual(costs, [...costs].sort((a, b) => b - a));
  const costliest = Math.max(...FILES.map(costOf));
  assert.equal(costs[0], costliest, "a file that costs much has a batch of its own");
});

test("what is called heavy exists", () => {
  for (const start of [...HEAVY, ...LEFT_OUT]) assert.ok(FILES.some((file) => file.startsWith(start)), start);
});
