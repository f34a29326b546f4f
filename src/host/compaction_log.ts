/**
 * The newest compactions of each agent, for the console and the API.
 *
 * @module
 */
import type { CompactionResult } from "../core/compaction/types.ts";
import type { Size } from "../core/compaction/messages.ts";

/** One compaction. Texts are cut to 2000 characters. */
export interface CompactionRecord {
  /** ISO 8601, when the compaction ended. */
  readonly timestamp: string;
  /** Session whose window was compacted. */
  readonly session_id: string;
  /** Why the window was compacted then. */
  readonly trigger: string;
  /** The compactor plugin, one of the host's strategies, or `none` when the window stayed as it was. */
  readonly by: CompactionResult["by"];
  /** Size of the window before the compaction. */
  readonly before: Size;
  /** Size of the window after it, retained texts included. */
  readonly after: Size;
  /** Number of messages that were replaced. */
  readonly superseded: number;
  /** Summary of the replaced messages, or null where they were dropped. */
  readonly summary: string | null;
  /** Texts that observers asked to keep, at most 50. */
  readonly retained: readonly { readonly plugin: string; readonly text: string }[];
  /** Why the agent's first choice of compaction failed, or null. */
  readonly fallback: string | null;
}

const MAX_RECORDS = 20;
const MAX_RETAINED = 50;
const MAX_TEXT = 2000;

/** Keeps the newest compactions of each agent. */
export interface CompactionLog {
  /** Adds the result of a compaction. */
  add(
    agent: string,
    at: Pick<CompactionRecord, "timestamp" | "session_id" | "trigger">,
    result: CompactionResult,
  ): void;
  /** Returns the compactions of an agent, newest first. */
  of(agent: string): CompactionRecord[];
}

/** Returns a log that lives as long as the host. */
export function compactionLog(): CompactionLog {
  const records = new Map<string, CompactionRecord[]>();
  return {
    add(agent, at, { by, before, after, superseded, summary, retained, fallback }) {
      const record: CompactionRecord = {
        ...at,
        by,
        before,
        after,
        superseded: superseded.length,
        summary: summary === undefined ? null : cut(summary),
        retained: retained.slice(0, MAX_RETAINED).map(({ plugin, text }) => ({ plugin, text: cut(text) })),
        fallback: fallback?.reason ?? null,
      };
      records.set(agent, [record, ...(records.get(agent) ?? [])].slice(0, MAX_RECORDS));
    },
    of: (agent) => [...records.get(agent) ?? []],
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text;
}
