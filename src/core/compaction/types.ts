/**
 * What compaction takes and gives.
 *
 * @module
 */
import type { CountTokens, Message, Size } from "./messages.ts";
import type { Clock, Ids } from "../ports/ports.ts";
import type { CompactionSettings } from "../project/types.ts";

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
  /** Text observers want before the model; it is in {@link messages}, wrapped, after the system messages. */
  readonly injected: Injection[];
  /** Size before. */
  readonly before: Size;
  /** Size after. */
  readonly after: Size;
  /** A hook that is no plugin's blocked: before, and the window is as it was; or after, and the agent is to stop. */
  readonly blocked?: {
    /** Who. */
    readonly by: string;
    /** Why. */
    readonly reason: string;
  };
  /** Why the first choice was not used, when it was not. */
  readonly fallback?: {
    /** For a program, such as `timeout` or `compactor_dropped_always_keep`. */
    readonly reason: string;
    /** For a person. */
    readonly detail: string;
  };
}

/** A hook that compaction fires. */
export type CompactionHook = "pre_compact" | "post_compact";

/** What such a hook is sent, beside `_context`. */
export interface CompactionHookParams {
  /** In which role the plugin is asked. */
  readonly role: "observer" | "compactor";
  /**
   * Before: what may go (a compactor is asked) or will go (a strategy decides). After: what is gone. Messages that
   * always stay are never among them.
   */
  readonly messages_being_compacted: readonly Message[];
  /** Before: the other messages. After: the new window. */
  readonly messages_remaining: readonly Message[];
  /** Before: the agent's strategy. After: what was done. */
  readonly strategy: "drop" | "summarize" | "compactor";
  /** Why now. */
  readonly trigger: string;
}

/** What came of firing a hook at one plugin. */
export type CompactionHookOutcome =
  /** The plugin answered. */
  | { readonly ok: true; readonly result: unknown }
  /** It did not: `timeout`, `failed`, `unavailable`, `oversize`; what is wrong is told in full in `detail`. */
  | { readonly ok: false; readonly reason: string; readonly detail: string };

/** A plugin of the agent whose window is compacted. */
export interface CompactionPlugin {
  /** The key it is declared under. */
  readonly key: string;
  /** Its own name. */
  readonly plugin: string;
  /** Hooks that fire for this agent. */
  readonly hooks: readonly string[];
}

/** What came of asking those who look on. */
export interface ObserverRound {
  /** Texts for the model, in the order of those who want them. */
  readonly texts: readonly string[];
  /** Who blocked, and why; null when nobody did. */
  readonly blocked: CompactionResult["blocked"] | null;
}

/** What those who look on are asked about. */
export interface ObserverQuestion {
  /** The hook. */
  readonly hook: CompactionHook;
  /** What plugins are sent. */
  readonly params: CompactionHookParams;
  /** The window as it stands. */
  readonly window: readonly Message[];
  /** Its size before. */
  readonly before: Size;
  /** Its size after; null while it is not made. */
  readonly after: Size | null;
  /** Plugins that take the hook, in the order they are declared. */
  readonly observers: readonly CompactionPlugin[];
  /** Asks one of them. Returns the text it wants before the model, wrapped, or null. Rejects when it failed. */
  readonly ask: (observer: CompactionPlugin) => Promise<string | null>;
}

/** A window to compact. */
export interface CompactionTask {
  /** The window. */
  readonly messages: readonly Message[];
  /** Why now, such as `threshold_crossed`. */
  readonly trigger: string;
  /** Tokens to come down to; goes before the agent's own target. */
  readonly targetTokens?: number;
  /** How the agent's window is compacted. */
  readonly settings: CompactionSettings;
  /** The agent's plugins that run, in the order they are declared. */
  readonly plugins: readonly CompactionPlugin[];
}

/** Audit events of a compaction, by type. They are about one request: its id makes them a chain. */
export interface CompactionAudit {
  /** A compaction starts. */
  "compaction.triggered": {
    trigger: string;
    strategy: string;
    delegate: string | null;
    before: Size;
    target_tokens: number | null;
    target_messages: number | null;
    being_compacted: number;
  };
  /** The compactor left out or changed messages that always stay. */
  "compactor_dropped_always_keep": { plugin: string; message_ids: string[]; total: number };
  /** What was to make the window smaller did not; the oldest messages are dropped instead. */
  "compaction.failed": { by: "compactor" | "summarize"; plugin: string | null; reason: string; detail: string };
  /** A compaction is done. */
  "compaction.completed": {
    by: CompactionResult["by"];
    before: Size;
    after: Size;
    superseded: number;
    summary: string | null;
    retained: number;
    injected: number;
    /** Parts of observers' answers that could not be used. */
    ignored: { plugin: string; hook: string; problem: string }[];
    /** False when more had to stay than the target allows. */
    target_reached: boolean;
    /** Why the first choice was not used, or null. */
    fallback: string | null;
  };
}

/** What a compaction needs of the host around it. */
export interface CompactionPorts {
  /** Fires a hook at one plugin and always settles: the hook's own timeout bounds it. */
  fire(hook: CompactionHook, params: CompactionHookParams, plugin: CompactionPlugin): Promise<CompactionHookOutcome>;
  /** Asks those who look on, plugins and others, in their order. Default: the plugins, one after the other. */
  observe?(question: ObserverQuestion): Promise<ObserverRound>;
  /** Wraps and cuts what a plugin wants before the model. Null when nothing of it is used. */
  inject(
    plugin: string,
    hook: CompactionHook,
    text: string,
  ): Promise<{ readonly text: string; readonly injection: Injection } | null>;
  /** Takes an audit event. */
  audit<T extends keyof CompactionAudit>(type: T, data: CompactionAudit[T]): void;
  /** Tokens of a message. */
  readonly countTokens: CountTokens;
  /** Makes ids for messages. */
  readonly ids: Ids;
  /** Time, to bound the summary. */
  readonly clock: Clock;
  /** Makes a summary for the strategy `summarize`. */
  readonly summarize?: (messages: Message[], context: { signal: AbortSignal }) => Promise<string>;
  /** How long that may take. Default 60 000. */
  readonly summarizeTimeoutMs?: number;
}
