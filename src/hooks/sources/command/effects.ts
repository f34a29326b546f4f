/**
 * What a hook's no does: agents listen to it at some moments, and show its text at others.
 *
 * @module
 */
import type { Effect } from "../../files/dialects/types.ts";
import type { FileHook } from "../../files/types.ts";
import type { HookResponse } from "../../engine/types.ts";

/** Returns a no as an answer: its text is the reason, a notice, context for the model, or the output itself. */
export function inEffect(effect: Effect, text: string, hook: Pick<FileHook, "id">): HookResponse | null {
  const isSilent = text.trim() === "";
  const reason = isSilent ? `The hook ${hook.id} gave no reason` : text;
  if (effect === "block") return { action: "block", reason };
  if (effect === "show") return { action: "passThrough", warnings: [reason] };
  if (effect === "ignore" || isSilent) return null;
  if (effect === "replace") return { action: "modify", modifiedOutput: text };
  return { action: "injectContext", additionalContext: [text] };
}

/** Returns an answer with the notices and the context that a hook gave beside it. */
export function joined(
  answer: HookResponse | null,
  beside: Pick<HookResponse, "warnings" | "additionalContext">,
): HookResponse | null {
  const warnings = [...(answer?.warnings ?? []), ...(beside.warnings ?? [])];
  const additionalContext = [...(answer?.additionalContext ?? []), ...(beside.additionalContext ?? [])];
  const more = {
    ...(warnings.length > 0 && { warnings }),
    ...(additionalContext.length > 0 && { additionalContext }),
  };
  if (answer !== null) return { ...answer, ...more };
  if (Object.keys(more).length === 0) return null;
  return { action: additionalContext.length > 0 ? "injectContext" : "passThrough", ...more };
}
