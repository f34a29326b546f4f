/**
 * A feed as a page, as server-sent events and over a WebSocket. A client that falls so far behind that entries are gone
 * gets a `gap` entry in their place.
 *
 * @module
 */
import type { Feed, FeedEntry, FeedPlace } from "../core/values/feed.ts";
import type { HttpConnection } from "../core/ports/http.ts";
import type { FeedPage } from "./answers.ts";
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

/** Returns the kept entries. */
export function feedPage<E>({ feed, from: { seq, missed }, wants }: Subscription): FeedPage & { entries: E[] } {
  const entries = feed.after(seq).entries.filter(wants).map(({ id, kind, plugin, text }) =>
    ({ id, kind, plugin, data: JSON.parse(text) }) as E
  );
  return { entries, last_event_id: feed.idAt(feed.newest), missed };
}

/** Returns the entries as server-sent events, until the feed ends. */
export function feedEvents(subscription: Subscription): SseSource {
  const reader = readerOf(subscription);
  return {
    async next() {
      const batch = await reader.next();
      return batch && batch.map(({ id, kind, text }) => sseText(id, kind, text)).join("");
    },
    leave: () => reader.leave(),
  };
}

/** Sends the entries over a WebSocket, one JSON message each: `{ id, kind, plugin, data }`. */
export function sendOverWebSocket(subscription: Subscription, connection: HttpConnection, protocol: boolean): void {
  const reader = readerOf(subscription);
  connection.upgrade({
    protocol: protocol ? WS_PROTOCOL : null,
    async open(peer) {
      for (let batch = await reader.next(); batch; batch = await reader.next()) {
        for (const entry of batch) {
          if (peer.bufferedBytes() > MAX_UNREAD_BYTES) {
            return peer.close(TRY_AGAIN, "Too much is unread: connect again with last_event_id");
          }
          peer.send(messageText(entry));
        }
      }
      peer.close(GOING_AWAY, "The host has ended");
    },
    closed: () => reader.leave(),
  });
}

/** The entry that stands where others are missing. */
const GAP = { kind: "gap", plugin: "", text: "{}" } as const;

type Sent = Pick<FeedEntry, "kind" | "plugin" | "text"> & { readonly id: string };

/** Returns a reader: `next` waits for entries, and is null when the feed has ended. It never resolves after `leave`. */
function readerOf({ feed, from, wants }: Subscription) {
  let { seq, missed } = from;
  let hasLeft = false;
  let stopListening = (): void => {};

  function read(): Sent[] {
    const found = feed.after(seq, BATCH);
    const isGap = missed || found.missed;
    missed = false;
    const before = (found.entries[0]?.seq ?? feed.newest + 1) - 1;
    seq = found.entries.at(-1)?.seq ?? feed.newest;
    return [...(isGap ? [{ ...GAP, id: feed.idAt(before) }] : []), ...found.entries.filter(wants)];
  }

  return {
    async next(): Promise<Sent[] | null> {
      for (;;) {
        const batch = read();
        if (batch.length > 0) return batch;
        if (seq < feed.newest) continue;
        if (feed.isClosed) return null;
        await new Promise<void>((resolve) => {
          if (!hasLeft) stopListening = feed.listen(resolve);
        });
        stopListening();
      }
    },
    leave(): void {
      hasLeft = true;
      stopListening();
    },
  };
}

function messageText({ id, kind, plugin, text }: Sent): string {
  return `{"id":${JSON.stringify(id)},"kind":"${kind}","plugin":${JSON.stringify(plugin)},"data":${text}}`;
}
