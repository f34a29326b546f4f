/**
 * The stored audit trails: a table with filters, the newest events first, page by page.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import type { StoredEvent, TrailPage } from "../../src/core/audit/read_trail.ts";
import type { TrailVerdict } from "../../src/core/audit/verify_trail.ts";
import { printable } from "../../src/core/values/printable.ts";
import { type ApiError, ask, type Params } from "../model/api.ts";
import { agentOf, weightOf, wordsOf } from "../model/entry_words.ts";
import { agents, instances, type TimelineEntry } from "../model/state.ts";
import { agentName, counted, dateAndTime } from "../model/words.ts";
import { Action, useDoing } from "../parts/action.tsx";
import { Choice } from "../parts/choice.tsx";
import { ClearFilters } from "../parts/clear_filters.tsx";
import { FailureNote } from "../parts/failure.tsx";
import { Empty, Loading } from "../parts/states.tsx";

const PAGE = 50;
/** Longer facts are folded behind their beginning. */
const MAX_WORDS = 100;

/** The filters by the name of their parameter; they stay when the person leaves the view. */
const chosen = {
  of: signal(""),
  trail: signal(""),
  types: signal(""),
  plugin: signal(""),
  agent: signal(""),
  session: signal(""),
  since: signal(""),
  until: signal(""),
  text: signal(""),
};

/** Returns the filters as parameters; times of the person's own zone become times of the trail. */
function queryOf(): Params {
  return Object.fromEntries(
    Object.entries(chosen).filter(([, { value }]) => value.trim() !== "").map(([name, { value }]) => {
      const isTime = name === "since" || name === "until";
      return [name, isTime ? new Date(value).toISOString() : value.trim()];
    }),
  );
}

export function AuditView(): JSX.Element {
  const query = queryOf();
  const [{ events, next, error }, setPage] = useState<Partial<TrailPage> & { error?: ApiError }>({});
  const load = async (cursor?: string): Promise<void> => {
    const page = await ask("GET /api/v1/audit", { ...query, limit: PAGE, cursor });
    setPage((old) => ({
      events: cursor === undefined ? page.events : [...old.events ?? [], ...page.events],
      next: page.next,
    }));
  };
  const key = JSON.stringify(query);
  useEffect(() => {
    let isOver = false;
    ask("GET /api/v1/audit", { ...query, limit: PAGE }).then(
      (page) => isOver || setPage(page),
      (error) => isOver || setPage({ error }),
    );
    return () => {
      isOver = true;
    };
  }, [key]);
  const older = useDoing();
  return (
    <>
      <header class="view-head">
        <h1>Audit</h1>
        {events && <p class="quiet">{counted(events.length, "event")}{next ? ", the newest" : ""}</p>}
        <Verify of={chosen.of.value} />
      </header>
      <Filters />
      {error && <FailureNote of={error} isAlert />}
      {!error && !events && <Loading />}
      {events?.length === 0 && <Empty title="No event fits">{next ? "Look further back." : undefined}</Empty>}
      {events && events.length > 0 && <Events of={events} />}
      {next && (
        <p class="bar">
          <Action doing={older} act={() => load(next)} label="Older events">Older events</Action>
        </p>
      )}
      {older.error && <FailureNote of={older.error} isAlert />}
    </>
  );
}

function Filters(): JSX.Element {
  const plugins = [...new Set((instances.value ?? []).map(({ plugin }) => plugin)), "host"].sort();
  return (
    <div class="bar filters" role="group" aria-label="Filters">
      <Choice label="Events of" of={chosen.of} values={["operator"]} any="the project" />
      <Choice label="Trail" of={chosen.trail} values={["calls"]} any="security and lifecycle" />
      <Choice label="Plugin" of={chosen.plugin} values={plugins} />
      <Choice label="Agent" of={chosen.agent} values={agents.value.map(({ path }) => path)} />
      <Field label="Type" of={chosen.types} hint="plugin.hook.*" />
      <Field label="Session" of={chosen.session} />
      <Field label="From" of={chosen.since} isTime />
      <Field label="To" of={chosen.until} isTime />
      <Field label="Text" of={chosen.text} />
      <ClearFilters of={chosen} />
    </div>
  );
}

/** A text to filter by; it counts when the field is left or Enter is pressed. */
function Field({ label, of, isTime = false, hint }: {
  label: string;
  of: Signal<string>;
  isTime?: boolean;
  hint?: string;
}): JSX.Element {
  const id = useId();
  const onChange = ({ currentTarget }: { currentTarget: HTMLInputElement }): void =>
    void (of.value = currentTarget.value);
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      {isTime
        ? <input id={id} type="datetime-local" value={of.value} onChange={onChange} />
        : <input id={id} type="text" value={of.value} placeholder={hint} onChange={onChange} />}
    </span>
  );
}

function Events({ of: events }: { of: readonly StoredEvent[] }): JSX.Element {
  return (
    <div class="wide">
      <table class="card events" aria-label="Events, newest first">
        <thead>
          <tr>
            {["Time", "Type", "About", "Agent", "Facts"].map((head) => <th key={head} scope="col">{head}</th>)}
          </tr>
        </thead>
        <tbody>
          {events.map((event, at) => <Row key={event.seq ?? `${event.timestamp} ${at}`} of={event} />)}
        </tbody>
      </table>
    </div>
  );
}

function Row({ of: event }: { of: StoredEvent }): JSX.Element {
  const entry: TimelineEntry = { id: "", kind: "audit", plugin: event.name, data: { ...event } };
  const words = wordsOf(entry);
  return (
    <tr class={`entry ${weightOf(entry)}`}>
      <td class="number quiet">{dateAndTime(event.timestamp)}</td>
      <td class="type">{printable(event.type)}</td>
      <td>{printable(event.name)}</td>
      <td class="quiet">{agentName(agentOf(entry) ?? "")}</td>
      <td>
        <details>
          <summary>{words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words || "no facts"}</summary>
          <pre>{JSON.stringify(event, null, 2).split("\n").map(printable).join("\n")}</pre>
        </details>
      </td>
    </tr>
  );
}

/** Checks the chain of the trail, and says what came of it. */
function Verify({ of }: { of: string }): JSX.Element {
  const [verdict, setVerdict] = useState<TrailVerdict | null>(null);
  const doing = useDoing();
  useEffect(() => setVerdict(null), [of]);
  const verify = async (): Promise<void> => setVerdict(await ask("GET /api/v1/audit/verify", { of: of || undefined }));
  return (
    <>
      <span class="push" role="status">
        {verdict &&
          (verdict.ok ? `Whole: ${counted(verdict.lines, "line")} fit` : `Broken: ${verdict.broken?.message}`)}
      </span>
      <Action doing={doing} act={verify} label="Verify the trail">Verify</Action>
      {doing.error && <FailureNote of={doing.error} isAlert />}
    </>
  );
}
