/**
 * The state of the host as the page last saw it.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";
import type { Agent, Approval, Consent, EventEntry, HostInfo, Instance } from "../../src/http/answers.ts";

/** An entry of the timeline; a `gap` stands where the host no longer had the entries. */
export interface TimelineEntry extends Omit<EventEntry, "kind"> {
  readonly kind: EventEntry["kind"] | "gap";
}

/** Entries of the timeline that the page keeps. */
const MAX_ENTRIES = 2000;

/** `lost` while the page tries to connect again. */
export type Connection = "connecting" | "live" | "lost";

/** Whether the page follows the host's events. */
export const connection: Signal<Connection> = signal("connecting");
/** The host; null until it answered. */
export const host: Signal<HostInfo | null> = signal(null);
/** Every instance; null until the host answered. */
export const instances: Signal<readonly Instance[] | null> = signal(null);
/** Parents before their subagents. */
export const agents: Signal<readonly Agent[]> = signal([]);
/** Requests for consent, declined ones included. */
export const consents: Signal<readonly Consent[]> = signal([]);
/** Calls that wait for a person, the oldest first, so that new ones move nothing; null until the host answered. */
export const approvals: Signal<readonly Approval[] | null> = signal(null);
/** Whether more calls wait than {@link approvals} has. */
export const hasMoreApprovals: Signal<boolean> = signal(false);
/** The newest events and notifications, newest last. */
export const timeline: Signal<readonly TimelineEntry[]> = signal([]);
/** Number of events of each plugin so far, by name: a view of the plugin loads again when it grows. */
export const changes: Signal<Readonly<Record<string, number>>> = signal({});

/** Adds entries to the timeline; the oldest ones make room. */
export function addEntries(entries: readonly TimelineEntry[]): void {
  if (entries.length === 0) return;
  timeline.value = [...timeline.value, ...entries].slice(-MAX_ENTRIES);
  const counts = { ...changes.value };
  for (const { plugin } of entries) counts[plugin] = (counts[plugin] ?? 0) + 1;
  changes.value = counts;
}
