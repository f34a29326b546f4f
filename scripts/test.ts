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
  readonly code: number;
  readonly output: string;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
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
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries.filter((entry) => entry.endsWith("_test.ts")).map((entry) => `./${join(path, entry)}`).sort();
}

/** The tests of packages come first: they wait for the registry while others work. */
const files = (await Promise.all(paths.map(testFiles))).flat()
  .sort((a, b) => Number(b.startsWith("./tests/package/")) - Number(a.startsWith("./tests/package/")));
const filter = values.filter;

/** Costly, and the least about a runtime: each has lighter tests of the same rooms beside it that run on all three. */
const HEAVY = [
  "./tests/console/", // A browser in front of the API that tests/core/http asks directly.
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
/** Files under way on each runtime: in all half as many again as there are processors, because tests also wait. */
const jobs = String(Math.max(1, Math.round(availableParallelism() * 1.5 / runtimes.length)));
const commands: Record<string, string[]> = {
  node: [
    bin("node"),
    "--test",
    `--test-concurrency=${jobs}`,
    "--test-timeout=120000",
    "--test-reporter=spec",
    ...(filter ? [`--test-name-pattern=${filter}`] : []),
    ...filesOf("node"),
  ],
  deno: [
    bin("deno"),
    "test",
    "-A",
    "--no-check",
    "--parallel",
    "--quiet",
    ...(filter ? ["--filter", filter] : []),
    ...filesOf("deno"),
  ],
  bun: [
    bin("bun"),
    "test",
    `--parallel=${jobs}`,
    "--timeout=120000",
    ...(filter ? ["-t", filter] : []),
    ...filesOf("bun"),
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

function run(runtime: string): Promise<Run> {
  const [file, ...args] = commands[runtime]!;
  const started = performance.now();
  const env = {
    // Compiled code is kept, also for the hundreds of commands that the tests start.
    NODE_COMPILE_CACHE: join(process.cwd(), "node_modules/.cache/kaged"),
    DENO_DIR: join(process.cwd(), "node_modules/.cache/deno"),
    ...process.env,
    KAGED_SKIP_REPORT: skipReport,
    DENO_JOBS: jobs,
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
      if (failed === 0 && (code !== 0 || passed === 0)) failed = 1;
      resolve({ runtime, code, output, passed, failed, seconds: (performance.now() - started) / 1000 });
    };
    child.on("error", () => done(127));
    child.on("close", (code) => done(code ?? 1));
  });
}

async function skips(): Promise<string[]> {
  const text = await readFile(skipReport, "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

try {
  if (files.length === 0) throw new Error(`No test file under ${paths.join(", ")}`);
  for (const name of runtimes) if (!commands[name]) throw new Error(`Unknown runtime "${name}"`);
  const runs = await Promise.all(runtimes.map(run));
  if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
  for (const { runtime, output } of runs.filter((each) => each.failed > 0)) {
    console.log(`──── ${runtime} ────\n${output}`);
  }
  const skipped = await skips();
  for (const line of skipped) {
    const { runtime, test, what, how } = JSON.parse(line);
    console.log(`skipped (${runtime}): ${test}: needs ${what}; ${how}`);
  }
  for (const { runtime, passed, failed, seconds } of runs) {
    console.log(`${runtime}: ${passed} passed, ${failed} failed (${seconds.toFixed(1)} s)`);
  }
  if (isLight) console.log(`on bun alone: ${HEAVY.join(" ")} (KAGED_HEAVY=1 runs them everywhere)`);
  const total = (key: "passed" | "failed") => runs.reduce((sum, each) => sum + each[key], 0);
  console.log(`${total("passed")} passed, ${total("failed")} failed, ${skipped.length} skipped`);
  process.exitCode = total("failed") > 0 ? 1 : 0;
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  process.exitCode = 2;
} finally {
  await rm(scratch, { recursive: true, force: true });
}
