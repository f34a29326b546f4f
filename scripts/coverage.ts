/**
 * How much of src/core the tests reach, on Node.
 *
 *   npm run coverage                        run the suite, print the table, write docs/coverage.md
 *   npm run coverage -- tests/core/cage     only these tests; writes nothing
 *
 * What child processes of the tests run (the command, the storage process) is not counted.
 */
import { spawn } from "node:child_process";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { coverageOf, type FileCoverage } from "./coverage_report/read_lcov.ts";
import { coverageTable } from "./coverage_report/coverage_table.ts";

const paths = process.argv.slice(2);

async function testFiles(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries.filter((entry) => entry.endsWith("_test.ts")).map((entry) => join(path, entry)).sort();
}

async function measure(files: readonly string[]): Promise<{ code: number; lcov: string }> {
  const args = [
    "--test",
    "--experimental-test-coverage",
    "--test-coverage-include=src/core/**",
    "--test-coverage-exclude=src/core/**/generated/**",
    "--test-concurrency=2",
    "--test-reporter=lcov",
    "--test-reporter-destination=stdout",
    "--test-reporter=./scripts/coverage_report/failures_reporter.ts",
    "--test-reporter-destination=stderr",
    ...files,
  ];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const decoder = new TextDecoder();
  let lcov = "";
  child.stdout.on("data", (chunk: Uint8Array) => lcov += decoder.decode(chunk, { stream: true }));
  return await new Promise((resolve) => child.on("close", (code) => resolve({ code: code ?? 1, lcov })));
}

const roots = paths.length > 0 ? paths : ["tests/core", "tests/adapters", "tests/addons", "tests/mcp", "tests/plugins"];
const files = (await Promise.all(roots.map(testFiles))).flat();
const { code, lcov } = await measure(files);
const covered: FileCoverage[] = coverageOf(lcov);
const table = coverageTable(covered);
console.log(table);
if (paths.length === 0) {
  const head =
    "# Coverage of the core\n\nWritten by `npm run coverage` (Node, tests of the core and what stands on it).\n";
  await writeFile("docs/coverage.md", `${head}\n${table}\n`);
}
process.exitCode = code;
