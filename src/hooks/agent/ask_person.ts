/**
 * The one request to a person that a tool call of a loop may need: made after the chain, for the arguments as they are
 * then.
 *
 * @module
 */
import { type AskedStep, type AskVerdict, changersOf } from "../engine/asks.ts";
import type { HookEngine } from "../engine/engine.ts";
import { errorFacts } from "../engine/error_facts.ts";
import type { HookResult } from "../engine/result.ts";

type Step = Pick<AskedStep, "tool" | "agent" | "sessionId" | "before">;

/**
 * Returns the result as the person's answer leaves it: a yes may bring other arguments, a no is a block. Never rejects:
 * a failure to ask, or an answer that cannot be read, is a no.
 */
export async function askPerson(onAsk: HookEngine["onAsk"], step: Step, result: HookResult): Promise<HookResult> {
  const { asked, blocked, input, trace } = result;
  if (!onAsk || blocked || asked.length === 0) return result;
  try {
    return answered(result, await onAsk({ ...step, input, changedBy: changersOf(trace), asked }));
  } catch (error) {
    return denied(result, "onAsk", `It needs a person's yes, and asking failed: ${errorFacts(error).message}`);
  }
}

function answered(result: HookResult, verdict: AskVerdict): HookResult {
  if (verdict.decision === "allow") return "input" in verdict ? { ...result, input: verdict.input } : result;
  if (verdict.decision === "deny") return denied(result, verdict.by, verdict.reason);
  throw new TypeError("The answer is neither allow nor deny");
}

function denied(result: HookResult, blockedBy: string, reason: string): HookResult {
  return { ...result, blocked: true, blockedBy, reason };
}
