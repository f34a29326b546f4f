/**
 * Messages of one session that its client may have missed: kept in memory, bounded in number and size.
 *
 * @module
 */
import type { EventStore } from "./serve_http_sdk.ts";

/** Most messages that are kept for a session. */
const MAX_EVENTS = 1_000;
/** Most text that is kept for a session: one largest answer fits. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

interface KeptEvent {
  readonly number: number;
  readonly stream: string;
  readonly message: unknown;
  readonly size: number;
}

/**
 * Returns an empty store. Ids name their stream and count up over all streams of the session. A client that comes back
 * after a message was dropped is refused instead of being sent a stream with a hole.
 */
export function createEventStore(
  { maxEvents = MAX_EVENTS, maxCharacters = MAX_CHARACTERS }: {
    readonly maxEvents?: number;
    readonly maxCharacters?: number;
  } = {},
): EventStore {
  const kept: KeptEvent[] = [];
  // The one stream that lives as long as its session has a mark of its own: busy calls do not make it unresumable.
  const dropped = { standing: 0, calls: 0 };
  let size = 0;
  let last = 0;

  function drop(): void {
    while (kept.length > maxEvents || size > maxCharacters) {
      const { number, stream, size: freed } = kept.shift()!;
      size -= freed;
      dropped[kindOf(stream)] = number;
    }
  }

  return {
    storeEvent(stream, message) {
      const number = ++last;
      const event = { number, stream, message, size: JSON.stringify(message).length };
      kept.push(event);
      size += event.size;
      drop();
      return Promise.resolve(`${stream}/${number}`);
    },
    getStreamIdForEventId(id) {
      const place = placeOf(id);
      const isWhole = place !== null && place.number <= last && place.number >= dropped[kindOf(place.stream)];
      return Promise.resolve(isWhole ? place.stream : undefined);
    },
    async replayEventsAfter(id, { send }) {
      const { stream, number } = placeOf(id)!;
      const missed = kept.filter((event) => event.stream === stream && event.number > number && !isEmpty(event));
      for (const event of missed) await send(`${stream}/${event.number}`, event.message);
      return stream;
    },
  };
}

/** The SDK's name for the stream of a session that belongs to no call. */
const STANDING_STREAM = "_GET_stream";

function kindOf(stream: string): "standing" | "calls" {
  return stream === STANDING_STREAM ? "standing" : "calls";
}

function placeOf(id: string): { readonly stream: string; readonly number: number } | null {
  const [, stream, number] = /^(.+)\/([1-9][0-9]{0,14})$/.exec(id) ?? [];
  return stream === undefined ? null : { stream, number: Number(number) };
}

/** The first event of a stream carries an id and no message. */
function isEmpty({ message }: KeptEvent): boolean {
  return Object.keys(message as object).length === 0;
}
