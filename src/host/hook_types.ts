/**
 * Options of a host's hooks, and the results of a session's moments.
 *
 * @module
 */
import type { Injection } from "../core/compaction/types.ts";
import type { HookTrace } from "../hooks/engine/result.ts";

/** Options of a host's hooks. */
export interface HostHookOptions {
  /** Called with each handler's part in each firing. */
  readonly onTrace?: (trace: HookTrace) => void;
  /** Bytes that handlers other than plugins may inject in one firing. Default 128 KiB. */
  readonly injectBudgetBytes?: number;
  /**
   * Turn markers that injected text must not carry, beside the usual ones and those of `config.toml`, such as
   * `"<|my_turn|>"`, `"<context>"` or `"Narrator:"`.
   */
  readonly turnMarkers?: readonly string[];
}

/** The handler that blocked a moment, and its reason; both absent when none did. */
export interface Blockable {
  readonly blocked?: { readonly by: string; readonly reason: string };
}

/** The result of `SessionStart`. */
export interface SessionStarted extends Blockable {
  /** The prompt that the hook was fired with. */
  readonly given: string;
  /** The same as handlers left it. */
  readonly prompt: string;
  /** Text to go before a prompt. */
  readonly text: string;
  /** Records of the plugins' part of the text. */
  readonly injected: readonly Injection[];
}
