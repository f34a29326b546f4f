/**
 * What the page knows of the host.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";
import type { Agent, ConsentRequest, HostInfo, Instance, TimelineEntry } from "./types.ts";

/** Entries of the timeline that are kept. */
const MAX_ENTRIES = 2000;

/** How the page is connected. */
export type Connection = "connecting" | "live" | "lost";

/** How the page is connected. */
export const connection: Signal<Connection> = signal("connecting");
/** The host; null until it answered. */
export const host: Signal<HostInfo | null> = signal(null);
/** Every instance; null until the host answered. */
export const instances: Signal<readonly Instance[] | null> = signal(null);
/** Every agent. */
export const agents: Signal<readonly Agent[]> = signal([]);
/** What waits for consent. */
export const consents: Signal<readonly ConsentRequest[]> = signal([]);
/** What happened, newest last. */
export const timeline: Signal<readonly TimelineEntry[]> = signal([]);
/** Grows whenever something happened to a plugin, by name. */
export const changes: Signal<Readonly<Record<string, number>>> = signal({});

/** Adds what happened. */
export function addEntries(entries: readonly TimelineEntry[]): void {
  if (entries.length === 0) return;
  timeline.value = [...timeline.value, ...entries].slice(-MAX_ENTRIES);
  const counts = { ...changes.value };
  for (const { plugin } of entries) counts[plugin] = (counts[plugin] ?? 0) + 1;
  changes.value = counts;
}
