/**
 * What compaction takes and gives.
 *
 * @module
 */
import type { Message, Size } from "../messages.ts";

/** Text a plugin put before a model, and what became of it. */
export interface Injection {
  /** The plugin. */
  readonly plugin: string;
  /** The hook that asked for it. */
  readonly hook: string;
  /** Bytes of it that were used. */
  readonly bytes: number;
  /** SHA-256 of what the plugin returned, in hex. */
  readonly sha256: string;
  /** Whether it was cut. */
  readonly cut: boolean;
}

/** What came of a compaction. */
export interface CompactionResult {
  /** The new window. */
  readonly messages: Message[];
  /** Ids of messages that are no longer in it. */
  readonly superseded: string[];
  /** Who made it smaller. */
  readonly by: "compactor" | "drop" | "summarize" | "none";
  /** What the compactor or the summarizer says it did. */
  readonly summary?: string;
  /** What observers want kept, by plugin. */
  readonly retained: { readonly plugin: string; readonly text: string }[];
  /** Text observers want before the model, wrapped. */
  readonly injected: Injection[];
  /** Size before. */
  readonly before: Size;
  /** Size after. */
  readonly after: Size;
  /** Why the first choice was not used, when it was not. */
  readonly fallback?: { readonly reason: string };
}
