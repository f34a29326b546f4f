/**
 * What happens, as it happens: audit events, plugins' notifications and logs.
 *
 * @module
 */
import * as v from "valibot";
import type { Feed, FeedEntry, FeedPlace } from "../../core/values/feed.ts";
import { sendOverWebSocket, sseResponse } from "../event_stream.ts";
import { isWebSocketRequest, WS_PROTOCOL } from "../guard.ts";
import { type Route, route } from "../route.ts";
import { anyMap, eventId, namedPlugin, pluginName } from "../schemas.ts";

const kind = v.picklist(["audit", "notification"]);
const types = ["application/json", "text/event-stream"] as const;
const page = (entry: v.GenericSchema): v.GenericSchema =>
  v.strictObject({ entries: v.array(entry), last_event_id: v.string(), missed: v.boolean() });

/** Routes that stream. */
export const STREAM_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/events",
    summary: "Audit events and notifications: what is kept as JSON; from now on, or after Last-Event-ID, as " +
      "server-sent events (Accept: text/event-stream) or over a WebSocket (Upgrade: websocket)",
    query: v.strictObject({
      kind: v.exactOptional(kind),
      plugin: v.exactOptional(pluginName),
      last_event_id: v.exactOptional(eventId),
    }),
    answer: {
      types,
      schema: page(v.strictObject({ id: v.string(), kind, plugin: v.string(), data: anyMap })),
    },
    errors: [],
    run({ query: { kind, plugin, last_event_id }, request, connection }, { host, events: feed }) {
      const wants = (entry: FeedEntry): boolean =>
        (kind === undefined || entry.kind === kind) && (plugin === undefined || entry.plugin === plugin);
      const lastId = last_event_id ?? lastEventId(request);
      const isSocket = isWebSocketRequest(request);
      if (!isSocket && !wantsStream(request)) return pageOf(feed, placeOf(feed, lastId, 0), wants);
      const subscription = { feed, from: placeOf(feed, lastId, feed.newest), wants, clock: host.view.clock };
      if (!isSocket) return sseResponse(subscription);
      const offered = request.headers.get("sec-websocket-protocol")?.split(",").map((one) => one.trim()) ?? [];
      sendOverWebSocket(subscription, connection, offered.includes(WS_PROTOCOL));
      return new Response(null);
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/logs",
    summary: "What a plugin wrote to stderr lately; with Accept: text/event-stream also what it writes from now on",
    params: namedPlugin,
    query: v.strictObject({
      tail: v.optional(
        v.pipe(v.string(), v.regex(/^[0-9]{1,4}$/, "It is no number of lines"), v.transform(Number)),
        "100",
      ),
      last_event_id: v.exactOptional(eventId),
    }),
    answer: {
      types,
      schema: page(v.strictObject({
        id: v.string(),
        kind: v.literal("log"),
        plugin: v.string(),
        data: v.strictObject({ timestamp: v.string(), instance: v.string(), line: v.string() }),
      })),
    },
    errors: ["plugin.unknown"],
    run({ params: { name }, query: { tail, last_event_id }, request }, { host }) {
      const feed = host.view.logs(name);
      const from = placeOf(feed, last_event_id ?? lastEventId(request), Math.max(0, feed.newest - tail));
      const wants = (): boolean => true;
      if (!wantsStream(request)) return pageOf(feed, from, wants);
      return sseResponse({ feed, from, wants, clock: host.view.clock });
    },
  }),
];

/** Where a reader starts: after the entry it names, else at `otherwise`. */
function placeOf(feed: Feed, lastId: string | null, otherwise: number): FeedPlace {
  return lastId === null ? { seq: otherwise, missed: false } : feed.placeOf(lastId);
}

function pageOf(feed: Feed, { seq, missed }: FeedPlace, wants: (entry: FeedEntry) => boolean): Record<string, unknown> {
  const entries = feed.after(seq).entries.filter(wants).map(({ id, kind, plugin, text }) => {
    return { id, kind, plugin, data: JSON.parse(text) };
  });
  return { entries, last_event_id: feed.idAt(feed.newest), missed };
}

function wantsStream(request: Request): boolean {
  return request.method === "GET" && (request.headers.get("accept")?.includes("text/event-stream") ?? false);
}

function lastEventId(request: Request): string | null {
  return request.headers.get("last-event-id");
}
