/**
 * From a full session to a fresh one, in the order that loses nothing: save, end, start, verify.
 *
 * @module
 */
import type { HookEngine } from "../engine/engine.ts";
import { type AgentHooks, agentHooks, type StepResult } from "./agent_hooks.ts";

/** How a session rotates. */
export interface Rotation {
  /** Id of the fresh session. */
  readonly sessionId: string;
  /** The window that is given up, for those who save it. */
  readonly window?: unknown;
  /** Makes the window of the fresh session, given what handlers want in it. Default: that text alone. */
  readonly open?: (context: readonly string[]) => unknown;
}

/** What came of a rotation. */
export interface Rotated extends StepResult {
  /** The points of the fresh session; of the old one when the rotation was blocked. */
  readonly hooks: AgentHooks;
  /** The window of the fresh session. */
  readonly window: unknown;
}

/**
 * Fires `PreCompact`, `SessionEnd`, then in the fresh session `SessionStart` and `PostCompact`. A block of `PreCompact`
 * keeps the old session; later ones are told and too late.
 */
export async function rotateSession(engine: HookEngine, from: AgentHooks, rotation: Rotation): Promise<Rotated> {
  const { sessionId, window, open = (context) => context.join("\n\n") } = rotation;
  const rotatedFrom = from.at.sessionId;
  const saved = await from.beforeCompact({ trigger: "rotation", window });
  if (saved.blocked) return { ...saved, hooks: from, window };
  const ended = await from.onEnd("rotation", { nextSessionId: sessionId });
  const hooks = agentHooks(engine, { ...from.at, sessionId });
  const started = await hooks.onStart({ rotatedFrom });
  const fresh = open(started.context);
  const verified = await hooks.afterCompact({ trigger: "rotation", window: fresh });
  const context = [...started.context, ...verified.context];
  const warnings = [saved, ended, started, verified].flatMap((step) => step.warnings);
  const final = verified.context.length > 0 ? open(context) : fresh;
  return { blocked: false, reason: null, blockedBy: null, context, warnings, hooks, window: final };
}
