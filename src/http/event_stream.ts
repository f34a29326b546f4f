/**
 * A feed as server-sent events and over a WebSocket. A reader that falls so far behind that entries are gone is told so.
 *
 * @module
 */
import type { Feed, FeedEntry, FeedPlace } from "../core/values/feed.ts";
import type { HttpConnection } from "../core/ports/http.ts";
import type { Clock } from "../core/ports/ports.ts";
import { WS_PROTOCOL } from "./guard.ts";
import { BEAT_MS, STREAM_HEADERS } from "./reader_response.ts";

/** What a reader gets. */
export interface Subscription {
  /** What it reads. */
  readonly feed: Feed;
  /** Where it starts. */
  readonly from: FeedPlace;
  /** Whether it wants an entry. */
  wants(entry: FeedEntry): boolean;
  /** Time, for signs of life. */
  readonly clock: Clock;
}

/** Entries handed on at once. */
const BATCH = 100;
/** A WebSocket whose client has left so much unread is closed: it can come back with the id it has. */
const MAX_UNREAD_BYTES = 1_048_576;
/** RFC 6455 §7.4.1 and its registry: going away, try again later. */
const [GOING_AWAY, TRY_AGAIN] = [1001, 1013] as const;

/** Returns a response that streams a feed as server-sent events until the feed or the reader ends. */
export function sseResponse(subscription: Subscription): Response {
  const { feed, clock } = subscription;
  const encoder = new TextEncoder();
  const reader = readerOf(subscription);
  let end = (): void => {};
  let pump = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      let isOver = false;
      let cancelBeat = (): void => {};
      const send = (text: string): void => controller.enqueue(encoder.encode(text));
      const beat = (): void => {
        cancelBeat = clock.after(BEAT_MS, () => {
          if ((controller.desiredSize ?? 0) > 0) send(": alive\n\n");
          beat();
        });
      };
      const stopListening = feed.listen(() => pump());
      end = () => {
        isOver = true;
        cancelBeat();
        stopListening();
      };
      pump = () => {
        while (!isOver && (controller.desiredSize ?? 0) > 0) {
          const text = reader.next().map(eventText).join("");
          if (text !== "") send(text);
          else if (!reader.isAtEnd()) continue;
          else if (!feed.isClosed) return;
          else {
            end();
            return controller.close();
          }
        }
      };
      send("retry: 2000\n\n");
      beat();
      pump();
    },
    pull: () => pump(),
    cancel: () => end(),
  }, { highWaterMark: 16 });
  return new Response(body, { headers: STREAM_HEADERS });
}

/** Sends a feed over a WebSocket, one JSON message an entry: `{ id, kind, plugin, data }`. */
export function sendOverWebSocket(subscription: Subscription, connection: HttpConnection, protocol: boolean): void {
  const { feed } = subscription;
  const reader = readerOf(subscription);
  let stopListening = (): void => {};
  connection.upgrade({
    protocol: protocol ? WS_PROTOCOL : null,
    open(peer) {
      const pump = (): void => {
        while (!reader.isAtEnd()) {
          if (peer.bufferedBytes() > MAX_UNREAD_BYTES) {
            stopListening();
            return peer.close(TRY_AGAIN, "Too much is unread: come back with last_event_id");
          }
          for (const entry of reader.next()) peer.send(messageText(entry));
        }
        if (feed.isClosed) peer.close(GOING_AWAY, "The host has ended");
      };
      stopListening = feed.listen(pump);
      pump();
    },
    closed: () => stopListening(),
  });
}

/** The entry that stands where others are missing. */
const GAP = { kind: "gap", plugin: "", text: "{}" } as const;

type Sent = Pick<FeedEntry, "kind" | "plugin" | "text"> & { readonly id: string };

/** Goes through a feed, a batch at a time. */
function readerOf({ feed, from, wants }: Subscription): { next(): Sent[]; isAtEnd(): boolean } {
  let { seq, missed } = from;
  return {
    next() {
      const found = feed.after(seq, BATCH);
      const isGap = missed || found.missed;
      missed = false;
      const before = (found.entries[0]?.seq ?? feed.newest + 1) - 1;
      seq = found.entries.at(-1)?.seq ?? feed.newest;
      return [...(isGap ? [{ ...GAP, id: feed.idAt(before) }] : []), ...found.entries.filter(wants)];
    },
    isAtEnd: () => seq === feed.newest && !missed,
  };
}

function eventText({ id, kind, text }: Sent): string {
  return `id: ${id}\nevent: ${kind}\ndata: ${text}\n\n`;
}

function messageText({ id, kind, plugin, text }: Sent): string {
  return `{"id":${JSON.stringify(id)},"kind":"${kind}","plugin":${JSON.stringify(plugin)},"data":${text}}`;
}
