/**
 * Runs the one suite on Node, Deno and Bun at the same time and adds up what their runners count.
 *
 *   npm test                              everything
 *   npm test -- --runtime node            one runtime (repeatable)
 *   npm test -- --filter "K-004"          tests whose name matches
 *   npm test -- tests/core/wire           files or folders
 *
 * Run without arguments, the files that `suite/plan.ts` lists as HEAVY run on Bun alone and LEFT_OUT not at all, because
 * the whole must not take long.
 *
 *   KAGED_HEAVY=1          everything everywhere
 *   KAGED_FORBID_SKIP=1    a skipped test is a failed one
 *   KAGED_SEED=n           other cases, where a test leaves them to chance
 *   KAGED_LIST_JOBS=n      jobs of 1 MB each that are listed, on the disk (2000)
 *   KAGED_FUZZ_FRAMES=n, KAGED_FUZZ_HTTP=n, KAGED_FUZZ_SQL=n, KAGED_CROWD=1    more cases: frames, requests, statements, jobs
 */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { HEAVY, LEFT_OUT, planBatches } from "./suite/plan.ts";
import { type BatchRun, runBatch, RUNTIMES } from "./suite/run_batch.ts";

/** Batches under way at once: twice as many as processors, because tests also wait. */
const AT_ONCE = 2 * availableParallelism();

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runtime: { type: "string", multiple: true }, filter: { type: "string" } },
});
const { filter, runtime: runtimes = RUNTIMES } = values;
const paths = positionals.length > 0 ? positionals : ["tests"];
const isLight = positionals.length === 0 && !values.runtime && process.env["KAGED_HEAVY"] !== "1";
const scratch = await mkdtemp(join(tmpdir(), "kaged-test-"));

async function testFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new Error(`There is no ${path}`);
  if (!found.isDirectory()) return [`./${relative(".", path)}`];
  const entries = await readdir(path, { recursive: true });
  return entries.filter((entry) => entry.endsWith("_test.ts")).map((entry) => `./${relative(".", join(path, entry))}`)
    .sort();
}

const progress: Record<string, number> = {};

/** Shows on a terminal how many tests have passed so far: the whole suite takes minutes. */
function showProgress(runtime: string, text: string): void {
  if (!process.stdout.isTTY) return;
  progress[runtime] = (progress[runtime] ?? 0) + [...text.matchAll(/✔|\bok \(|\(pass\)/g)].length;
  const counts = Object.entries(progress).map(([name, passed]) => `${name} ${passed}`);
  process.stdout.write(`\r\x1b[Kpassed so far: ${counts.join(", ")}`);
}

/** Writes over the line of progress. */
function say(text: string): void {
  console.log(process.stdout.isTTY ? `\r\x1b[K${text}` : text);
}

/** Runs every file, in batches that take turns; prints a failure at once, so that a run broken off has shown it too. */
async function runAll(files: readonly string[]): Promise<BatchRun[]> {
  const waiting = planBatches(files, { runtimes, isLight });
  const ended: BatchRun[] = [];
  const work = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      const { runtime } = batch;
      const run = await runBatch(batch, {
        filter,
        scratch,
        onOutput: (text) => showProgress(runtime, text),
      });
      if (run.failed > 0) say(`──── ${runtime} ────\n${run.output}`);
      ended.push(run);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ended;
}

/** Prints the outcome, and returns whether all is well. */
function report(runs: readonly BatchRun[]): boolean {
  const isForbidden = process.env["KAGED_FORBID_SKIP"] === "1";
  if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
  for (const { runtime, lacks } of runs) {
    for (const { test, what, how, isPart } of lacks) {
      console.log(`${isPart ? "run in part" : "skipped"} (${runtime}): ${test}: needs ${what}; ${how}`);
    }
  }
  for (const { runtime, failures } of runs) for (const name of failures) console.log(`failed (${runtime}): ${name}`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const runtime of runtimes) {
    const own = runs.filter((run) => run.runtime === runtime);
    const sum = (count: "passed" | "failed" | "skipped"): number => own.reduce((all, run) => all + run[count], 0);
    const [passed, skipped] = [sum("passed"), sum("skipped")];
    // Where nothing passed, nothing was shown: a filter that fits no test is a mistake.
    const ranNothing = passed + skipped === 0 && own.length > 0;
    const failed = sum("failed") + (isForbidden ? skipped : 0) || (ranNothing ? 1 : 0);
    if (passed === 0) { for (const { output } of own.filter((run) => run.failed === 0)) console.log(output); }
    console.log(`${runtime}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  if (isLight) {
    console.log(`on bun alone: ${HEAVY.join(" ")}`);
    console.log(`not at all: ${LEFT_OUT.join(" ")} (KAGED_HEAVY=1 runs all of them everywhere)`);
  }
  if (isForbidden && total.skipped > 0) console.log("skipped tests count as failed: KAGED_FORBID_SKIP=1");
  const seconds = (performance.now() / 1000).toFixed(0);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped (${seconds} s)`);
  return total.failed === 0;
}

try {
  for (const name of runtimes) if (!RUNTIMES.includes(name)) throw new Error(`Unknown runtime "${name}"`);
  const files = (await Promise.all(paths.map(testFiles))).flat();
  if (files.length === 0) throw new Error(`No test file under ${paths.join(", ")}`);
  process.exitCode = report(await runAll(files)) ? 0 : 1;
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  process.exitCode = 2;
} finally {
  await rm(scratch, { recursive: true, force: true });
}
