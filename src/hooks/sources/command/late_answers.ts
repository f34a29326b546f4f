/**
 * What hooks in the background said: it waits for the next moment of its session at which the model hears something.
 *
 * @module
 */
import { DIALECTS } from "../../files/dialects/all.ts";
import type { FileHook } from "../../files/types.ts";
import type { HookEvent, HookRegistration, HookResponse } from "../../engine/types.ts";
import { joined } from "./effects.ts";

/** Keeps answers that came late. */
export interface LateAnswers {
  /** Keeps an answer for the agent whose event the hook was for. */
  keep(event: HookEvent, answer: HookResponse): void;
  /** Handlers that hand the answers on; none where no hook of these can have a late answer. */
  registrations(hooks: readonly FileHook[]): HookRegistration[];
}

/** Moments whose context the model reads with what it does next. */
const MOMENTS = ["UserPromptSubmitted", "PostToolUse"] as const;
/** Agents whose answers are kept; the oldest go first. A session that never fires again takes its answers along. */
const MAX_AGENTS = 100;
/** Texts that one agent is kept for. */
const MAX_TEXTS = 20;
/** Characters of one text, as in Claude Code. */
const MAX_CHARS = 10_000;

/** Returns an empty store of late answers. */
export function lateAnswers(): LateAnswers {
  const waiting = new Map<string, HookResponse>();
  const keyOf = ({ sessionId, agent }: HookEvent): string => JSON.stringify([sessionId, agent]);
  const bounded = (texts: readonly string[] = []): string[] =>
    texts.slice(-MAX_TEXTS).map((text) => text.slice(0, MAX_CHARS));
  const take = (event: HookEvent): HookResponse | null => {
    const answer = waiting.get(keyOf(event)) ?? null;
    waiting.delete(keyOf(event));
    return answer;
  };
  return {
    keep(event, answer) {
      const key = keyOf(event);
      const all = joined(waiting.get(key) ?? null, answer);
      waiting.delete(key);
      if (all === null) return;
      const { additionalContext, warnings } = all;
      const kept = { additionalContext: bounded(additionalContext), warnings: bounded(warnings) };
      waiting.set(key, joined(null, kept)!);
      const [oldest] = waiting.keys();
      if (waiting.size > MAX_AGENTS) waiting.delete(oldest!);
    },
    registrations(hooks) {
      const isHeard = ({ background, dialect }: FileHook): boolean =>
        background && DIALECTS[dialect].exits.later !== undefined;
      if (!hooks.some(isHeard)) return [];
      return MOMENTS.map((hook): HookRegistration => ({
        hook,
        handler: take,
        matches: (event) => waiting.has(keyOf(event)),
        source: { kind: "file", id: "hooks in the background" },
      }));
    },
  };
}
