/**
 * The newest compactions of each agent, for whoever looks at how its window is kept small.
 *
 * @module
 */
import type { CompactionResult } from "../core/compaction/types.ts";
import type { Size } from "../core/compaction/messages.ts";

/** One compaction, looked back at. */
export interface CompactionRecord {
  /** When, ISO 8601. */
  readonly timestamp: string;
  /** Session id. */
  readonly session_id: string;
  /** Why then. */
  readonly trigger: string;
  /** Who made the window smaller. */
  readonly by: CompactionResult["by"];
  /** Size before. */
  readonly before: Size;
  /** Size after. */
  readonly after: Size;
  /** How many messages went. */
  readonly superseded: number;
  /** What was said of it, cut, or null. */
  readonly summary: string | null;
  /** What observers wanted kept, each cut. */
  readonly retained: readonly { readonly plugin: string; readonly text: string }[];
  /** Why the first choice was not used, or null. */
  readonly fallback: string | null;
}

/** Compactions kept for each agent. */
const KEPT = 20;
/** Facts kept of one compaction. */
const MAX_FACTS = 50;
/** Characters kept of a text. */
const MAX_TEXT = 2000;

/** Keeps the newest compactions of each agent. */
export interface CompactionLog {
  /** Takes one. */
  add(
    agent: string,
    at: Pick<CompactionRecord, "timestamp" | "session_id" | "trigger">,
    result: CompactionResult,
  ): void;
  /** Those of an agent, newest first. */
  of(agent: string): CompactionRecord[];
}

/** Returns an empty log. */
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
        retained: retained.slice(0, MAX_FACTS).map(({ plugin, text }) => ({ plugin, text: cut(text) })),
        fallback: fallback?.reason ?? null,
      };
      records.set(agent, [record, ...(records.get(agent) ?? [])].slice(0, KEPT));
    },
    of: (agent) => [...records.get(agent) ?? []],
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text;
}
