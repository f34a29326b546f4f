/**
 * Runs a batch of test files on its runtime, and reads what the runner says.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve as absolute } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Batch } from "./plan.ts";

/** The outcome of a batch, as its runner printed it. */
export interface BatchRun {
  readonly runtime: string;
  /** Standard output and errors of the runner, without colours. */
  readonly output: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Names of the tests that failed, as far as the runner printed them. */
  readonly failures: readonly string[];
  readonly lacks: readonly Lack[];
}

/** Something that a test needed and the machine does not have, as `tests/support/require_or_skip.ts` writes it. */
export interface Lack {
  readonly test: string;
  readonly what: string;
  /** How to get it. */
  readonly how: string;
  /** Whether the test ran without it; otherwise it was skipped. */
  readonly isPart: boolean;
}

/** How a batch is run. */
export interface BatchOptions {
  /** Only tests whose name matches. */
  readonly filter?: string | undefined;
  /** Folder for files that the run writes. */
  readonly scratch: string;
  /** Gets the runner's output as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** After this a batch is ended: a file that hangs outside of its tests would hold up the suite for ever. */
const PATIENCE_MS = 10 * 60_000;
/** A runner that is asked to end says first what it knows. */
const LAST_WORDS_MS = 5000;

/** How a runtime's runner is called, and what its closing lines look like. */
interface Runner {
  readonly args: (filter: string | undefined) => string[];
  /** Whether it loads the source anew for every file that it is given. */
  readonly isForgetful?: true;
  readonly passed: RegExp;
  readonly failed: RegExp;
  readonly skipped: RegExp;
  /** Whether it counts a test that skips itself as passed. */
  readonly passesSkipped?: true;
  readonly failure: RegExp;
}

/** The runners, one file after the other. */
const RUNNERS: Readonly<Record<string, Runner>> = {
  node: {
    // Not a process for each: starting it, and loading the same modules in it, costs more than most tests.
    args: (filter) => [
      "--test",
      "--test-isolation=none",
      "--test-force-exit", // As the other two do: what a failed test left open would hold up the rest.
      "--test-timeout=120000",
      "--test-reporter=spec",
      ...(filter ? [`--test-name-pattern=${filter}`] : []),
    ],
    passed: /^ℹ pass (\d+)$/gm,
    failed: /^ℹ (?:fail|cancelled) (\d+)$/gm,
    skipped: /^ℹ skipped (\d+)$/gm,
    failure: /^test at .+\n✖ .+(?= \([\d.]+m?s\)$)/gm,
  },
  deno: {
    args: (filter) => [
      "test",
      "-A",
      "--no-check",
      "--quiet",
      "--config=deno.json",
      ...(filter ? ["--filter", filter] : []),
    ],
    isForgetful: true,
    passed: /(\d+) passed/g,
    failed: /(\d+) failed/g,
    skipped: /(\d+) ignored/g,
    passesSkipped: true,
    failure: /^.+ => \.\/.+:\d+:\d+$/gm,
  },
  bun: {
    args: (filter) => ["test", "--timeout=120000", ...(filter ? ["-t", filter, "--pass-with-no-tests"] : [])],
    passed: /^\s*(\d+) pass$/gm,
    failed: /^\s*(\d+) (?:fail|error|errors)$/gm,
    skipped: /^\s*(\d+) skip$/gm,
    failure: /(?<=^\(fail\) ).+?(?=(?: \[[\d.]+m?s\])?$)/gm,
  },
};

/** Names of the runtimes that a suite can be run on. */
export const RUNTIMES: readonly string[] = Object.keys(RUNNERS);

// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[0-9;]*m/g;

/** Runs the files and resolves with the outcome; never rejects. */
export function runBatch({ runtime, files }: Batch, options: BatchOptions): Promise<BatchRun> {
  const { filter, onOutput } = options;
  const scratch = mkdtempSync(join(options.scratch, "batch-"));
  const skipReport = join(scratch, "skips.jsonl");
  const program = join(process.cwd(), "node_modules/.bin", runtime);
  const { args, isForgetful } = RUNNERS[runtime]!;
  const given = isForgetful && files.length > 1 ? [joined(files, scratch)] : files;
  const child = spawn(program, [...args(filter), ...given], {
    env: {
      // Compiled code is kept, also for the hundreds of commands that the tests start.
      NODE_COMPILE_CACHE: join(process.cwd(), "node_modules/.cache/kaged"),
      DENO_DIR: join(process.cwd(), "node_modules/.cache/deno"),
      ...process.env,
      NODE_TEST_CONTEXT: undefined, // A runner inside a test would take itself for that test's child and run nothing.
      KAGED_SKIP_REPORT: skipReport,
      NO_COLOR: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Uint8Array[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk);
      onOutput?.(new TextDecoder().decode(chunk));
    });
  }
  let verdict = "";
  const patience = setTimeout(() => {
    verdict = `\nerror: Ended after ${PATIENCE_MS / 60_000} minutes: ${files.join(" ")}\n`;
    child.kill("SIGTERM");
    setTimeout(() => {
      child.kill("SIGKILL");
      for (const stream of [child.stdout, child.stderr]) stream.destroy(); // Processes that it started may hold them open.
    }, LAST_WORDS_MS).unref();
  }, PATIENCE_MS);
  return new Promise((resolve) => {
    const done = (ended: number | null): void => {
      clearTimeout(patience);
      const code = verdict === "" ? ended : null; // Node exits with 0 after SIGTERM, whatever held it up.
      const output = new TextDecoder().decode(Buffer.concat(chunks)).replace(COLOUR, "") + verdict;
      const lacks = readLacks(skipReport);
      resolve({ runtime, output, ...readOutput(runtime, output, { code, lacks, isFiltered: filter !== undefined }) });
    };
    child.on("error", (error) => {
      verdict = `\nerror: ${error.message}\n`;
      done(null);
    });
    child.on("close", done);
  });
}

/** Writes one file that loads all of them, and returns its path. */
function joined(files: readonly string[], scratch: string): string {
  const path = join(scratch, "all_test.ts");
  writeFileSync(path, files.map((file) => `import "${pathToFileURL(absolute(file))}";\n`).join(""));
  return path;
}

/** Reads a runner's closing lines. One that ended badly, or ran nothing though nothing was filtered, has failed. */
export function readOutput(
  runtime: string,
  output: string,
  { code, lacks = [], isFiltered = false }: {
    readonly code: number | null;
    readonly lacks?: readonly Lack[];
    readonly isFiltered?: boolean;
  },
): Omit<BatchRun, "runtime" | "output"> {
  const runner = RUNNERS[runtime]!;
  const miscounted = runner.passesSkipped ? lacks.filter(({ isPart }) => !isPart).length : 0;
  const passed = sumOf(output, runner.passed) - miscounted;
  const skipped = sumOf(output, runner.skipped) + miscounted;
  const counted = sumOf(output, runner.failed);
  const ranNothing = passed === 0 && skipped === 0 && !isFiltered;
  const failed = counted === 0 && (code !== 0 || ranNothing) ? 1 : counted;
  const failures = failed > 0 ? [...output.matchAll(runner.failure)].map(([text]) => text.replace(/\n✖/, ":")) : [];
  return { passed, failed, skipped, failures: [...new Set(failures)], lacks };
}

/** Returns the lines of a report; none was written where nothing was lacking. */
function readLacks(report: string): Lack[] {
  if (!existsSync(report)) return [];
  return readFileSync(report, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

function sumOf(output: string, pattern: RegExp): number {
  return [...output.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}
