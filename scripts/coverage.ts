/**
 * Measures how much of the core, and of the rooms that stand on it alone, their own tests reach, on Node.
 *
 *   npm run coverage                        run the tests of these rooms, print the table, write docs/coverage.md
 *   npm run coverage -- tests/core/cage     only these tests; writes nothing
 *
 * Code that child processes of the tests run (the command, the storage process) is not counted. A file that no test loads
 * counts with all its lines. Takes some minutes, and gives up after 30.
 */
import { spawn } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { coverageOf } from "./coverage_report/read_lcov.ts";
import { coverageTable } from "./coverage_report/coverage_table.ts";
import { unloadedFiles } from "./coverage_report/unloaded_files.ts";

const LIMIT_MS = 30 * 60_000;
/** Folders of src, with tests in the folder of the same name: every room without a runtime or a terminal of its own. */
const ROOMS = "core addons events hooks hookspec host http jobs mcp operator otel packages".split(" ");

async function filesUnder(path: string, ending: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries.filter((entry) => entry.endsWith(ending)).map((entry) => join(path, entry)).sort();
}

async function measure(files: readonly string[]): Promise<{ code: number; lcov: string }> {
  const args = [
    "--test",
    "--experimental-test-coverage",
    ...ROOMS.map((room) => `--test-coverage-include=src/${room}/**`),
    "--test-coverage-exclude=src/**/generated/**",
    "--test-concurrency=2",
    "--test-timeout=180000",
    "--test-reporter=lcov",
    "--test-reporter-destination=stdout",
    "--test-reporter=./scripts/coverage_report/failures_reporter.ts",
    "--test-reporter-destination=stderr",
    ...files,
  ];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"], timeout: LIMIT_MS });
  const decoder = new TextDecoder();
  let lcov = "";
  child.stdout.on("data", (chunk: Uint8Array) => lcov += decoder.decode(chunk, { stream: true }));
  return await new Promise((resolve) => child.on("close", (code) => resolve({ code: code ?? 1, lcov })));
}

const paths = process.argv.slice(2);
const isWhole = paths.length === 0;
const given = isWhole ? ROOMS.map((room) => `tests/${room}`) : paths;
const tests = (await Promise.all(given.map((path) => filesUnder(path, "_test.ts")))).flat();
const { code, lcov } = await measure(tests);
const loaded = coverageOf(lcov);
const files = (await Promise.all(ROOMS.map((room) => filesUnder(`src/${room}`, ".ts")))).flat();
const sources = await Promise.all(files.map(async (path) => ({ path, text: await readFile(path, "utf8") })));
const table = coverageTable(isWhole ? [...loaded, ...unloadedFiles(sources, loaded)] : loaded);
console.log(table);
if (code !== 0) {
  console.error(
    lcov === ""
      ? `error: nothing was measured: the tests did not end within ${LIMIT_MS / 60_000} minutes`
      : "error: tests failed (see above), so docs/coverage.md was left as it is",
  );
} else if (isWhole) {
  const head =
    `# Coverage\n\nWritten by \`npm run coverage\`: lines and branches of the core, and of the rooms around it that know no runtime, that their own tests reach on Node.\n`;
  await writeFile("docs/coverage.md", `${head}\n${table}\n`);
}
process.exitCode = code;
