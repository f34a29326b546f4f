/**
 * What the API keeps of a host's doings: the newest events, and counts.
 *
 * @module
 */
import { Feed } from "../core/values/feed.ts";
import type { Host } from "../host/types.ts";
import { createMetrics, type Metrics } from "./metrics.ts";

/** Events kept for readers that come back. */
const MAX_EVENTS = 2000;
/** Characters kept of them. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** A notification that is longer is told without what it carries. */
const MAX_NOTIFICATION = 256 * 1024;

/** A host under observation. */
export interface Observed {
  /** Audit events and plugins' notifications. */
  readonly events: Feed;
  /** What was counted. */
  readonly metrics: Metrics;
  /** Ends it, and with it every stream. */
  close(): void;
}

/** Observes a host. */
export function observe(host: Host): Observed {
  const { clock, ids } = host.view;
  const events = new Feed({ name: ids.create("evt"), maxEntries: MAX_EVENTS, maxLength: MAX_LENGTH });
  const metrics = createMetrics();
  const stops = [
    host.onAudit((event) => {
      metrics.observe(event);
      events.push("audit", event.name, event);
    }),
    host.onNotification(({ instance, method, params = null }) => {
      const plugin = instance.split("@")[0]!;
      const isLong = JSON.stringify(params).length > MAX_NOTIFICATION;
      const timestamp = new Date(clock.now()).toISOString();
      const carried = isLong ? { params: null, cut: true } : { params, cut: false };
      events.push("notification", plugin, { timestamp, plugin, instance, method, ...carried });
    }),
  ];
  return {
    events,
    metrics,
    close() {
      for (const stop of stops) stop();
      events.close();
    },
  };
}
