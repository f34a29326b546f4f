/**
 * What a benchmark reports, as a table for the terminal and as `RESULTS.md`.
 *
 * @module
 */

/** How a benchmark is run. */
export interface BenchOptions {
  /** Whether it must end soon. */
  readonly quick: boolean;
  /** Tells how far it is. */
  readonly say: (text: string) => void;
}

/** One measured case on one runtime. */
export interface BenchRow {
  /** Runtime of the host. */
  readonly runtime: string;
  /** What was measured. */
  readonly case: string;
  /** In which unit. */
  readonly unit: string;
  /** Which way is better. */
  readonly better: "higher" | "lower";
  /** Our figure. */
  readonly ours: number;
  /** Our figure divided by the peer's, for each peer. */
  readonly peers: Readonly<Record<string, number>>;
}

/** A whole run. */
export interface BenchReport {
  /** Which benchmark. */
  readonly name: string;
  /** Its figures. */
  readonly rows: readonly BenchRow[];
  /** Median ratio of one thing measured twice: 1 without noise. */
  readonly control: number;
  /** Versions of the runtimes. */
  readonly versions: Readonly<Record<string, string>>;
}

/** A run as it is kept in `bench/results/<name>.json`. */
export interface KeptReport extends Omit<BenchReport, "control"> {
  /** Null when nothing was measured twice. */
  readonly control: number | null;
  /** Day of the run. */
  readonly date: string;
  /** Processors and load of the machine. */
  readonly machine: string;
  /** What was wanted, and whether each runtime has it. */
  readonly goals: readonly {
    readonly text: string;
    readonly values: Readonly<Record<string, number>>;
    readonly met: readonly string[];
  }[];
}

/** When and where a run was made. */
export interface RunPlace {
  readonly date: string;
  readonly machine: string;
}

/** What is wanted of a ratio or a figure. */
export interface Goal {
  /** The goal in words. */
  readonly text: string;
  /** The measured value per runtime, as far as it was measured. */
  readonly values: Readonly<Record<string, number>>;
  /** Whether a value meets the goal. */
  readonly isMet: (value: number) => boolean;
}

const number = (value: number): string => value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2);

/** Returns the report as a Markdown table. */
export function tableOf({ rows }: BenchReport): string {
  const peers = [...new Set(rows.flatMap((row) => Object.keys(row.peers)))];
  const head = ["case", "host on", "ours", ...peers.map((peer) => `÷ ${peer}`)];
  const body = [...new Set(rows.map((row) => row.case))].flatMap((name) => rows.filter((row) => row.case === name))
    .map((row) => [
      row.case,
      row.runtime,
      `${number(row.ours)} ${row.unit}`,
      ...peers.map((peer) => peer in row.peers ? row.peers[peer]!.toFixed(2) : ""),
    ]);
  const widths = head.map((_, at) => Math.max(...[head, ...body].map((cells) => cells[at]!.length)));
  const line = (cells: string[]): string => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

/** Returns one line per goal: met, missed, or not measured. */
export function goalLines(goals: readonly Goal[]): string {
  return goals.map(({ text, values, isMet }) => {
    const seen = Object.entries(values).map(([runtime, value]) => {
      return `${runtime} ${number(value)}${isMet(value) ? "" : " (missed)"}`;
    });
    return `- ${text}: ${seen.join(", ") || "not measured"}`;
  }).join("\n");
}

/** Returns a run as it is kept. */
export function keptReport(report: BenchReport, goals: readonly Goal[], place: RunPlace): KeptReport {
  const { name, rows, versions, control } = report;
  return {
    ...{ name, ...place, versions, control: Number.isFinite(control) ? control : null, rows },
    goals: goals.map(({ text, values, isMet }) => ({
      text,
      values,
      met: Object.entries(values).filter(([, value]) => isMet(value)).map(([runtime]) => runtime),
    })),
  };
}

/** Returns `RESULTS.md`. */
export function resultsMarkdown(report: BenchReport, goals: readonly Goal[], { date, machine }: RunPlace): string {
  const versions = Object.entries(report.versions).map(([name, version]) => `${name} ${version}`).join(", ");
  return `# Benchmark results

Written by \`npm run bench -- <name> --write\`; figures are what that run measured.

## ${report.name}

${date}, ${machine}, ${versions}. ${isCompared(report) ? comparison(report) : "Nothing stands beside these figures."}

${tableOf(report)}

### Goals

${goalLines(goals)}
`;
}

function comparison({ name, control }: BenchReport): string {
  const noise = Number.isFinite(control) ? ` Median of that noise in this run: ${control.toFixed(2)}.` : "";
  return `Best of interleaved rounds. \`÷ peer\` is our figure divided by the peer's: more than
1 is better for rates, less than 1 for times and memory. \`… again\` is that peer measured a second time: where its
two columns differ, the difference is noise.${noise}

![ours beside its peers](../docs/img/bench-${name}.svg)`;
}

/** Whether a case was measured beside a peer, so that a chart has something to show. */
export function isCompared({ rows }: Pick<BenchReport, "rows">): boolean {
  return rows.some(({ peers }) => Object.entries(peers).some(([peer, ratio]) => !isControl(peer) && isRatio(ratio)));
}

/** Whether a peer is one that was measured a second time. */
export function isControl(peer: string): boolean {
  return /(^| )again$/.test(peer);
}

/** Whether a ratio was measured. */
export function isRatio(value: number | null | undefined): value is number {
  return Number.isFinite(value) && value! > 0;
}

/** Returns `results` with the section of one benchmark put in place of its former one, the other sections kept. */
export function withSection(results: string, name: string, markdown: string): string {
  const sections = (text: string): string[] =>
    text.split(/^(?=## )/m).slice(1).map((section) => `${section.trimEnd()}\n`);
  const [fresh = ""] = sections(markdown);
  const kept = sections(results).filter((section) => !section.startsWith(`## ${name}\n`));
  const head = markdown.slice(0, markdown.indexOf("## "));
  return head + [...kept, fresh].sort().reverse().join("\n");
}
