/**
 * The source of an add-on's events, a host or an emitter of one's own, and the warnings of add-ons.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { type AnyEvent, type EmittedName, EVENT_NAMES, type EventName, type Events } from "../events/types.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import { printWarning } from "../core/values/printable.ts";

/** Something that can be listened to, such as a host that was given `events`. */
export interface EventSource {
  /** Subscribes; the returned function ends it. */
  on<E extends EventName>(event: E, listener: (event: Events[E]) => void): () => void;
}

/**
 * Subscribes to the events named, in the order they happen; without names to all.
 *
 * @throws {HostError} `addons.unknown_event` for a name that no event has.
 */
export function hearEvents(
  source: EventSource,
  names: readonly EmittedName[] | undefined,
  listener: (event: AnyEvent) => void,
): () => void {
  if (names === undefined) return source.on("*", listener);
  checkEventNames(names);
  const [only, ...others] = new Set(names);
  if (only === undefined) return () => {};
  // Each name is a queue of its own: two events of different names keep their order only under "*".
  if (others.length > 0) return source.on("*", (event) => names.includes(event.type) && listener(event));
  return source.on(only, (event) => listener({ type: only, ...event } as AnyEvent));
}

/** Throws `addons.unknown_event` when a name is that of no event. */
function checkEventNames(names: readonly string[]): void {
  const unknown = names.find((name) => !EVENT_NAMES.includes(name as EmittedName));
  if (unknown === undefined) return;
  throw new HostError("addons.unknown_event", `There is no event "${unknown}"`, {
    data: { event: unknown, known: EVENT_NAMES },
    hint: didYouMean(unknown, EVENT_NAMES, `Events: ${EVENT_NAMES.join(", ")}`),
  });
}

/** Returns a function that calls `onWarning`, by default `console.error`, and never throws. */
export function warner(onWarning: (message: string) => void = printWarning): (message: string) => void {
  return (message) => {
    try {
      onWarning(message);
    } catch {
      // An error thrown by the warning callback itself is dropped: there is nowhere left to report it.
    }
  };
}
