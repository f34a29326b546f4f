/**
 * A feed as server-sent events and over a WebSocket. A client that falls so far behind that entries are gone gets a `gap`
 * entry in their place.
 *
 * @module
 */
import type { Feed, FeedEntry, FeedPlace } from "../core/values/feed.ts";
import type { HttpConnection } from "../core/ports/http.ts";
import { WS_PROTOCOL } from "./guard.ts";
import { type SseSource, sseText } from "./sse.ts";

/** One client's part of a feed. */
export interface Subscription {
  readonly feed: Feed;
  /** The entry after which it starts. */
  readonly from: FeedPlace;
  wants(entry: FeedEntry): boolean;
}

/** Entries read from the feed in one step, so that a long backlog is sent in pieces. */
const BATCH = 100;
/** A WebSocket with more unread bytes is closed; its client can return with the id of the last entry it read. */
const MAX_UNREAD_BYTES = 1_048_576;
/** RFC 6455 §7.4.1 and its registry: going away, try again later. */
const [GOING_AWAY, TRY_AGAIN] = [1001, 1013] as const;

/** Returns the entries of a feed as server-sent events, until the feed ends. */
export function feedEvents(subscription: Subscription): SseSource {
  const { feed } = subscription;
  const reader = readerOf(subscription);
  let stopListening = (): void => {};
  return {
    async next() {
      for (;;) {
        const text = reader.next().map(({ id, kind, text }) => sseText(id, kind, text)).join("");
        if (text !== "") return text;
        if (!reader.isAtEnd()) continue;
        if (feed.isClosed) return null;
        await new Promise<void>((resolve) => stopListening = feed.listen(resolve));
        stopListening();
      }
    },
    leave: () => stopListening(),
  };
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
            return peer.close(TRY_AGAIN, "Too much is unread: connect again with last_event_id");
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

function messageText({ id, kind, plugin, text }: Sent): string {
  return `{"id":${JSON.stringify(id)},"kind":"${kind}","plugin":${JSON.stringify(plugin)},"data":${text}}`;
}
