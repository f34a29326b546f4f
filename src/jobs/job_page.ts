/**
 * Pages of job records, for stores that have them at hand, and for those that return them all.
 *
 * @module
 */
import { type ForgetRequest, isFinal, type Job, type JobPage } from "./types.ts";

/** Returns the jobs of a page, out of all or of those a store has left; both the oldest first. */
export function pageOf(jobs: readonly Job[], { status, agentName, limit = Infinity, before }: JobPage): Job[] {
  const end = jobs.findIndex(({ id }) => id === before);
  const wanted = (end < 0 ? jobs : jobs.slice(0, end)).filter((job) =>
    (status === undefined || job.status === status) && (agentName === undefined || job.agentName === agentName)
  );
  return wanted.slice(Math.max(0, wanted.length - limit));
}

/** Returns the finished jobs to be forgotten now, the first that ended first. */
export function forgettable(
  jobs: readonly Job[],
  { maxAgeMs, maxFinished, batch }: ForgetRequest,
  nowMs: number,
): Job[] {
  const finished = jobs.filter(({ status }) => isFinal(status))
    .map((job) => ({ job, endedMs: Date.parse(job.completedAt ?? job.createdAt) }))
    .sort((a, b) => a.endedMs - b.endedMs);
  const surplus = finished.length - maxFinished;
  return finished.filter(({ endedMs }, at) => endedMs <= nowMs - maxAgeMs || at < surplus).slice(0, batch)
    .map(({ job }) => job);
}
