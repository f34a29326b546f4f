/**
 * Makes audit events: each is stamped once and handed to every sink and listener in order.
 *
 * @module
 */
import type { Clock } from "../ports/ports.ts";
import { SecretMask } from "../values/secret_mask.ts";
import { timestamps } from "../values/timestamps.ts";
import { TurnTime } from "../values/turn_time.ts";
import { CallLines } from "./call_lines.ts";
import type { AuditData, AuditEvent, AuditSink, AuditType } from "./events.ts";
import { eventLimit } from "./limit_events.ts";

/** The plugin instance that an event is about. */
export interface AuditSubject {
  /** Name of the plugin; `host` for events of the host itself. */
  readonly name: string;
  /** Instance id; the project's id for events of the host itself. */
  readonly instance: string;
}

/** Makes audit events and hands them on. */
export interface Audit {
  /**
   * Emits one event. Never throws: a listener that does is counted in {@link listenerErrors}. Of events that a plugin
   * causes by itself, those above 100 in a minute are counted in one `plugin.repeated`.
   */
  emit<T extends AuditType>(type: T, subject: AuditSubject, data: AuditData[T], requestId?: string | null): void;
  /** Calls `listener` with every event until the returned function is called. */
  on(listener: (event: AuditEvent) => void): () => void;
  /** Resolves when every sink has stored the events it was given. */
  flush(): Promise<void>;
  /** Whether there is a sink or a listener: on a hot path, ask before making the data. */
  readonly active: boolean;
  /** Number of times that a sink or a listener threw. */
  readonly listenerErrors: number;
}

/** The audit behind a supervisor: calls have a shorter way to their trail. */
export interface CallAudit extends Audit {
  /** Returns the lines of an instance's calls, which stand in for their events while the calls trail alone hears. */
  callLines(subject: AuditSubject, secrets?: SecretMask): CallLines;
}

const NO_SECRETS = new SecretMask();

/** Returns an audit that writes to the given sinks: they get every event before the listeners do. */
export function createAudit(
  { clock, sinks = [] }: { readonly clock: Clock; readonly sinks?: readonly AuditSink[] },
): CallAudit {
  const stores = sinks.map((sink) => (event: AuditEvent) => sink.write(event));
  const listeners = new Set<(event: AuditEvent) => void>(stores);
  const stamp = timestamps(clock);
  let listenerErrors = 0;

  function hand(event: AuditEvent, hearers: Iterable<(event: AuditEvent) => void>): void {
    for (const hear of hearers) {
      try {
        hear(event);
      } catch {
        listenerErrors++;
      }
    }
  }

  const limit = eventLimit(clock, (subject, counted) => make("plugin.repeated", subject, counted, null));

  function make(type: AuditType, { name, instance }: AuditSubject, data: object, requestId: string | null): void {
    hand({ type, timestamp: stamp(), name, instance, request_id: requestId, data } as AuditEvent, listeners);
  }

  const [only] = sinks;
  const take = sinks.length === 1 ? only!.writeCallLine?.bind(only) ?? null : null;
  const lines = {
    time: new TurnTime(clock),
    take: () => listeners.size === 1 ? take : null,
    isHeard: () => listeners.size > 0,
  };

  for (const sink of sinks) sink.hear?.((event) => hand(event, [...listeners].slice(stores.length)));
  return {
    emit(type, subject, data, requestId = null) {
      if (listeners.size > 0 && limit.takes(type, subject, data)) make(type, subject, data, requestId);
    },
    on(listener) {
      const own = (event: AuditEvent) => listener(event); // The same function may be added twice.
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    callLines: (subject, secrets = NO_SECRETS) => new CallLines(lines, subject, secrets),
    async flush() {
      limit.report();
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
