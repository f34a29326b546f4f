/**
 * Audit events, plugins' notifications and logs, as pages and as streams.
 *
 * @module
 */
import * as v from "valibot";
import type { Feed, FeedEntry, FeedPlace } from "../../core/values/feed.ts";
import type { FeedPage } from "../answers.ts";
import { feedEvents, sendOverWebSocket } from "../event_stream.ts";
import { isWebSocketRequest, WS_PROTOCOL } from "../guard.ts";
import { type Route, route } from "../route.ts";
import { eventId, namedPlugin, pluginName } from "../schemas.ts";
import { sseResponse } from "../sse.ts";

const kind = v.picklist(["audit", "notification"]);
const types = ["application/json", "text/event-stream"] as const;

/** Routes that stream. */
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
      const lastId = last_event_id ?? lastEventId(request);
      const isSocket = isWebSocketRequest(request);
      if (!isSocket && !wantsStream(request)) return pageOf(feed, placeOf(feed, lastId, 0), wants);
      const subscription = { feed, from: placeOf(feed, lastId, feed.newest), wants };
      if (!isSocket) return sseResponse(feedEvents(subscription), host.view.clock);
      const offered = request.headers.get("sec-websocket-protocol")?.split(",").map((one) => one.trim()) ?? [];
      sendOverWebSocket(subscription, connection, offered.includes(WS_PROTOCOL));
      return new Response(null);
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/logs",
    summary: "The newest lines a plugin wrote to stderr; with Accept: text/event-stream also each new line",
    params: namedPlugin,
    query: v.strictObject({
      tail: v.optional(
        v.pipe(v.string(), v.regex(/^[0-9]{1,4}$/, "It is no number of lines"), v.transform(Number)),
        "100",
      ),
      last_event_id: v.exactOptional(eventId),
    }),
    types,
    errors: ["plugin.unknown"],
    run({ params: { name }, query: { tail, last_event_id }, request }, { host }) {
      const feed = host.view.logs(name);
      const from = placeOf(feed, last_event_id ?? lastEventId(request), Math.max(0, feed.newest - tail));
      const wants = (): boolean => true;
      if (!wantsStream(request)) return pageOf(feed, from, wants);
      return sseResponse(feedEvents({ feed, from, wants }), host.view.clock);
    },
  }),
];

/** The place to read from: after the entry that the client names, else after `otherwise`. */
function placeOf(feed: Feed, lastId: string | null, otherwise: number): FeedPlace {
  return lastId === null ? { seq: otherwise, missed: false } : feed.placeOf(lastId);
}

function pageOf<E>(
  feed: Feed,
  { seq, missed }: FeedPlace,
  wants: (entry: FeedEntry) => boolean,
): FeedPage & { readonly entries: E[] } {
  const entries = feed.after(seq).entries.filter(wants).map(({ id, kind, plugin, text }) =>
    ({ id, kind, plugin, data: JSON.parse(text) }) as E
  );
  return { entries, last_event_id: feed.idAt(feed.newest), missed };
}

function wantsStream(request: Request): boolean {
  return request.method === "GET" && (request.headers.get("accept")?.includes("text/event-stream") ?? false);
}

function lastEventId(request: Request): string | null {
  return request.headers.get("last-event-id");
}
