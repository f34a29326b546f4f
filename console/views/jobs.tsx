/**
 * Background runs of agents.
 *
 * @module
 */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedJob } from "../../src/http/answers.ts";
import { type ApiError, ask, follow, pathOf, readStart } from "../model/api.ts";
import { linkTo } from "../model/route.ts";
import { nameOf } from "../model/shown_values.ts";
import type { ServerEvent } from "../model/sse_parser.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { bytes, counted, dateAndTime } from "../model/words.ts";
import { Action, useDoing } from "../parts/action.tsx";
import { StateBadge } from "../parts/badge.tsx";
import { Choice } from "../parts/choice.tsx";
import { ClearFilters, isFiltered } from "../parts/clear_filters.tsx";
import { FailureNote } from "../parts/failure.tsx";
import { Empty, WhenLoaded } from "../parts/states.tsx";

const AGAIN_MS = 3000;
const PAGE = 50;
/** Characters of a result that are shown; the rest stays with the host. */
const SHOWN_CHARS = 64 * 1024;
/** The choice of jobs without a scope: no scope has such a name. */
const NO_SCOPE = "(none)";
const STATES = ["queued", "running", "completed", "failed", "cancelled"];

/** The filters; they stay when the person leaves the view. */
const chosen = { scope: signal(""), status: signal("") };

export function JobsView(): JSX.Element {
  const [turn, setTurn] = useState(0);
  const [cursor, setCursor] = useState<string | undefined>();
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [scope, status] = [chosen.scope.value, chosen.status.value];
  const query = { scope: scope === NO_SCOPE ? "" : scope || undefined, status: status || undefined };
  const loaded = useLoaded("GET /api/v1/jobs", { ...query, limit: PAGE, cursor }, turn);
  useEffect(() => {
    const timer = setInterval(() => setTurn((old) => old + 1), AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => setCursor(undefined), [scope, status]);
  useEffect(() => {
    const seen = loaded.value?.jobs.flatMap(({ scopeId }) => scopeId ?? []) ?? [];
    if (seen.some((one) => !scopes.includes(one))) setScopes((old) => [...new Set([...old, ...seen])].sort());
  }, [loaded.value]);
  const next = loaded.value?.next ?? null;
  const isNone = loaded.error?.status === 404;
  if (isNone) {
    return (
      <>
        <Head />
        <Empty title="No agent runs jobs here">Jobs appear once a program registers an agent with the host.</Empty>
      </>
    );
  }
  return (
    <>
      <Head>
        {loaded.value && (
          <p class="quiet">
            {next !== null && cursor === undefined && "the newest "}
            {counted(loaded.value.jobs.length, "job")}
          </p>
        )}
      </Head>
      <div class="bar filters" role="group" aria-label="Filters">
        <Choice label="Scope" of={chosen.scope} values={[NO_SCOPE, ...scopes]} any="every scope" />
        <Choice label="Status" of={chosen.status} values={STATES} />
        <ClearFilters of={chosen} />
      </div>
      <WhenLoaded of={loaded}>
        {({ jobs }) =>
          jobs.length === 0
            ? <Empty title={isFiltered(chosen) ? "No job fits" : "No jobs yet"} />
            : <JobTable of={jobs.toReversed()} />}
      </WhenLoaded>
      <p class="bar">
        {cursor !== undefined && <button type="button" onClick={() => setCursor(undefined)}>Newest jobs</button>}
        {next !== null && <button type="button" onClick={() => setCursor(next)}>Older jobs</button>}
      </p>
    </>
  );
}

function Head({ children }: { children?: JSX.Element | null | undefined }): JSX.Element {
  return (
    <header class="view-head">
      <h1>Jobs</h1>
      {children}
    </header>
  );
}

function JobTable({ of: jobs }: { of: readonly ListedJob[] }): JSX.Element {
  return (
    <div class="wide">
      <table class="card jobs" aria-label="Jobs, newest first">
        <thead>
          <tr>
            {["Status", "Agent", "Scope", "Created", "Request"].map((head) => <th key={head} scope="col">{head}</th>)}
            <td />
          </tr>
        </thead>
        <tbody>{jobs.map((job) => <JobRow key={job.id} of={job} />)}</tbody>
      </table>
    </div>
  );
}

function JobRow({ of: job }: { of: ListedJob }): JSX.Element {
  const doing = useDoing();
  const [isOpen, setOpen] = useState(false);
  const { status = "queued", createdAt = "" } = job;
  const isOver = status !== "queued" && status !== "running";
  return (
    <tr class="job">
      <td>
        <StateBadge state={status} />
      </td>
      <td>
        <strong>{job.agentName}</strong>
      </td>
      <td>{job.scopeId ?? <span class="quiet">none</span>}</td>
      <td>
        <time class="quiet" dateTime={createdAt}>{dateAndTime(createdAt)}</time>
      </td>
      <td>
        {job.waiting?.map(({ approvalId, tool }) => (
          <p key={approvalId} class="notice">
            Waiting for approval of{" "}
            <a href={linkTo("approvals", "waiting", approvalId)}>
              <code>{nameOf(tool)}</code>
            </a>
          </p>
        ))}
        <p class="pre">{job.input}</p>
        {job.error && <p class="danger">{job.error}</p>}
        {doing.error && <FailureNote of={doing.error} isAlert />}
        {job.resultAside && <JobResult id={job.id} size={job.resultAside.bytes} />}
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>Events</summary>
          {isOpen && <JobStream id={job.id} />}
        </details>
      </td>
      <td>
        {!isOver && (
          <Action
            doing={doing}
            act={() => ask("POST /api/v1/jobs/{id}/cancel", { id: job.id })}
            label={`Cancel ${job.id}`}
          >
            Cancel
          </Action>
        )}
      </td>
    </tr>
  );
}

/** A result, read when it is unfolded: lists have none. */
function JobResult({ id, size }: { id: string; size: number }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState<{ text: string; isWhole: boolean } | ApiError | null>(null);
  useEffect(() => {
    if (!isOpen || shown) return;
    readStart(pathOf("/api/v1/jobs/{id}/result", { id }), SHOWN_CHARS).then(setShown, setShown);
  }, [isOpen]);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Result, {bytes(size)}</summary>
      {shown && ("code" in shown ? <FailureNote of={shown} isAlert /> : (
        <>
          <p class="pre quiet">{shown.text}</p>
          {!shown.isWhole && (
            <p>
              This is its beginning. <code>kaged jobs result {id}</code> prints all of it.
            </p>
          )}
        </>
      ))}
    </details>
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
