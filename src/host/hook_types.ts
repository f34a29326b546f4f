/**
 * How a host's hooks are set up, and what sessions get from them.
 *
 * @module
 */
import type { Injection } from "../core/compaction/types.ts";
import type { HookTrace } from "../hooks/engine/result.ts";

/** How a host's hooks are set up. */
export interface HostHookOptions {
  /** Hears what came of each handler. */
  readonly onTrace?: (trace: HookTrace) => void;
  /** Bytes that handlers other than plugins may inject in one firing. Default 128 KiB. */
  readonly injectBudgetBytes?: number;
}

/** What came of the start of a session. */
export interface SessionStarted {
  /** Text to go before the prompt. */
  readonly text: string;
  /** What of it plugins wanted. */
  readonly injected: readonly Injection[];
  /** Who blocked, and why; absent when nobody did. */
  readonly blocked?: { readonly by: string; readonly reason: string };
}
