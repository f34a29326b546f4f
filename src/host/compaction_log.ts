/**
 * The newest compactions of each agent, for the console and the API.
 *
 * @module
 */
import type { CompactionResult } from "../core/compaction/types.ts";

/** One compaction. Texts are cut to 2000 characters. */
export interface CompactionRecord extends Pick<CompactionResult, "by" | "before" | "after"> {
  /** ISO 8601, when the compaction ended. */
  readonly timestamp: string;
  /** Session whose window was compacted. */
  readonly session_id: string;
  /** Why the window was compacted then. */
  readonly trigger: string;
  /** Number of messages that were replaced. */
  readonly superseded: number;
  /** Summary of the replaced messages, or null where they were dropped. */
  readonly summary: string | null;
  /** Texts that observers asked to keep, at most 50. */
  readonly retained: readonly { readonly plugin: string; readonly text: string }[];
  /** Text of observers that the window had no room for. */
  readonly left_out: readonly { readonly plugin: string; readonly hook: string; readonly bytes: number }[];
  /** Why the agent's first choice of compaction failed, or null. */
  readonly fallback: string | null;
}

const MAX_RECORDS = 20;
const MAX_RETAINED = 50;
const MAX_TEXT = 2000;

/** Keeps the newest compactions of each agent, as long as the host lives. */
export class CompactionLog {
  readonly #records = new Map<string, CompactionRecord[]>();

  /** Adds the result of a compaction. */
  add(
    agent: string,
    at: Pick<CompactionRecord, "timestamp" | "session_id" | "trigger">,
    { by, before, after, superseded, summary, retained, leftOut, fallback }: CompactionResult,
  ): void {
    const record: CompactionRecord = {
      ...at,
      by,
      before,
      after,
      superseded: superseded.length,
      summary: summary === undefined ? null : cut(summary),
      retained: retained.slice(0, MAX_RETAINED).map(({ plugin, text }) => ({ plugin, text: cut(text) })),
      left_out: leftOut ?? [],
      fallback: fallback?.reason ?? null,
    };
    this.#records.set(agent, [record, ...this.of(agent)].slice(0, MAX_RECORDS));
  }

  /** Returns the compactions of an agent, newest first. */
  of(agent: string): CompactionRecord[] {
    return [...this.#records.get(agent) ?? []];
  }
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text;
}
