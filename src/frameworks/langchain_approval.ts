/**
 * Calls that a person is asked about, by an interrupt of LangGraph: all calls of one message of the model in one
 * request, in the shapes of LangChain's own `humanInTheLoopMiddleware`.
 *
 * @module
 */
import type { ApprovalAnswer, ApprovalRequest } from "../core/approvals/types.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import { HostError } from "../core/errors/host_error.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { Session } from "../host/types.ts";
import { HeldCalls } from "./held_calls.ts";
import type { MessageToolCall } from "./langchain_messages.ts";
import type { SessionTool } from "./session_tools.ts";

/** Stops the graph, or returns the answer that it was resumed with. */
export type Interrupt = (value: unknown) => unknown;

/** The calls of a session that were judged, and the answers of people that came for them. */
export interface SessionCalls {
  /** The tools that agents were given, by agent and name. */
  readonly tools: Map<string, SessionTool>;
  readonly held: HeldCalls;
  readonly answers: Map<string, ApprovalAnswer>;
  /** Questions that this process has put, each by its calls and its place among the interrupts of its node. */
  readonly put: Set<string>;
}

const CALLS = new WeakMap<Session, SessionCalls>();

/** Returns the calls of a session, which its tools and its middleware share. */
export function callsOf(session: Session): SessionCalls {
  let calls = CALLS.get(session);
  if (!calls) {
    CALLS.set(session, calls = { tools: new Map(), held: new HeldCalls(), answers: new Map(), put: new Set() });
  }
  return calls;
}

/** Returns the name of a tool of an agent. */
export function toolKey(name: string, agent: string = PRIMARY): string {
  return canonicalText([agent, name]);
}

/** Returns the name of a call. One whose arguments were changed is another call, and is judged anew. */
export function callKey({ id, name, args }: MessageToolCall, agent: string = PRIMARY, thread: unknown = null): string {
  return canonicalText([thread ?? null, agent, id ?? null, name, args]);
}

/** Judges calls, has people asked about those that ask, and keeps the answers for the tools. */
export async function askAbout(
  calls: readonly { readonly key: string; readonly call: MessageToolCall; readonly tool: SessionTool }[],
  { held, answers, put }: SessionCalls,
  interrupt: Interrupt,
): Promise<void> {
  const asked: { key: string; call: MessageToolCall; request: ApprovalRequest }[] = [];
  for (const { key, call, tool } of calls) {
    const request = answers.has(key) ? null : await held.judge(key, tool, call.args);
    if (request) asked.push({ key, call, request });
  }
  if (asked.length === 0) return;
  const decisions = answerTo(asked, put, interrupt);
  if (decisions === null) return;
  asked.forEach(({ key, call }, index) => answers.set(key, answerOf(decisions[index], call)));
}

/**
 * Puts the question, and returns one decision for each call; null where the graph cannot stop, as without a
 * checkpointer: the host's own front ends ask then.
 *
 * LangGraph hands the value of a `Command` to the first interrupt that it meets, so a value that comes before this
 * process has put the question may be the answer to another one. It counts only if it names the calls, as after a
 * restart; otherwise the question is put again.
 */
function answerTo(
  asked: readonly { readonly key: string; readonly call: MessageToolCall; readonly request: ApprovalRequest }[],
  put: Set<string>,
  interrupt: Interrupt,
): readonly unknown[] | null {
  const question = {
    actionRequests: asked.map(({ call: { id, name }, request: { arguments: args, reason } }) => ({
      id,
      name,
      args,
      description: reason,
    })),
    reviewConfigs: asked.map(({ call }) => ({ actionName: call.name, allowedDecisions: ["approve", "reject"] })),
  };
  for (let place = 0;; place++) {
    const name = canonicalText([place, ...asked.map(({ key }) => key)]);
    let answer: unknown;
    try {
      answer = interrupt(question);
    } catch (error) {
      if ((error as { readonly lc_error_code?: unknown }).lc_error_code === "MISSING_CHECKPOINTER") return null;
      put.add(name);
      throw error;
    }
    const decisions = isMap(answer) && Array.isArray(answer["decisions"]) ? answer["decisions"] : [];
    const namesAll = asked.every(({ call }, index) => call.id !== undefined && Object(decisions[index]).id === call.id);
    if (put.delete(name) || namesAll) return decisions;
  }
}

/** Everything but a clear yes for this very call is a no, or a mistake of the program that resumed the graph. */
function answerOf(decision: unknown, { id, name }: MessageToolCall): ApprovalAnswer {
  const { type, message, id: named = id } = Object(decision) as Readonly<Record<string, unknown>>;
  if (named === id && type === "approve") return { decision: "allow" };
  if (named === id && type === "reject") {
    return { decision: "deny", ...(typeof message === "string" && { reason: message }) };
  }
  throw new HostError("approval.answer_invalid", `There is no decision for the call "${id}" of "${name}"`, {
    data: { id, name, decision },
    hint: 'Resume with { decisions: [{ type: "approve" | "reject", id }] }: one for each of actionRequests, in order',
  });
}
