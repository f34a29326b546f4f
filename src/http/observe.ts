/**
 * Follows a host: keeps its newest events for streams, and counts.
 *
 * @module
 */
import { Feed } from "../core/values/feed.ts";
import type { Host } from "../host/types.ts";
import { createMetrics, type Metrics } from "./metrics.ts";

/** Bounds of the events kept for clients that return; the length is in characters. */
const KEPT = { maxEntries: 2000, maxLength: 8 * 1024 * 1024 } as const;
/** Characters; the params of a longer notification are left out. */
const MAX_NOTIFICATION = 256 * 1024;

/** The events and counters of a host. */
export interface Observed {
  /** Audit events and plugins' notifications. */
  readonly events: Feed;
  readonly metrics: Metrics;
  /** Stops following the host and ends every stream. */
  close(): void;
}

/** Follows a host from now on. */
export function observe(host: Host): Observed {
  const { clock, ids } = host.view;
  const events = new Feed({ name: ids.create("evt"), ...KEPT });
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
