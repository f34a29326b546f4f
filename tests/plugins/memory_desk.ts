/**
 * A memory for one test, without the plugin around it.
 *
 * @module
 */
import type { Desk } from "../../plugins/memory-markdown/src/memories.ts";
import { MemoryStore } from "../../plugins/memory-markdown/src/memory_store.ts";
import { settingsOf } from "../../plugins/memory-markdown/src/settings.ts";

/** A desk over a folder, and what its store complained of. */
export interface TestDesk extends Desk {
  /** Reasons of files that were left out. */
  readonly complaints: string[];
}

/** Opens the memory in `dir` with a config and a time of day in 2026. */
export function deskIn(dir: string, config: Record<string, unknown> = {}, now = "2026-05-01T08:00:00.000Z"): TestDesk {
  const complaints: string[] = [];
  const store = new MemoryStore(dir, (_message, { file, reason }) => complaints.push(`${file}: ${reason}`));
  return { store, settings: settingsOf(config), session: "ses_1", now, complaints };
}

/** The same memory, later and in another session. */
export function later<D extends Desk>(desk: D, now: string, session = "ses_2"): D {
  return { ...desk, now, session };
}
