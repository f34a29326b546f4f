/**
 * The shapes of a compaction: its task, the ports it works with, its result and its audit events.
 *
 * @module
 */
import type { CountTokens, Message, Size } from "./messages.ts";
import type { Clock, Ids } from "../ports/ports.ts";
import type { CompactionSettings } from "../project/types.ts";
import type { EscapeMarkers } from "../values/escape_markers.ts";

/** The record of a text that a plugin put before a model. */
export interface Injection {
  /** Name of the plugin. */
  readonly plugin: string;
  /** The hook whose answer held the text. */
  readonly hook: string;
  /** Bytes of it that were used. */
  readonly bytes: number;
  /** SHA-256 of the whole text as the plugin returned it, in hex. */
  readonly sha256: string;
  /** Whether the text was longer than its room. */
  readonly cut: boolean;
}

/** A text of an observer for the model. */
export interface ObserverText {
  /** Wrapped, where it is a plugin's. */
  readonly text: string;
  readonly hook: CompactionHook;
  /** The record of a plugin's text; null for that of another handler. */
  readonly injection: Injection | null;
}

/** The new window, and how it came about; `M` is the type of the caller's own messages. */
export interface CompactionResult<M = Message> {
  /** The window to go on with. Messages that were added have the role `user` and a text. */
  readonly messages: M[];
  /** Ids of messages that are no longer in it. */
  readonly superseded: string[];
  /** The strategy that made it smaller; `none` when nothing had to go. */
  readonly by: "compactor" | "drop" | "summarize" | "none";
  /** The summary of the compactor or the summarizer, where one gave it. */
  readonly summary?: string;
  /** Texts that observers want kept, by plugin. */
  readonly retained: { readonly plugin: string; readonly text: string }[];
  /** Text observers want before the model; it is in {@link messages}, wrapped, after the system messages. */
  readonly injected: Injection[];
  /**
   * Text of observers that is not in {@link messages}: with it the window would exceed the target, or be larger than
   * before. Absent when there is none. `plugin` is `hooks` for other handlers, `bytes` is without a plugin's block.
   */
  readonly leftOut?: { readonly plugin: string; readonly hook: string; readonly bytes: number }[];
  /** Size of the window that was given. */
  readonly before: Size;
  /** Size of the new window, text of observers included. Never larger than {@link before}. */
  readonly after: Size;
  /** A handler that blocked: at `PreCompact` the window stays as it was, at `PostCompact` the agent is to stop. */
  readonly blocked?: {
    /** Id of the handler's source. */
    readonly by: string;
    readonly reason: string;
  };
  /** Why the first choice was not used, when it was not. */
  readonly fallback?: {
    /** For a program, such as `timeout` or `compactor_dropped_always_keep`. */
    readonly reason: string;
    /** The same as a sentence for people. */
    readonly detail: string;
  };
}

/** The hooks around a compaction. */
export type CompactionHook = "pre_compact" | "post_compact";

/** Params of these hooks, beside `_context`. */
export interface CompactionHookParams {
  readonly role: "observer" | "compactor";
  /**
   * Before: what may go (a compactor is asked) or will go (a strategy decides). After: what is gone. Messages that
   * always stay are never among them.
   */
  readonly messages_being_compacted: readonly Message[];
  /** Before: the other messages. After: the new window. */
  readonly messages_remaining: readonly Message[];
  /** Before: the agent's strategy. After: the one that was used. */
  readonly strategy: "drop" | "summarize" | "compactor";
  readonly trigger: string;
}

/** A compactor's answer, or why there is none: `timeout`, `failed`, `unavailable`, `oversize`. */
export type CompactorOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly reason: string; readonly detail: string };

/** A plugin of the agent whose window is compacted. */
export interface CompactionPlugin {
  /** The key it is declared under. */
  readonly key: string;
  /** The name in its manifest. */
  readonly plugin: string;
  /** Hooks that fire for this agent. */
  readonly hooks: readonly string[];
}

/** The moment that observers are asked about. */
export interface ObserverQuestion {
  readonly hook: CompactionHook;
  readonly params: CompactionHookParams;
  /** The window as it stands, for handlers that are no plugins. */
  readonly window: readonly Message[];
  readonly before: Size;
  /** Null at `pre_compact`, before there is one. */
  readonly after: Size | null;
  /**
   * Key of the compactor, which is not asked as an observer before it has compacted, nor after it has let its time pass;
   * null when there is none to leave out.
   */
  readonly except: string | null;
}

/** Everything that observers said at one moment. */
export interface ObserverRound {
  /** Texts for the model, in the order of the handlers. */
  readonly texts: readonly Omit<ObserverText, "hook">[];
  readonly retained: readonly { readonly plugin: string; readonly text: string }[];
  /** Parts of answers that could not be used. */
  readonly ignored: readonly { readonly plugin: string; readonly problem: string }[];
  readonly blocked: CompactionResult["blocked"] | null;
  /** The window as a handler modified it, unchecked; absent when none did. */
  readonly modified?: unknown;
}

/** A window and how it is to be compacted. */
export interface CompactionTask {
  readonly messages: readonly Message[];
  /** Why now, such as `threshold_crossed`. */
  readonly trigger: string;
  /** Tokens to come down to, in place of the agent's own target. */
  readonly targetTokens?: number;
  readonly settings: CompactionSettings;
  /** Why the delegate of the settings cannot compact. Default null: it can. */
  readonly delegateFault?: string | null;
  /** The agent's plugins that run, in the order they are declared. */
  readonly plugins: readonly CompactionPlugin[];
}

/** Audit events of a compaction, by type. They are about one request: its id makes them a chain. */
export interface CompactionAudit {
  /** Before anything is asked or changed. */
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
  /** The compactor or the summary failed; the oldest messages are dropped instead. */
  "compaction.failed": { by: "compactor" | "summarize"; plugin: string | null; reason: string; detail: string };
  /** After the last observer was asked. */
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

/** The host, as a compaction uses it. */
export interface CompactionPorts {
  /** Asks every observer, plugins and others, in one order. A rejection costs this round and nothing else. */
  observe(question: ObserverQuestion): Promise<ObserverRound>;
  /** Asks the compactor. Always settles: the hook's own timeout bounds it. */
  askCompactor(params: CompactionHookParams, plugin: CompactionPlugin): Promise<CompactorOutcome>;
  audit<T extends keyof CompactionAudit>(type: T, data: CompactionAudit[T]): void;
  readonly countTokens: CountTokens;
  /** Makes turn markers harmless in messages that a compactor adds. Default: the usual ones. */
  readonly escape?: EscapeMarkers;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Whether handlers that are no plugins hear these hooks: the strategies keep room free for their text. Default false. */
  readonly mayInject?: boolean;
  /** Makes a summary for the strategy `summarize`. */
  readonly summarize?: (messages: Message[], context: { signal: AbortSignal }) => Promise<string>;
  /** Time a summary may take. Default 60 000. */
  readonly summarizeTimeoutMs?: number;
}
