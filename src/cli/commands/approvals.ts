/**
 * `kaged approvals`: calls of tools that wait for a person, and the person's answers.
 *
 * @module
 */
import { type Command, Option } from "commander";
import type { ApprovalAnswer, ApprovalScope } from "../../core/approvals/types.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { defined, isMap } from "../../core/values/plain_data.ts";
import { type DeskOfProject, deskWith, type RequestQuery, withDesks } from "../approval_desks.ts";
import { answerRequests } from "../answer_requests.ts";
import { operate, type Operator } from "../operator.ts";
import { wholeNumber } from "../options.ts";
import { printRequest, requestLine } from "../print_request.ts";
import type { Terminal } from "../terminal.ts";

interface ListFlags {
  readonly state: RequestQuery["state"];
  readonly lines: number;
  readonly cursor?: string;
  readonly project?: string;
}

interface AnswerFlags {
  readonly scope?: ApprovalScope;
  readonly reason?: string;
  readonly arguments?: string;
  readonly content?: string;
}

/** Exit code of an answer that came too late: somebody else was first, or nobody waits any more. */
const TOO_LATE = 3;
const AGAIN = "the job that asked takes the answer when it is run again";
const NO_JOB = "if the program that asked has ended, nobody takes the answer";

/** Adds the command; `exit` takes the exit code of one that came to its end. */
export function addApprovals(kaged: Command, terminal: Terminal, exit: (code: number) => void): void {
  const approvals = kaged.command("approvals")
    .summary("answer calls that wait for a person")
    .description(
      "Shows calls of tools that wait for a person's yes, one by one as they come, and takes the answers.\n" +
        "Ends with Ctrl-C. For scripts there are list, show, allow and deny.",
    )
    .addHelpText("after", EXAMPLES);
  operate(approvals, terminal, (operator) => answerRequests(operator));
  const list = approvals.command("list")
    .summary("show the requests")
    .description("Shows the requests of every project of the home, the newest first.")
    .addOption(
      new Option("--state <state>", "which of them").choices(["waiting", "ended", "all"]).default("waiting"),
    )
    .option("-n, --lines <count>", "how many of each project", wholeNumber("a number from 1 to 500", 1, 500), 50)
    .option("--project <id>", "only those of one project")
    .option("--cursor <cursor>", "go on where the page before ended; with --project");
  operate(list, terminal, listRequests);
  const show = approvals.command("show")
    .summary("show a request whole")
    .description("Shows a request with all of its arguments.")
    .argument("<id>", "id of the request");
  operate(show, terminal, showRequest);
  addAnswers(approvals, terminal, exit);
  const standing = approvals.command("standing")
    .summary("show answers that hold for later calls")
    .description("Shows answers for a session, and those that were given for good to a hook or a project's rule.");
  operate(standing, terminal, listStanding);
  const revoke = approvals.command("revoke")
    .summary("take such an answer back")
    .description("Takes an answer back that holds for later calls: they are asked again.")
    .argument("<id>", "id of the answer");
  operate(revoke, terminal, revokeAnswer);
}

const EXAMPLES = `
Examples:
  kaged approvals
  kaged approvals list --json | jq -r '.approvals[].id'
  kaged approvals allow apr_1 --scope session
  kaged approvals deny apr_1 --reason 'Ask Ann first'
  kaged approvals allow apr_1 --arguments '{"to": "ann@example.org"}'
  kaged approvals allow apr_2 --content '{"email": "ann@example.org"}'
Exit codes of allow and deny: 0 the answer counts, 3 too late (answered, run out or withdrawn), 1 failed.`;

function addAnswers(approvals: Command, terminal: Terminal, exit: (code: number) => void): void {
  for (const decision of ["allow", "deny"] as const) {
    const command = approvals.command(decision)
      .summary(decision === "allow" ? "let a call go on" : "refuse a call")
      .description(
        decision === "allow"
          ? "Lets a call that waits go on, with its own arguments or with others."
          : "Refuses a call that waits. The reason reaches the model.",
      )
      .argument("<id>", "id of the request")
      .addOption(
        new Option("--scope <scope>", "for this call, for this tool until the session ends, or from now on")
          .choices(["once", "session", "always"]),
      )
      .option("--reason <text>", decision === "deny" ? "why, for the model" : "why, for the audit");
    if (decision === "allow") {
      command.option("--arguments <json>", "call the tool with these instead")
        .option("--content <json>", "fill in the form of an MCP server");
    }
    operate(command, terminal, async (operator: Operator, id: string, flags: AnswerFlags) => {
      exit(await answerOne(operator, id, decision, flags));
    });
  }
}

async function listRequests(operator: Operator, { state, lines: limit, cursor, project }: ListFlags): Promise<void> {
  const { json, terminal: { out, err } } = operator;
  if (cursor !== undefined && project === undefined) {
    throw new HostError("host.misuse", "A cursor belongs to one project", { hint: "Add --project <id>" });
  }
  const query = { state, limit, ...defined({ cursor }) };
  const pages = await withDesks(operator, project, (desks) => everyPage(desks, query));
  const approvals = pages.flatMap((page) => page.approvals);
  const next = Object.fromEntries(pages.map(({ project, next }) => [project, next]));
  if (json) return out.json({ approvals, next });
  for (const request of approvals) out.line(requestLine(request, out, operator.runtime.clock.now()));
  if (approvals.length === 0) err.line(state === "waiting" ? "No call waits for a person" : "There is no request");
  for (const { project, next } of pages) {
    if (next !== null) err.line(err.paint.dim(`older ones: --project ${project} --cursor ${next}`));
  }
}

function everyPage(desks: readonly DeskOfProject[], query: RequestQuery) {
  return Promise.all(desks.map(async (desk) => ({ project: desk.project, ...await desk.list(query) })));
}

async function showRequest(operator: Operator, id: string): Promise<void> {
  const { json, terminal: { out } } = operator;
  const { request } = await withDesks(operator, undefined, (desks) => deskWith(desks, id));
  if (json) return out.json(request);
  printRequest(request, out, operator.runtime.clock.now(), { isWhole: true });
}

async function answerOne(
  operator: Operator,
  id: string,
  decision: ApprovalAnswer["decision"],
  { scope, reason, arguments: edited, content }: AnswerFlags,
): Promise<number> {
  const { json, terminal: { out, err } } = operator;
  const answer = {
    decision,
    ...defined({
      scope,
      reason,
      arguments: objectIn(edited, "--arguments", "Write the whole arguments of the call"),
      content: objectIn(content, "--content", "Write the fields of the form with their values"),
    }),
  };
  try {
    const { done, isLive } = await withDesks(operator, undefined, async (desks) => {
      const { desk } = await deskWith(desks, id);
      return { done: await desk.answer(id, answer), isLive: desk.isLive };
    });
    if (json) out.json(done);
    else out.done(`${decision === "allow" ? "Allowed" : "Denied"} ${done.tool} of ${done.agent_path}`);
    if (!isLive) err.warning(`No host of the project can be reached: ${done.job_id === null ? NO_JOB : AGAIN}`);
    return 0;
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== "approval.ended") throw error;
    if (json) out.json({ error: { code: error.code, message: error.message, data: error.data } });
    else err.line(`${err.paint.red("error")}[${error.code}]: ${error.message}`);
    return TOO_LATE;
  }
}

function objectIn(text: string | undefined, flag: string, hint: string): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isMap(value)) return value;
  } catch {
    // Said below.
  }
  throw new HostError("host.misuse", `${flag} is no JSON object`, {
    hint: `${hint}, such as '{"to": "ann@example.org"}'`,
  });
}

async function listStanding(operator: Operator): Promise<void> {
  const { json, terminal: { out, err } } = operator;
  const answers = await withDesks(operator, undefined, async (desks) => {
    return (await Promise.all(desks.map((desk) => desk.standing()))).flat();
  });
  if (json) return out.json({ answers });
  for (const { id, decision, tool, plugin, agent_path, project_id, source, session_id, reason } of answers) {
    const until = session_id === null ? "always" : `session ${session_id}`;
    const why = reason === null ? "" : `: ${reason}`;
    out.line(
      `${id} ${out.paint.bold(decision)} ${plugin === null ? "" : `${plugin}, `}${tool} of ${agent_path} ` +
        `(${project_id}), asked by ${source.id}, ${until}${out.paint.dim(why)}`,
    );
  }
  if (answers.length === 0) err.line("No answer holds for later calls");
}

async function revokeAnswer(operator: Operator, id: string): Promise<void> {
  const { json, terminal: { out } } = operator;
  const isDone = await withDesks(operator, undefined, async (desks) => {
    for (const desk of desks) if (await desk.revoke(id)) return true;
    return false;
  });
  if (!isDone) {
    throw new HostError("approval.unknown", `There is no standing answer "${id}"`, {
      data: { id },
      hint: "List them: kaged approvals standing",
    });
  }
  if (json) out.json({ id, revoked: true });
  else out.done(`Revoked ${id}: such calls are asked again`);
}
