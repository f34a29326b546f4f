/**
 * Where audit events are made: stamped once, handed to every sink and listener in order.
 *
 * @module
 */
import type { Clock } from "../ports/ports.ts";
import type { AuditData, AuditEvent, AuditSink, AuditType } from "./events.ts";

/** Whom an event is about. */
export interface AuditSubject {
  /** The plugin's name. */
  readonly name: string;
  /** Which instance of it. */
  readonly instance: string;
}

/** Makes audit events and hands them on. */
export interface Audit {
  /** Emits one event. Never throws: a listener that does is counted in {@link listenerErrors}. */
  emit<T extends AuditType>(type: T, subject: AuditSubject, data: AuditData[T], requestId?: string | null): void;
  /** Hears every event; the returned function ends it. */
  on(listener: (event: AuditEvent) => void): () => void;
  /** Resolves when every sink has kept what it took. */
  flush(): Promise<void>;
  /** Whether anyone listens: on a hot path, ask before making the data. */
  readonly active: boolean;
  /** How often a listener threw. */
  readonly listenerErrors: number;
}

/** What {@link createAudit} needs. */
export interface AuditOptions {
  /** Time of the events. */
  readonly clock: Clock;
  /** Where they go, besides listeners. */
  readonly sinks?: readonly AuditSink[];
}

/** Returns an {@link Audit} over the given sinks. */
export function createAudit({ clock, sinks = [] }: AuditOptions): Audit {
  const listeners = new Set<(event: AuditEvent) => void>(sinks.map((sink) => (event) => sink.write(event)));
  const stamp = timestamps(clock);
  let listenerErrors = 0;
  return {
    emit(type, { name, instance }, data, requestId = null) {
      if (listeners.size === 0) return;
      const event = { type, timestamp: stamp(), name, instance, request_id: requestId, data } as AuditEvent;
      for (const listener of listeners) {
        try {
          listener(event);
        } catch {
          listenerErrors++;
        }
      }
    },
    on(listener) {
      const own = (event: AuditEvent) => listener(event); // The same function may be added twice.
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async flush() {
      await Promise.all(sinks.map((sink) => sink.flush?.()));
    },
    get active() {
      return listeners.size > 0;
    },
    get listenerErrors() {
      return listenerErrors;
    },
  };
}

/** Formats a moment once per millisecond: under load many events share one. */
function timestamps(clock: Clock): () => string {
  let at = NaN;
  let text = "";
  return () => {
    const now = clock.now();
    if (now !== at) {
      at = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
