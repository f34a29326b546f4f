/**
 * Calls that Mastra asks people about, by `requireApproval` of their tools.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { Session } from "../host/types.ts";
import { HeldCalls } from "./held_calls.ts";
import type { PromptMessage } from "./mastra_messages.ts";
import type { SessionResult } from "./result_parts.ts";
import type { SessionCallOptions, SessionTool } from "./session_tools.ts";

/**
 * Calls of one tool. Mastra asks `requireApproval` with the arguments alone, and executes a call for which that was true
 * only after a person approved it, by the call's own id: so a call is known here by its arguments. Data of a resumed
 * suspension would be no proof of a yes, because Mastra also takes it from the arguments that the model wrote.
 */
export class ApprovedCalls {
  readonly #held = new HeldCalls();
  readonly #asked = new Set<string>();

  /** Whether a person is asked about a call. */
  async isAsked(tool: SessionTool, args: unknown): Promise<boolean> {
    const key = canonicalText(args);
    // Mastra asks again when the run is resumed.
    if (this.#asked.has(key)) return true;
    // A call that was judged and then never made, as in a run that was aborted, is judged anew.
    this.#held.drop(key);
    const isAsked = await this.#held.judge(key, tool, args) !== null;
    if (isAsked) this.#asked.add(key);
    return isAsked;
  }

  /** Makes a call that Mastra executes. */
  make(tool: SessionTool, args: unknown, options: SessionCallOptions): Promise<SessionResult> {
    const key = canonicalText(args);
    const answer = this.#asked.delete(key) ? { decision: "allow" as const } : undefined;
    return this.#held.finish(key, tool, args, { ...options, answer });
  }

  /** A call has a result: one that was asked about and not made was declined, and the gate records that. */
  hasResult(args: unknown, said: string | undefined): void {
    const key = canonicalText(args);
    if (this.#asked.delete(key)) this.#held.deny(key, said);
  }
}

const CALLS = new WeakMap<Session, Map<string, ApprovedCalls>>();

/** Returns the calls of a tool of an agent, which every tool object of that name shares. */
export function approvedCalls(session: Session, name: string, agent: string = PRIMARY): ApprovedCalls {
  let tools = CALLS.get(session);
  if (!tools) CALLS.set(session, tools = new Map());
  const key = canonicalText([agent, name]);
  let calls = tools.get(key);
  if (!calls) tools.set(key, calls = new ApprovedCalls());
  return calls;
}

/** Looks for calls that were declined: Mastra gives the model a result, and calls nothing. */
export function noteResults(session: Session, prompt: readonly PromptMessage[], agent?: string): void {
  const from = prompt.findLastIndex(({ role }) => role === "assistant");
  const parts = prompt.slice(Math.max(from, 0)).flatMap(({ content }) => Array.isArray(content) ? content : []);
  for (const { type, toolCallId, toolName, output } of parts.filter(isMap)) {
    if (type !== "tool-result") continue;
    const call = parts.find((part) => part.type === "tool-call" && part.toolCallId === toolCallId);
    const said = isMap(output) && typeof output["value"] === "string" ? output["value"] : undefined;
    approvedCalls(session, String(toolName), agent).hasResult(call?.input, said);
  }
}
