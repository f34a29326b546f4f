/**
 * From a full session to a fresh one, in the order that loses nothing: save, end, start, verify.
 *
 * @module
 */
import type { HookEngine } from "../engine/engine.ts";
import { type AgentHooks, agentHooks, type StepResult } from "./agent_hooks.ts";

/** The fresh session, and how its window is made. */
export interface Rotation {
  /** Id that the fresh session gets. */
  readonly session: string;
  /** The window that is given up, for handlers that save it. */
  readonly window?: unknown;
  /** Makes the window of the fresh session from the texts that handlers inject. Default: these texts alone. */
  readonly open?: (context: readonly string[]) => unknown;
}

/** The outcome of a rotation. */
export interface Rotated extends StepResult {
  /** The points of the fresh session; of the old one when the rotation was blocked. */
  readonly hooks: AgentHooks;
  /** The window of the fresh session; of the old one when the rotation was blocked. */
  readonly window: unknown;
}

/**
 * Fires `PreCompact`, `SessionEnd`, then in the fresh session `SessionStart` and `PostCompact`. A block of `PreCompact`
 * keeps the old session; later ones come too late. A window that a handler of `PostCompact` modifies is the one that is
 * used, without the texts that were injected after it was made: those are in `context`.
 */
export async function rotateSession(engine: HookEngine, from: AgentHooks, rotation: Rotation): Promise<Rotated> {
  const { session, window, open = (context) => context.join("\n\n") } = rotation;
  const { input, ...saved } = await from.beforeCompact({ trigger: "rotation", window });
  if (saved.blocked) return { ...saved, hooks: from, window: input };
  const ended = await from.onEnd("rotation", { nextSessionId: session });
  const hooks = agentHooks(engine, { ...from.at, session });
  const started = await hooks.onStart({ rotatedFrom: from.at.session });
  const fresh = open(started.context);
  const verified = await hooks.afterCompact({ trigger: "rotation", window: fresh });
  const context = [...started.context, ...verified.context];
  const warnings = [saved, ended, started, verified].flatMap((step) => step.warnings);
  const isModified = verified.output !== fresh;
  const final = isModified || verified.context.length === 0 ? verified.output : open(context);
  return { blocked: false, reason: null, blockedBy: null, context, warnings, hooks, window: final };
}
