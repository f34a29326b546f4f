/**
 * Audit events, plugins' notifications and logs, as pages and as streams.
 *
 * @module
 */
import * as v from "valibot";
import { HostError } from "../../core/errors/host_error.ts";
import type { Feed, FeedEntry, FeedPlace } from "../../core/values/feed.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { EventEntry, FeedPage, LogEntry } from "../answers.ts";
import { feedEvents, feedPage, sendOverWebSocket, type Subscription } from "../event_stream.ts";
import { isWebSocketRequest, offeredProtocols, WS_PROTOCOL } from "../guard.ts";
import { type Route, route } from "../route.ts";
import { pageFields } from "../page.ts";
import { eventId, namedPlugin, numberLike, pluginName } from "../schemas.ts";
import { sseResponse } from "../sse.ts";

const kind = v.picklist(["audit", "notification"]);
const types = ["application/json", "text/event-stream"] as const;

export const STREAM_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/events",
    summary: "Audit events and notifications: the kept ones as JSON; new ones, or all after Last-Event-ID, as " +
      "server-sent events (Accept: text/event-stream) or over a WebSocket (Upgrade: websocket)",
    query: v.strictObject({
      kind: v.exactOptional(kind),
      plugin: v.exactOptional(pluginName),
      last_event_id: v.exactOptional(eventId),
    }),
    types,
    run({ query: { kind, plugin, last_event_id }, request, connection }, { host, events: feed }) {
      const wants = (entry: FeedEntry): boolean =>
        (kind === undefined || entry.kind === kind) && (plugin === undefined || entry.plugin === plugin);
      const isSocket = isWebSocketRequest(request);
      const start = isSocket || wantsStream(request) ? feed.newest : 0;
      const part = { feed, from: placeOf(feed, last_event_id ?? lastEventId(request), start), wants };
      if (!isSocket) return feedAnswer<EventEntry>(part, request, host.view.clock);
      sendOverWebSocket(part, connection, offeredProtocols(request).includes(WS_PROTOCOL));
      return new Response(null);
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/logs",
    summary: "The newest lines a plugin wrote to stderr; with Accept: text/event-stream also each new line",
    params: namedPlugin,
    query: v.strictObject({
      tail: v.optional(numberLike(/^[0-9]{1,4}$/, "It is no number of lines"), "100"),
      limit: v.exactOptional(pageFields.limit.wrapped),
      cursor: v.exactOptional(eventId),
      last_event_id: v.exactOptional(eventId),
    }),
    types,
    errors: ["plugin.unknown", "http.cursor_gone"],
    run({ params: { name }, query: { tail, limit = tail, cursor, last_event_id }, request }, { host }) {
      const feed = host.view.logs(name);
      const end = cursor === undefined ? feed.newest : endBefore(cursor, feed);
      const from = placeOf(feed, last_event_id ?? lastEventId(request), Math.max(0, end - limit));
      const wants = ({ seq }: FeedEntry): boolean => seq <= end;
      if (wantsStream(request)) return sseResponse(feedEvents({ feed, from, wants: () => true }), host.view.clock);
      const page = feedPage<LogEntry>({ feed, from, wants });
      const oldest = page.entries[0]?.id;
      const hasOlder = oldest !== undefined && feed.after(0).entries[0]!.id !== oldest;
      return { ...page, next: hasOlder ? oldest : null };
    },
  }),
];

/** Returns the place of the entry before the one that a cursor names. Throws `http.cursor_gone`. */
function endBefore(cursor: string, feed: Feed): number {
  const end = feed.placeOf(cursor).seq - 1;
  const oldest = feed.after(0).entries[0]?.seq ?? Infinity;
  if (end >= oldest) return end;
  throw new HostError("http.cursor_gone", "The lines that the cursor leads to are no longer in memory", {
    data: { cursor },
    hint: "Start again without a cursor; kaged plugin logs reads older lines from the plugin's files",
  });
}

/** The place to read from: after the entry that the client names, else after `otherwise`. */
function placeOf(feed: Feed, lastId: string | null, otherwise: number): FeedPlace {
  return lastId === null ? { seq: otherwise, missed: false } : feed.placeOf(lastId);
}

/** Returns new entries as a stream when the client accepts one, else the kept entries as a page. */
function feedAnswer<E>(part: Subscription, request: Request, clock: Clock): Response | FeedPage & { entries: E[] } {
  return wantsStream(request) ? sseResponse(feedEvents(part), clock) : feedPage<E>(part);
}

function wantsStream(request: Request): boolean {
  return request.method === "GET" && (request.headers.get("accept")?.includes("text/event-stream") ?? false);
}

function lastEventId(request: Request): string | null {
  return request.headers.get("last-event-id");
}
