/**
 * `npm run soak -- [--minutes 10] [--runtime node]`: a long run, with a verdict for each figure.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { soakChart } from "../../scripts/pictures/soak_chart.ts";
import { withSection } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import { countsLine, judgeAll, soakMarkdown, soakName, type SoakResult, soakTable, type Told } from "./soak_report.ts";

const USAGE = `Usage: npm run soak -- [--minutes 10] [--runtime node|deno|bun] [--dry]

Ten plugins under load, half of them started on demand and soon at rest again, with crashes and reloads. Samples
memory, descriptors, processes and disk, and says of each whether it stayed flat; exits with 1 when one did not, or when something failed that should not have. Ctrl-C ends it
early, with a verdict and nothing written.

  --minutes   how long (default 10)
  --runtime   what the host runs on (default node)
  --dry       do not write bench/results/soak-<runtime>.json, bench/RESULTS.md and docs/img/soak-<runtime>.svg
`;

/** How the host says that it has ended. */
interface Ended {
  readonly isWhole: boolean;
  readonly counts: Record<string, number>;
  readonly failures: readonly string[];
  readonly left: number;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const options = {
    minutes: { type: "string", default: "10" },
    runtime: { type: "string", default: "node" },
    dry: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  } as const;
  const { values } = parseArgs({ args, options });
  const minutes = Number(values.minutes);
  const runtime = runtimeCommands().find(({ name }) => name === values.runtime);
  if (values.help || !runtime || !(minutes > 0)) {
    console[values.help ? "log" : "error"](USAGE);
    return values.help ? 0 : 2;
  }
  const { told, ended, code } = await runHost(runtime.file, runtime.args, minutes);
  if (!ended) {
    console.error(`The host ended with code ${code} before it was done`);
    return 1;
  }
  const series = judgeAll(told);
  console.log(`${soakTable(series)}\n\n${countsLine(ended.counts)}.`);
  for (const failure of ended.failures) console.log(`- failed: ${failure}`);
  if (ended.left > 0) console.log(`- ${ended.left} processes were left`);
  const isGood = ended.left === 0 && (ended.counts["lost"] ?? 0) === 0 &&
    series.every(({ isFlat }) => isFlat !== false);
  if (ended.isWhole && !values.dry) {
    keep({ ...about(`${runtime.name} ${runtime.version}`, minutes), counts: ended.counts, series });
  } else if (!ended.isWhole) console.log("Ended early: nothing is written.");
  return isGood ? 0 : 1;
}

/** Runs the host to its end and shows how far it is. */
async function runHost(
  file: string,
  args: readonly string[],
  minutes: number,
): Promise<{ told: Told[]; ended: Ended | null; code: number | null }> {
  const seconds = minutes * 60;
  const program = fileURLToPath(new URL("host.ts", import.meta.url));
  const period = Math.min(8, Math.max(2, seconds / 75));
  // A group of its own: Ctrl-C reaches this program, which tells the host once.
  const stdio = ["ignore", "pipe", "inherit"] as ["ignore", "pipe", "inherit"];
  const child = spawn(file, [...args, program, String(seconds), String(period)], { stdio, detached: true });
  const interrupt = (): void => void child.kill("SIGINT");
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, interrupt);
  const told: Told[] = [];
  let ended: Ended | null = null;
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as (Told & { counts: Record<string, number> }) | (Ended & { done: true });
    if ("done" in said) ended = said;
    else {
      told.push(said);
      progress(said, seconds);
    }
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt);
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  const code = child.exitCode ?? await new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { told, ended, code };
}

function progress({ t, figures, counts }: Told & { counts: Record<string, number> }, seconds: number): void {
  const { host = 0, heap = 0, children = 0, descriptors, processes, disk = 0 } = figures;
  const share = Math.min(100, Math.round(t / seconds * 100));
  const text =
    `${String(share).padStart(3)} %  host ${host.toFixed(0)} MiB, heap ${heap.toFixed(1)}  children ${
      children.toFixed(0)
    } MiB  ` +
    `${descriptors} descriptors  ${processes} processes  disk ${disk.toFixed(1)} MiB  ` +
    `${counts["calls"]} calls  ${counts["crashes"]} crashes  ${counts["reloads"]} reloads  ` +
    `${counts["wakes"]} wakes  ${counts["rests"]} rests  ${counts["lost"]} lost`;
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}

function about(
  runtime: string,
  minutes: number,
): Pick<SoakResult, "name" | "date" | "machine" | "runtime" | "minutes"> {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, load average ${loadavg()[2]!.toFixed(1)}`;
  return { name: "soak", date: new Date().toISOString().slice(0, 10), machine, runtime, minutes };
}

/** Writes a run to RESULTS.md, as JSON, and as a chart. */
function keep(result: SoakResult): void {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const name = soakName(result);
  const results = path("../RESULTS.md");
  mkdirSync(path("../results"), { recursive: true });
  writeFileSync(path(`../results/${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  const former = existsSync(results) ? readFileSync(results, "utf8") : "";
  writeFileSync(results, withSection(former, name, soakMarkdown(result)));
  writeFileSync(path(`../../docs/img/${name}.svg`), soakChart(result));
}
