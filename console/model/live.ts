/**
 * Keeps the page up to date: loads the state of the host, follows its events, and reconnects when the connection is lost.
 *
 * @module
 */
import { ApiError, ask, askAll, follow, token } from "./api.ts";
import type { ServerEvent } from "./sse_parser.ts";
import {
  addEntries,
  agents,
  approvals,
  connection,
  consents,
  hasMoreApprovals,
  host,
  instances,
  timeline,
  type TimelineEntry,
} from "./state.ts";

/** Delays between attempts to connect; the last one repeats. */
const DELAYS_MS = [500, 1000, 2000, 5000];
/** Events within this time are drawn together. */
const BURST_MS = 200;

/** Calls that wait for a person, at most: a host with more says so, and the rest follows as these are answered. */
const MAX_APPROVALS = 100;
/** Time between looks at those calls: other hosts that share the jobs' store take and answer requests, too. */
const LOOK_MS = 10_000;

/** Events after which plugins, agents or requests for consent must be loaded again. */
const MATTERS =
  /^plugin\.(spawned|resting|woken|initialized|crashed|exited|stopped|killed|failed|refused|reload|enabled|disabled|installed|upgrade|uninstalled|consent|grants_changed|tools_|tool_(?:registered|name|quarantined|approved|missing)|knob)/;

/** Loads the host, its plugins, its agents, the requests for consent and the calls that wait. */
export async function refresh(): Promise<void> {
  const [about, list, tree, asked] = await Promise.all([
    ask("GET /api/v1/host"),
    askAll("GET /api/v1/plugins", ({ plugins }) => plugins),
    askAll("GET /api/v1/agents", ({ agents }) => agents),
    askAll("GET /api/v1/consents", ({ consents }) => consents),
    refreshApprovals(),
  ]);
  host.value = about;
  instances.value = list;
  agents.value = tree;
  consents.value = asked;
}

/** Loads the calls that wait for a person. An answer that was overtaken by a later one is dropped. */
export async function refreshApprovals(): Promise<void> {
  const turn = ++approvalTurn;
  const page = await ask("GET /api/v1/approvals", { limit: MAX_APPROVALS });
  if (turn !== approvalTurn) return;
  approvals.value = page.approvals.toReversed();
  hasMoreApprovals.value = page.next !== null;
}

let approvalTurn = 0;

/** Stays connected until `signal` is aborted or the person signs out. */
export async function stayConnected(signal: AbortSignal): Promise<void> {
  let lastId: string | null = null;
  const looks = setInterval(() => {
    if (connection.value === "live") void refreshApprovals().catch(() => {});
  }, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(looks));
  for (let tries = 0; !signal.aborted && token.value !== null; tries++) {
    try {
      if (lastId === null) lastId = await loadTimeline();
      await refresh();
      await follow("/api/v1/events", {
        signal,
        lastId,
        onOpen() {
          tries = 0;
          connection.value = "live";
        },
        onEvent(events) {
          lastId = events.at(-1)!.id || lastId;
          take(events);
        },
      });
    } catch (error) {
      if (signal.aborted || (error instanceof ApiError && error.status === 401)) return;
    }
    if (signal.aborted) return;
    connection.value = "lost";
    await pause(DELAYS_MS[Math.min(tries, DELAYS_MS.length - 1)]!, signal);
  }
}

async function loadTimeline(): Promise<string> {
  const page = await ask("GET /api/v1/events");
  timeline.value = [];
  addEntries(page.entries);
  return page.last_event_id;
}

let untaken: ServerEvent[] = [];
let isTaking = false;

/** Adds events to the timeline, those of a burst together, so that a busy host does not make the page draw all the time. */
function take(events: readonly ServerEvent[]): void {
  untaken.push(...events);
  if (isTaking) return;
  isTaking = true;
  setTimeout(() => {
    const entries = untaken.map(entryOf);
    untaken = [];
    isTaking = false;
    addEntries(entries);
    if (entries.some(({ data }) => String(data.type).startsWith("approval."))) void refreshApprovals().catch(() => {});
    if (entries.some(({ data }) => MATTERS.test(String(data.type)))) void refresh().catch(() => {});
  }, BURST_MS);
}

function entryOf({ id, event, data }: ServerEvent): TimelineEntry {
  const read = JSON.parse(data);
  return { id, kind: event as TimelineEntry["kind"], plugin: String(read.name ?? read.plugin ?? ""), data: read };
}

/** Waits; a return to the page or to the network ends the wait early. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      removeEventListener("online", done);
      removeEventListener("focus", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    addEventListener("focus", done);
    signal.addEventListener("abort", done);
  });
}
