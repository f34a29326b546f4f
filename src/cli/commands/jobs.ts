/**
 * `kaged jobs`: background jobs of every scope, their results, and an end to those that run.
 *
 * @module
 */
import { type Command, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { defined } from "../../core/values/plain_data.ts";
import type { Answers, ListedJob } from "../../http/answers.ts";
import { askAbout, withJobs } from "../job_places.ts";
import { operate, type Operator } from "../operator.ts";
import { wholeNumber } from "../options.ts";
import type { Printer, Terminal } from "../terminal.ts";

interface ListFlags {
  readonly scope?: string;
  readonly status?: string;
  readonly agent?: string;
  readonly lines: number;
  readonly cursor?: string;
  readonly project?: string;
}

export function addJobs(kaged: Command, terminal: Terminal): void {
  const jobs = kaged.command("jobs")
    .summary("show background jobs and their results, cancel them")
    .description(
      "Shows the background jobs of every project of the home and of every scope, prints results, cancels jobs.\n" +
        "Jobs of running hosts are asked of the hosts; those of a host that has ended are read from its file.",
    )
    .addHelpText("after", EXAMPLES);
  const list = jobs.command("list")
    .summary("show jobs")
    .description("Shows jobs, the newest last, without their results.")
    .option("--scope <scope>", 'only those of one scope; "" for those without one')
    .addOption(new Option("--status <status>", "only those in this status").choices(STATES))
    .option("--agent <path>", "only those of one agent")
    .option("-n, --lines <count>", "how many of each project", wholeNumber("a number from 1 to 1000", 1, 1000), 50)
    .option("--project <id>", "only those of one project")
    .option("--cursor <cursor>", "go on where the page before ended; with --project");
  operate(list, terminal, listJobs);
  const show = jobs.command("show").summary("show one job").description("Shows the record of a job as JSON.")
    .argument("<id>", "id of the job");
  operate(show, terminal, async (operator: Operator, id: string) => {
    operator.terminal.out.json(await jsonOf(operator, id));
  });
  const result = jobs.command("result").summary("print the result of a job")
    .description("Prints the whole result of a job, however long it is.")
    .argument("<id>", "id of the job");
  operate(result, terminal, printResult);
  const cancel = jobs.command("cancel").summary("cancel a job")
    .description("Cancels a job that waits or runs, and aborts its run.")
    .argument("<id>", "id of the job");
  operate(cancel, terminal, async (operator: Operator, id: string) => {
    await jsonOf(operator, id, { rest: "/cancel", method: "POST" });
    if (operator.json) operator.terminal.out.json({ id, status: "cancelled" });
    else operator.terminal.out.done(`${id} is cancelled`);
  });
}

const STATES = ["queued", "running", "completed", "failed", "cancelled"];

const EXAMPLES = `
Examples:
  kaged jobs list --scope acme --status running
  kaged jobs result job_1 > answer.txt
  kaged jobs cancel job_1`;

async function listJobs(operator: Operator, flags: ListFlags): Promise<void> {
  const { json, terminal: { out, err } } = operator;
  const { scope, status, agent: agentName, lines, cursor, project } = flags;
  if (cursor !== undefined && project === undefined) {
    throw new HostError("host.misuse", "A cursor belongs to one project", { hint: "Add --project <id>" });
  }
  const query = new URLSearchParams({ limit: `${lines}`, ...defined({ scope, status, agentName, cursor }) });
  const pages = await withJobs(operator, project, (places) =>
    Promise.all(places.map(async (place) => {
      const page: Answers["GET /api/v1/jobs"] = await (await place.ask(`/jobs?${query}`)).json();
      return { project: place.project, ...page };
    })));
  const jobs = pages.flatMap(({ project, jobs }) => jobs.map((job) => ({ project, ...job })));
  if (json) return out.json({ jobs, next: Object.fromEntries(pages.map(({ project, next }) => [project, next])) });
  for (const job of jobs) out.line(jobLine(job, out));
  if (jobs.length === 0) err.line("There is no job");
  for (const { project, next } of pages) {
    if (next !== null) err.line(err.paint.dim(`older ones: --project ${project} --cursor ${next}`));
  }
}

function jobLine(job: ListedJob & { readonly project: string }, { paint }: Printer): string {
  const { id, status, agentName, scopeId, project, createdAt, resultAside, errorCode } = job;
  const about = [project, scopeId === undefined ? "no scope" : `scope ${scopeId}`, createdAt];
  const end = resultAside ? [`${resultAside.bytes} bytes`] : errorCode === undefined ? [] : [errorCode];
  return `${id} ${paint.bold(status ?? "")} ${agentName} (${[...about, ...end].join(", ")})`;
}

async function jsonOf(operator: Operator, id: string, how: Parameters<typeof askAbout>[2] = {}): Promise<unknown> {
  return await withJobs(operator, undefined, async (places) => await (await askAbout(places, id, how)).json());
}

async function printResult(operator: Operator, id: string): Promise<void> {
  const { json, terminal: { out } } = operator;
  await withJobs(operator, undefined, async (places) => {
    const response = await askAbout(places, id, { rest: "/result" });
    if (json) return out.json({ id, result: await response.text() });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + read.value).split("\n");
      rest = lines.pop()!;
      for (const line of lines) out.exact(line);
    }
    if (rest !== "") out.exact(rest);
  });
}
