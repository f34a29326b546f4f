/**
 * Reads a project's trails from their files, the newest events first; no host needs to run.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { MAX_LINE_BYTES } from "../files/lines_of_file.ts";
import { type LineCursor, newestLines, parseLineCursor } from "../files/newest_lines.ts";
import type { Files } from "../ports/ports.ts";
import { parseLine } from "./chain.ts";
import type { Trail } from "./events.ts";
import { trailFiles, type TrailPlace } from "./trail_files.ts";

/** The events to read; an event has to fit every field that is given. */
export interface TrailQuery {
  /** Default `audit`. */
  readonly trail?: Trail;
  /** ISO 8601; events at that time or later. */
  readonly since?: string;
  /** ISO 8601; events before that time. */
  readonly until?: string;
  /** One of these types; `plugin.hook.*` stands for every type that begins with `plugin.hook.`. */
  readonly types?: readonly string[];
  /** Name of the plugin; `host` for events of the host itself. */
  readonly plugin?: string;
  /** Path of the agent. */
  readonly agent?: string;
  /** Id of the session. */
  readonly session?: string;
  /** A text that stands somewhere in the event, whatever its case. */
  readonly text?: string;
  /** Most events of a page, from 1 to 1000. Default 100. */
  readonly limit?: number;
  /** {@link TrailPage.next} of the page before. */
  readonly cursor?: string;
}

/** An event as it stands in a file, perhaps written by an earlier version. */
export interface StoredEvent {
  /** Number in the chain; absent in the calls trail. */
  readonly seq?: number;
  /** SHA-256 of the line before; absent in the calls trail. */
  readonly prev?: string;
  /** Type of the event, such as `plugin.crashed`. */
  readonly type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Name of the plugin; `host` for events of the host itself. */
  readonly name: string;
  /** Instance id; the project's id for events of the host itself. */
  readonly instance: string;
  /** Ties the event to a call, or null. */
  readonly request_id: string | null;
  /** Facts of the event; their shape depends on the type. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Some events, the newest first. */
export interface TrailPage {
  /** At most as many as the query's limit. */
  readonly events: StoredEvent[];
  /** The cursor of older events, or null at the end. A page of a long search may be short, or empty, and still have one. */
  readonly next: string | null;
}

/** Bytes that one page reads at most, so that a search for what is not there ends soon. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
/** The clock may have been set back by this much between two events: reading goes on so far behind `since`. */
const CLOCK_SLACK_MS = 86_400_000;
const MAX_LIMIT = 1000;

/**
 * Reads one page. Its cursor stays right while events are added and files are rotated; where its file is gone by then,
 * everything older is gone too, and the page is empty.
 *
 * @throws {HostError} `audit.invalid_query` for a cursor or a time that is none.
 */
export async function readTrail(place: TrailPlace, query: TrailQuery, files: Files): Promise<TrailPage> {
  const limit = Math.min(Math.max(1, query.limit ?? 100), MAX_LIMIT);
  const fits = trailMatcher(query);
  const stopMs = query.since === undefined ? -Infinity : Date.parse(query.since) - CLOCK_SLACK_MS;
  const events: StoredEvent[] = [];
  let budget = MAX_PAGE_BYTES;
  const from = query.cursor === undefined ? null : cursorIn(query.cursor);
  const paths = await trailFiles(place, query.trail ?? "audit", files);
  for await (const { text, older } of newestLines(paths, files, from)) {
    const event = text === null ? null : eventIn(text);
    if (event && Date.parse(event.timestamp) < stopMs) return { events, next: null };
    if (event && fits(event, text!)) events.push(event);
    budget -= text?.length ?? MAX_LINE_BYTES;
    if (events.length >= limit || budget <= 0) return { events, next: older };
  }
  return { events, next: null };
}

function cursorIn(text: string): LineCursor {
  const cursor = parseLineCursor(text);
  if (cursor === null) throw invalid("cursor", text, "Pass the cursor of the page before as it is");
  return cursor;
}

/** Reads the event in a line; null for a line that holds none. */
export function eventIn(text: string): StoredEvent | null {
  const event = parseLine(text);
  if (typeof event?.type !== "string" || typeof event.timestamp !== "string") return null;
  const { name = "host", instance = "host", request_id = null, data = {} } = event;
  return { ...event, name, instance, request_id, data } as unknown as StoredEvent;
}

/** Returns a test of whether an event, and the line it was read from, fit a query. Throws `audit.invalid_query`. */
export function trailMatcher(query: TrailQuery): (event: StoredEvent, line: string) => boolean {
  const { types, plugin, agent, session, text } = query;
  const sinceMs = timeOf("since", query.since) ?? -Infinity;
  const untilMs = timeOf("until", query.until) ?? Infinity;
  // Within a line the text stands as JSON writes it.
  const wanted = text === undefined ? null : JSON.stringify(text).slice(1, -1).toLowerCase();
  return (event, line) => {
    const timeMs = Date.parse(event.timestamp);
    return timeMs >= sinceMs && timeMs < untilMs &&
      (types === undefined || types.some((type) => isOfType(event.type, type))) &&
      (plugin === undefined || event.name === plugin) &&
      (agent === undefined || agentOf(event) === agent) &&
      (session === undefined || event.data.session_id === session) &&
      (wanted === null || line.toLowerCase().includes(wanted));
  };
}

function isOfType(type: string, asked: string): boolean {
  return asked.endsWith("*") ? type.startsWith(asked.slice(0, -1)) : type === asked;
}

/** An event names its agent, or its instance does: `notes@my-project/primary`. */
function agentOf({ data, instance }: StoredEvent): string | null {
  return typeof data.agent_path === "string" ? data.agent_path : instance.split("/")[1] ?? null;
}

function timeOf(field: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) throw invalid(field, text, "Write a time as 2026-11-17 or 2026-11-17T08:30:00Z");
  return timeMs;
}

function invalid(field: string, value: string, hint: string): HostError {
  const message = `${JSON.stringify(value.slice(0, 100))} is no ${field === "cursor" ? "cursor" : "time"}`;
  return new HostError("audit.invalid_query", message, { data: { field }, hint });
}
