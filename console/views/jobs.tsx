/**
 * Background runs of agents.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Job } from "../../src/jobs/types.ts";
import { ask, follow, pathOf } from "../model/api.ts";
import { linkTo } from "../model/route.ts";
import { nameOf } from "../model/shown_values.ts";
import type { ServerEvent } from "../model/sse_parser.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { counted, dateAndTime } from "../model/words.ts";
import { Action, useDoing } from "../parts/action.tsx";
import { StateBadge } from "../parts/badge.tsx";
import { FailureNote } from "../parts/failure.tsx";
import { Empty, WhenLoaded } from "../parts/states.tsx";

const AGAIN_MS = 3000;

export function JobsView(): JSX.Element {
  const [turn, setTurn] = useState(0);
  const loaded = useLoaded("GET /api/v1/jobs", {}, turn);
  useEffect(() => {
    const timer = setInterval(() => setTurn((old) => old + 1), AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const isNone = loaded.error?.status === 404;
  return (
    <>
      <header class="view-head">
        <h1>Jobs</h1>
        {loaded.value && (
          <p class="quiet">
            {loaded.value.next !== null && "the newest "}
            {counted(loaded.value.jobs.length, "job")}
          </p>
        )}
      </header>
      {isNone
        ? <Empty title="No agent runs jobs here">Jobs appear once a program registers an agent with the host.</Empty>
        : (
          <WhenLoaded of={loaded}>
            {({ jobs }) =>
              jobs.length === 0
                ? <Empty title="No jobs yet" />
                : <ul class="jobs">{jobs.toReversed().map((job) => <JobCard key={job.id} of={job} />)}</ul>}
          </WhenLoaded>
        )}
    </>
  );
}

function JobCard({ of: job }: { of: Job }): JSX.Element {
  const doing = useDoing();
  const [isOpen, setOpen] = useState(false);
  const isOver = job.status !== "queued" && job.status !== "running";
  return (
    <li class="card job">
      <header>
        <StateBadge state={job.status} />
        <strong>{job.agentName}</strong>
        <time class="quiet number" dateTime={job.createdAt}>{dateAndTime(job.createdAt)}</time>
        {!isOver && (
          <Action
            doing={doing}
            act={() => ask("POST /api/v1/jobs/{id}/cancel", { id: job.id })}
            label={`Cancel ${job.id}`}
          >
            Cancel
          </Action>
        )}
      </header>
      {job.waiting?.map(({ approvalId, tool }) => (
        <p key={approvalId} class="notice">
          Waiting for approval of{" "}
          <a href={linkTo("approvals", "waiting", approvalId)}>
            <code>{nameOf(tool)}</code>
          </a>
        </p>
      ))}
      <p class="pre">{job.input}</p>
      {job.result && <p class="pre quiet">{job.result}</p>}
      {job.error && <p class="danger">{job.error}</p>}
      {doing.error && <FailureNote of={doing.error} isAlert />}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Events</summary>
        {isOpen && <JobStream id={job.id} />}
      </details>
    </li>
  );
}

function JobStream({ id }: { id: string }): JSX.Element {
  const [events, setEvents] = useState<readonly ServerEvent[]>([]);
  useEffect(() => {
    const over = new AbortController();
    follow(`${pathOf("/api/v1/jobs/{id}/stream", { id })}?unnamed=false`, {
      signal: over.signal,
      onEvent: (more) => setEvents((old) => [...old, ...more].slice(-500)),
    }).catch(() => {}); // The list above shows the status of the job.
    return () => over.abort();
  }, [id]);
  if (events.length === 0) return <p class="quiet">Nothing so far.</p>;
  return (
    <ol class="job-events" aria-label="Events of the job">
      {events.map(({ id, event, data }) => (
        <li key={id}>
          <code>{event}</code> <span class="pre">{data}</span>
        </li>
      ))}
    </ol>
  );
}
