/**
 * Reads what an observer returns from `pre_compact` and `post_compact`.
 *
 * @module
 */
import { checkAnswer } from "../../hooks/sources/plugin/plugin_answer.ts";
import type { CompactionHook } from "./types.ts";

/** What an observer wants. */
export interface ObserverWish {
  /** Texts to keep. */
  readonly retain: readonly string[];
  /** Text to put before the model, or null. */
  readonly inject: string | null;
  /** What could not be used, for the audit. */
  readonly problems: readonly string[];
}

const MAX_RETAINED = 1000;

/**
 * Reads an observer's result: nothing, a text to put before the model, or `{ retain, inject }`.
 *
 * @throws {HostError} `hook.result_invalid` for what the hookspec refuses: nothing of it is used.
 */
export function readObserverResult(hook: CompactionHook, plugin: string, result: unknown): ObserverWish {
  checkAnswer(hook, plugin, result ?? null, "Return null, a text, or { retain, inject }");
  const given = typeof result === "string" ? { inject: result } : (result ?? {}) as ObserverResult;
  const retain = (given.retain ?? []).filter((text) => text !== "");
  const problems: string[] = [];
  if (given.role === "compactor") problems.push("it answers as a compactor and was asked as an observer");
  if (retain.length > MAX_RETAINED) problems.push(`"retain" holds more than ${MAX_RETAINED} texts`);
  return { retain: retain.slice(0, MAX_RETAINED), inject: given.inject || null, problems };
}

/** What the hookspec lets an observer say, and the one other answer it takes. */
interface ObserverResult {
  readonly retain?: readonly string[];
  readonly inject?: string | null;
  readonly role?: unknown;
}
