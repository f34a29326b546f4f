/**
 * Runs the one suite on Node, Deno and Bun at the same time and adds up what they say.
 *
 *   npm test                              everything
 *   npm test -- --runtime node            one runtime (repeatable)
 *   npm test -- --filter "K-004"          tests whose name matches
 *   npm test -- tests/core/protocol       files or folders
 *
 * Run without arguments, what stands in HEAVY is run on Bun alone, because the whole must not take long; KAGED_HEAVY=1
 * runs everything everywhere. KAGED_FORBID_SKIP=1 turns a skipped test into a failed one; KAGED_FUZZ_FRAMES=n sets how
 * many frames are fuzzed, KAGED_FUZZ_HTTP=n how many requests.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

interface Run {
  readonly runtime: string;
  readonly output: string;
  readonly passed: number;
  readonly failed: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runtime: { type: "string", multiple: true }, filter: { type: "string" } },
});
const bin = (name: string) => join(process.cwd(), "node_modules/.bin", name);
const paths = positionals.length > 0 ? positionals : ["tests"];
const scratch = await mkdtemp(join(tmpdir(), "kaged-test-"));
const skipReport = join(scratch, "skips.jsonl");

async function testFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => null);
  if (!found) {
    console.error(`error: There is no ${path}`);
    process.exit(2);
  }
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries.filter((entry) => entry.endsWith("_test.ts")).map((entry) => `./${join(path, entry)}`).sort();
}

const files = (await Promise.all(paths.map(testFiles))).flat();
const filter = values.filter;

/** Costly, and the least about a runtime: each has lighter tests of the same rooms beside it that run on all three. */
const HEAVY = [
  "./tests/cli/hook", // Commands over rooms whose own tests run everywhere.
  "./tests/cli/host_commands_test.ts",
  "./tests/cli/plugin_",
  "./tests/console/", // A browser in front of the API that tests/core/http asks directly.
  "./tests/core/cage/escapes_", // Walls of the kernel, whoever asked for them.
  "./tests/core/conformance/check_conformance_test.ts",
  "./tests/core/install/killed_test.ts",
  "./tests/core/manifest/hostile_manifest_test.ts",
  "./tests/core/spec/emit/", // Compilers of other languages.
  "./tests/docs/docs_", // Programs and commands of the guides.
  "./tests/docs/readme_test.ts",
  "./tests/examples/agent_test.ts",
  "./tests/sdk/python",
];
const isLight = positionals.length === 0 && !values.runtime && process.env["KAGED_HEAVY"] !== "1";
const filesOf = (runtime: string): string[] =>
  isLight && runtime !== "bun" ? files.filter((file) => !HEAVY.some((start) => file.startsWith(start))) : files;

const runtimes = values.runtime ?? ["node", "deno", "bun"];
/** Runs under way at once: twice as many as processors, because tests also wait. */
const AT_ONCE = 2 * availableParallelism();
/** Files of one run: few enough that none is left alone at the end, enough that starting costs little. */
const BATCH = 12;

/** The command that runs these files on a runtime, one after the other. */
const commands: Record<string, (files: readonly string[]) => string[]> = {
  node: (files) => [
    bin("node"),
    "--test",
    "--test-concurrency=1",
    "--test-timeout=120000",
    "--test-reporter=spec",
    ...(filter ? [`--test-name-pattern=${filter}`] : []),
    ...files,
  ],
  deno: (files) => [
    bin("deno"),
    "test",
    "-A",
    "--no-check",
    "--parallel",
    "--quiet",
    ...(filter ? ["--filter", filter] : []),
    ...files,
  ],
  bun: (files) => [
    bin("bun"),
    "test",
    "--parallel=1",
    "--timeout=120000",
    ...(filter ? ["-t", filter, "--pass-with-no-tests"] : []),
    ...files,
  ],
};

/** Adds up the numbers that stand before or after a word in the runner's closing lines. */
function count(output: string, pattern: RegExp): number {
  let sum = 0;
  for (const match of output.matchAll(pattern)) sum += Number(match[1]);
  return sum;
}

const progress: Record<string, number> = {};

/** Shows on a terminal how many tests have passed so far: the whole suite takes minutes. */
function showProgress(runtime: string, text: string): void {
  if (!process.stdout.isTTY) return;
  progress[runtime] = (progress[runtime] ?? 0) + [...text.matchAll(/✔|\bok \(|\(pass\)/g)].length;
  const counts = Object.entries(progress).map(([name, passed]) => `${name} ${passed}`);
  process.stdout.write(`\r\x1b[Kpassed so far: ${counts.join(", ")}`);
}

// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[0-9;]*m/g;

function run(runtime: string, files: readonly string[]): Promise<Run> {
  const [file, ...args] = commands[runtime]!(files);
  const env = {
    // Compiled code is kept, also for the hundreds of commands that the tests start.
    NODE_COMPILE_CACHE: join(process.cwd(), "node_modules/.cache/kaged"),
    DENO_DIR: join(process.cwd(), "node_modules/.cache/deno"),
    ...process.env,
    KAGED_SKIP_REPORT: skipReport,
    DENO_JOBS: "1",
    NO_COLOR: "1",
  };
  const child = spawn(file!, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Uint8Array[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk);
      showProgress(runtime, new TextDecoder().decode(chunk));
    });
  }
  return new Promise((resolve) => {
    const done = (code: number) => {
      const output = new TextDecoder().decode(Buffer.concat(chunks)).replace(COLOUR, "");
      const patterns: Record<string, [RegExp, RegExp]> = {
        node: [/^ℹ pass (\d+)$/gm, /^ℹ (?:fail|cancelled) (\d+)$/gm],
        deno: [/(\d+) passed/g, /(\d+) failed/g],
        bun: [/^\s*(\d+) pass$/gm, /^\s*(\d+) (?:fail|error|errors)$/gm],
      };
      const [pass, fail] = patterns[runtime]!;
      const passed = count(output, pass);
      let failed = count(output, fail);
      if (failed === 0 && (code !== 0 || (passed === 0 && !filter))) failed = 1;
      resolve({ runtime, output, passed, failed });
    };
    child.on("error", () => done(127));
    child.on("close", (code) => done(code ?? 1));
  });
}

/** Runs every file on every runtime, in batches that take turns, and adds up what those of a runtime say. */
async function runAll(): Promise<Run[]> {
  const waiting: { readonly runtime: string; readonly batch: readonly string[] }[] = [];
  for (let at = 0; at < files.length; at += BATCH) {
    for (const runtime of runtimes) {
      const batch = filesOf(runtime).slice(at, at + BATCH);
      if (batch.length > 0) waiting.push({ runtime, batch });
    }
  }
  // The packages come last by name and wait for the registry: they start first, while others work.
  waiting.reverse();
  const ended: Run[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) ended.push(await run(next.runtime, next.batch));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return runtimes.map((runtime) => sumOf(runtime, ended.filter((each) => each.runtime === runtime)));
}

function sumOf(runtime: string, runs: readonly Run[]): Run {
  const sum = (of: (run: Run) => number): number => runs.reduce((total, each) => total + of(each), 0);
  const passed = sum((run) => run.passed);
  // Where nothing passed, nothing was shown: a filter that fits no test is a mistake.
  const failed = sum((run) => run.failed) || (passed === 0 ? 1 : 0);
  const output = runs.filter((run) => run.failed > 0 || passed === 0).map((run) => run.output).join("\n");
  return { runtime, output, passed, failed };
}

async function skips(): Promise<string[]> {
  const text = await readFile(skipReport, "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

try {
  if (files.length === 0) throw new Error(`No test file under ${paths.join(", ")}`);
  for (const name of runtimes) if (!commands[name]) throw new Error(`Unknown runtime "${name}"`);
  const runs = await runAll();
  if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
  for (const { runtime, output } of runs.filter((each) => each.failed > 0)) {
    console.log(`──── ${runtime} ────\n${output}`);
  }
  const skipped = await skips();
  for (const line of skipped) {
    const { runtime, test, what, how } = JSON.parse(line);
    console.log(`skipped (${runtime}): ${test}: needs ${what}; ${how}`);
  }
  for (const { runtime, passed, failed } of runs) console.log(`${runtime}: ${passed} passed, ${failed} failed`);
  if (isLight) console.log(`on bun alone: ${HEAVY.join(" ")} (KAGED_HEAVY=1 runs them everywhere)`);
  const total = (key: "passed" | "failed") => runs.reduce((sum, each) => sum + each[key], 0);
  console.log(
    `${total("passed")} passed, ${total("failed")} failed, ${skipped.length} skipped (${
      (performance.now() / 1000).toFixed(0)
    } s)`,
  );
  process.exitCode = total("failed") > 0 ? 1 : 0;
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  process.exitCode = 2;
} finally {
  await rm(scratch, { recursive: true, force: true });
}
