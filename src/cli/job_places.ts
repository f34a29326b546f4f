/**
 * The jobs that a command can reach: those of running hosts, through their sockets, and those whose host is gone, in the
 * file that it has left. Both answer the same requests.
 *
 * @module
 */
import { liveHosts } from "../adapters/shared/live_hosts.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Answers } from "../http/answers.ts";
import type { Problem } from "../http/problem.ts";
import { problemError } from "../http/running_hosts.ts";
import type { Operator } from "./operator.ts";

export interface JobsOfProject {
  readonly project: string;
  /** Sends a request to a path such as `/jobs`. Throws the error that is answered. */
  ask(path: string, method?: string): Promise<Response>;
  close(): Promise<void>;
}

/** Runs `work` with the jobs of every project of the home, or of one, and lets go of them. */
export async function withJobs<T>(
  operator: Operator,
  project: string | undefined,
  work: (places: readonly JobsOfProject[]) => Promise<T>,
): Promise<T> {
  const live = await liveJobs(operator.home);
  const left = await leftJobs(operator, new Set(live.map((place) => place.project)));
  const places = [...live, ...left];
  try {
    return await work(project === undefined ? places : places.filter((place) => place.project === project));
  } finally {
    await Promise.all(places.map((place) => place.close()));
  }
}

/** Asks each project about a job until one knows it. Throws `jobs.unknown`. */
export async function askAbout(
  places: readonly JobsOfProject[],
  id: string,
  { rest = "", method = "GET" }: { readonly rest?: string; readonly method?: string } = {},
): Promise<Response> {
  for (const place of places) {
    try {
      return await place.ask(`/jobs/${encodeURIComponent(id)}${rest}`, method);
    } catch (error) {
      if ((error as { code?: string }).code !== "jobs.unknown") throw error;
    }
  }
  throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id }, hint: "List them: kaged jobs list" });
}

/** Hosts whose program runs agents; the jobs of another one are in its file. */
async function liveJobs(home: string): Promise<JobsOfProject[]> {
  const places = await Promise.all((await liveHosts(home)).map(async (host) => {
    const ask: JobsOfProject["ask"] = (path, method = "GET") =>
      host.request(new Request(`http://kaged/api/v1${path}`, { method })).then(orThrow);
    try {
      const { project: { id } }: Answers["GET /api/v1/host"] = await (await ask("/host")).json();
      await (await ask("/jobs?limit=1&fields=id")).body?.cancel();
      return { project: id, ask, close: () => Promise.resolve() };
    } catch {
      return null;
    }
  }));
  return places.filter((place) => place !== null);
}

async function leftJobs(operator: Operator, live: ReadonlySet<string>): Promise<JobsOfProject[]> {
  const { home, runtime, terminal: { err } } = operator;
  const names = await runtime.files.list(home).catch(() => []);
  const projects = names.flatMap((name) => /^jobs-(.+)\.db$/.exec(name)?.[1] ?? []).filter((id) => !live.has(id));
  const places = await Promise.all(projects.map((project) =>
    leftPlace(project, operator).catch((error) => {
      err.warning(`The jobs of "${project}" cannot be read: ${messageOf(error)}`);
      return null;
    })
  ));
  return places.filter((place) => place !== null);
}

async function leftPlace(project: string, { home, runtime }: Operator): Promise<JobsOfProject> {
  const [{ createJobs }, { sqliteJobs }, { jobRoutes }] = await Promise.all([
    import("../jobs/create_jobs.ts"),
    import("../jobs/sqlite_jobs.ts"),
    import("../http/job_app.ts"),
  ]);
  const backend = sqliteJobs({ path: `${home}/jobs-${project}.db`, ...runtime });
  const jobs = createJobs({ backend, runtime });
  const { fetch } = jobRoutes({ jobs, clock: runtime.clock, operator: () => true });
  const ask: JobsOfProject["ask"] = async (path, method = "GET") => {
    return await orThrow(await fetch(new Request(`http://kaged${path}`, { method })));
  };
  return { project, ask, close: () => jobs.stop() };
}

async function orThrow(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw problemError(await response.json() as Problem);
}
