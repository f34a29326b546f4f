/**
 * The desks that a command can reach: those of running hosts, through their sockets, and those whose host is gone,
 * in the file that it has left.
 *
 * @module
 */
import { type LiveHost, liveHosts } from "../adapters/shared/live_hosts.ts";
import type { ApprovalAnswer } from "../core/approvals/types.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Answers, Approval, StandingAnswer } from "../http/answers.ts";
import type { Problem } from "../http/problem.ts";
import { problemError } from "../http/running_hosts.ts";
import type { Operator } from "./operator.ts";

export interface RequestPage {
  readonly approvals: readonly Approval[];
  readonly next: string | null;
}

/** Which requests are wanted. */
export interface RequestQuery {
  readonly state: "waiting" | "ended" | "all";
  readonly limit: number;
  readonly cursor?: string;
}

export interface DeskOfProject {
  /** Id of the project that it is about. */
  readonly project: string;
  /** Whether its host runs: otherwise the answer waits for it. */
  readonly isLive: boolean;
  list(query: RequestQuery): Promise<RequestPage>;
  /** Returns a request, or null when it is not at this desk. */
  find(id: string): Promise<Approval | null>;
  answer(id: string, answer: ApprovalAnswer): Promise<Approval>;
  standing(): Promise<readonly StandingAnswer[]>;
  /** Takes a standing answer back; false when it is not at this desk. */
  revoke(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Runs `work` with every desk of the home, or with that of one project, and lets go of them. A desk that cannot be opened
 * is left out with a warning, unless `warned` has its project already.
 */
export async function withDesks<T>(
  operator: Operator,
  project: string | undefined,
  work: (desks: readonly DeskOfProject[]) => Promise<T>,
  warned: Set<string> = new Set(),
): Promise<T> {
  const live = (await Promise.all((await liveHosts(operator.home)).map(liveDesk))).filter((desk) => desk !== null);
  const left = await leftDesks(operator, new Set(live.map((desk) => desk.project)), warned);
  const desks = [...live, ...left];
  try {
    return await work(project === undefined ? desks : desks.filter((desk) => desk.project === project));
  } finally {
    await Promise.all(desks.map((desk) => desk.close()));
  }
}

/** Finds the desk that has a request. Throws `approval.unknown`. */
export async function deskWith(
  desks: readonly DeskOfProject[],
  id: string,
): Promise<{ readonly desk: DeskOfProject; readonly request: Approval }> {
  for (const desk of desks) {
    const request = await desk.find(id);
    if (request) return { desk, request };
  }
  throw unknownRequest(id);
}

/** The error of an id that no desk has. */
function unknownRequest(id: string): HostError {
  return new HostError("approval.unknown", `There is no request "${id}"`, {
    data: { id },
    hint: "List them: kaged approvals list",
  });
}

const BY = "command";

async function liveDesk(host: LiveHost): Promise<DeskOfProject | null> {
  const about = await ask<Answers["GET /api/v1/host"]>(host, "/host").catch(() => null);
  if (!about) return null;
  const path = (id: string, rest = ""): string => `/approvals/${encodeURIComponent(id)}${rest}`;
  return {
    project: about.project.id,
    isLive: true,
    list: ({ state, limit, cursor }) => {
      const query = new URLSearchParams({ state, limit: `${limit}`, ...(cursor !== undefined && { cursor }) });
      return ask<RequestPage>(host, `/approvals?${query}`);
    },
    find: (id) => orNull(ask<Approval>(host, path(id))),
    answer: (id, answer) => ask<Approval>(host, path(id, "/answer"), "POST", { ...answer, by: BY }),
    async standing() {
      const all: StandingAnswer[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const page: Answers["GET /api/v1/approvals/answers"] = await ask(host, `/approvals/answers?limit=1000${query}`);
        all.push(...page.answers);
        cursor = page.next;
      }
      return all;
    },
    revoke: async (id) => await orNull(ask(host, path(`answers/${id}`).replace("%2F", "/"), "DELETE")) !== null,
    close: () => Promise.resolve(),
  };
}

/** Desks whose host does not run. An answer is kept, and the job that asked takes it when it is run again. */
async function leftDesks(
  operator: Operator,
  live: ReadonlySet<string>,
  warned: Set<string>,
): Promise<DeskOfProject[]> {
  const { home, runtime, terminal: { err } } = operator;
  const names = await runtime.files.list(home).catch(() => []);
  const projects = names.flatMap((name) => /^jobs-(.+)\.db$/.exec(name)?.[1] ?? []).filter((id) => !live.has(id));
  const desks = await Promise.all(projects.map((project) => {
    return leftDesk(project, operator).catch((error) => {
      if (!warned.has(project)) err.warning(`The requests of "${project}" cannot be read: ${messageOf(error)}`);
      warned.add(project);
      return null;
    });
  }));
  return desks.filter((desk) => desk !== null);
}

async function leftDesk(
  project: string,
  { home, runtime, audit, terminal: { err } }: Operator,
): Promise<DeskOfProject> {
  const [{ Desk }, { openSqliteApprovals }, { approvalJson, standingAnswerJson }] = await Promise.all([
    import("../core/approvals/desk.ts"),
    import("../jobs/sqlite_jobs.ts"),
    import("../http/approval_json.ts"),
  ]);
  const { approvals: store, close } = openSqliteApprovals(`${home}/jobs-${project}.db`, runtime.databases);
  const desk = new Desk({
    projectId: project,
    store: () => store,
    ...runtime,
    audit,
    secrets: { value: (value) => value, text: (text) => text }, // They were masked when the request was kept.
    keepAlways: (_, { kind }) =>
      kind === "hook" || kind === "sampling" ? Promise.resolve(false) : Promise.reject(noHost()),
    onAsk: null,
    warn: (message) => err.warning(message),
  });
  return {
    project,
    isLive: false,
    async list(query) {
      const { items, next } = await desk.list(query);
      return { approvals: items.map(approvalJson), next };
    },
    find: (id) => orNull(desk.get(id).then(approvalJson)),
    answer: async (id, answer) => approvalJson(await desk.answer(id, answer, { by: BY })),
    standing: async () => (await desk.standing()).map(standingAnswerJson),
    revoke: async (id) => await orNull(desk.revoke(id, { by: BY }).then(() => true)) !== null,
    close,
  };
}

function noHost(): HostError {
  return new HostError("approval.answer_invalid", "No host of the project runs, and only one can write the rule");
}

/** Returns null for what is not there. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if ((error as { code?: string }).code === "approval.unknown") return null;
    throw error;
  }
}

/** Asks a host. Throws the error that it answers with. */
async function ask<T>(host: LiveHost, path: string, method = "GET", body?: object): Promise<T> {
  const json = body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await host.request(new Request(`http://kaged/api/v1${path}`, { method, ...json }));
  const answer: T | Problem = await response.json();
  if (response.ok) return answer as T;
  throw problemError(answer as Problem);
}
