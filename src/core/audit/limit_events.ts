/**
 * The limit on events that a plugin can cause at any rate: the first ones of a minute are recorded, the rest counted.
 *
 * @module
 */
import type { Clock } from "../ports/ports.ts";
import type { AuditBase, AuditData, AuditType } from "./events.ts";

type Subject = Pick<AuditBase, "name" | "instance">;

/** Events of one kind and one plugin instance that are recorded in a minute. */
export const EVENTS_PER_MINUTE: number = 100;

const MINUTE_MS = 60_000;

/** Events that a plugin causes by itself, as often as it likes. Calls and hooks come as often as the host makes them. */
const LIMITED: ReadonlySet<AuditType> = new Set<AuditType>([
  "plugin.notification",
  "plugin.notification_flood",
  "plugin.stdout_noise",
  "plugin.protocol_violation",
  "plugin.storage_denied",
  "plugin.net_opened",
  "plugin.net_refused",
  "plugin.tools_listed",
  "plugin.mcp_failed",
  "plugin.mcp_request",
]);

/** A minute of one kind of event. */
interface Minute {
  startMs: number;
  taken: number;
  dropped: number;
  /** Time of the first event that was dropped. */
  since: string;
  cancel: () => void;
}

/** Says which events are recorded. */
export interface EventLimit {
  /** Whether an event is recorded; one that is not is counted. */
  takes(type: AuditType, subject: Subject, data: object): boolean;
  /** Reports what was counted so far. */
  report(): void;
}

/** Returns a limit that reports what it counted to `report`: at the end of each minute, and when it is asked. */
export function eventLimit(
  clock: Clock,
  report: (subject: Subject, counted: AuditData["plugin.repeated"]) => void,
): EventLimit {
  const minutes = new Map<string, Minute & { readonly subject: Subject; readonly event: AuditType }>();

  function reportOne(key: string): void {
    const minute = minutes.get(key);
    if (minute === undefined || minute.dropped === 0) return;
    const { subject, event, dropped: count, since } = minute;
    minute.cancel();
    minute.dropped = 0;
    report(subject, { event, count, since });
  }

  return {
    takes(event, { name, instance }, data) {
      if (!LIMITED.has(event)) return true;
      // The host names the violation, and how a refusal was seen: a flood of one must not hide another.
      const kind = "violation_type" in data ? data.violation_type : "source" in data ? data.source : "";
      const key = `${instance} ${event} ${kind}`;
      const nowMs = clock.monotonic();
      let minute = minutes.get(key);
      if (minute === undefined || nowMs - minute.startMs >= MINUTE_MS) {
        reportOne(key);
        const fresh = { startMs: nowMs, taken: 0, dropped: 0, since: "", cancel: () => {} };
        minutes.set(key, minute = { ...fresh, subject: { name, instance }, event });
      }
      if (minute.taken < EVENTS_PER_MINUTE) return ++minute.taken > 0;
      if (minute.dropped++ === 0) {
        minute.since = new Date(clock.now()).toISOString();
        minute.cancel = clock.after(minute.startMs + MINUTE_MS - nowMs, () => reportOne(key));
      }
      return false;
    },
    report() {
      for (const key of minutes.keys()) reportOne(key);
    },
  };
}
