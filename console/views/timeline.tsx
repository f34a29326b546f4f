/**
 * Events and notifications, followed live.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { timeline, type TimelineEntry } from "../model/state.ts";
import { agentOf, typeOf, weightOf, wordsOf } from "../model/entry_words.ts";
import { agentName, count, dateAndTime } from "../model/words.ts";
import { Choice } from "../parts/choice.tsx";
import { ClearFilters, isFiltered } from "../parts/clear_filters.tsx";
import { Empty } from "../parts/states.tsx";

const MAX_SHOWN = 300;

const chosen = { type: signal(""), plugin: signal(""), agent: signal("") };
/** The entries at the moment of the pause, or null while the timeline moves. */
const stopped: Signal<readonly TimelineEntry[] | null> = signal(null);

export function TimelineView(): JSX.Element {
  const all = stopped.value ?? timeline.value;
  const [type, plugin, agent] = [chosen.type.value, chosen.plugin.value, chosen.agent.value];
  const found = all.filter((entry) =>
    (type === "" || typeOf(entry) === type) && (plugin === "" || entry.plugin === plugin) &&
    (agent === "" || agentOf(entry) === agent)
  );
  const shown = found.slice(-MAX_SHOWN).reverse();
  const missed = stopped.value === null ? 0 : newerThan(stopped.value);
  return (
    <>
      <header class="view-head">
        <h1>Timeline</h1>
        <p class="quiet">
          {count(found.length)} of {count(all.length)} entries
          {found.length > MAX_SHOWN && `, the newest ${MAX_SHOWN} shown`}
        </p>
      </header>
      <div class="bar filters" role="group" aria-label="Filters">
        <Choice label="Type" of={chosen.type} values={distinct(all, typeOf)} />
        <Choice label="Plugin" of={chosen.plugin} values={distinct(all, ({ plugin }) => plugin)} />
        <Choice label="Agent" of={chosen.agent} values={distinct(all, agentOf)} />
        <ClearFilters of={chosen} />
        <span class="quiet push" role="status">{stopped.value === null ? "" : `paused, ${count(missed)} new`}</span>
        <button
          type="button"
          aria-pressed={stopped.value !== null}
          onClick={() => stopped.value = stopped.value === null ? timeline.value : null}
        >
          {stopped.value === null ? "Pause" : "Continue"}
        </button>
      </div>
      {shown.length === 0
        ? <Empty title={isFiltered(chosen) ? "No entry fits these filters" : "No events yet"} />
        : (
          <ol class="timeline" aria-label="Entries, newest first">
            {shown.map((entry) => <Row key={entry.id + entry.kind} of={entry} />)}
          </ol>
        )}
    </>
  );
}

function Row({ of: entry }: { of: TimelineEntry }): JSX.Element {
  return (
    <li class={`entry ${weightOf(entry)}`}>
      <details>
        <summary>
          <time class="number" dateTime={String(entry.data.timestamp)}>
            {dateAndTime(String(entry.data.timestamp))}
          </time>
          <span class="type">{typeOf(entry)}</span>
          <span class="who">{entry.plugin}</span>
          <span class="agent quiet">{agentName(agentOf(entry) ?? "")}</span>
          <span class="words quiet">{wordsOf(entry)}</span>
        </summary>
        <pre>{JSON.stringify(entry.data, null, 2)}</pre>
      </details>
    </li>
  );
}

/** Counts the entries after the newest of these; when that one is gone, all of them. */
function newerThan(entries: readonly TimelineEntry[]): number {
  const newest = entries.at(-1);
  const at = newest === undefined ? -1 : timeline.value.lastIndexOf(newest);
  return timeline.value.length - 1 - at;
}

function distinct(entries: readonly TimelineEntry[], of: (entry: TimelineEntry) => string | null): string[] {
  return [...new Set(entries.map(of))].filter((one) => one !== null && one !== "").sort() as string[];
}
