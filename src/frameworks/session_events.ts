/**
 * Events of a session that only a framework's own hooks can see: calls of a model, and work that one agent hands to
 * another.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import { tokensIn } from "../events/tokens_in.ts";
import { findHost } from "../host/session_host.ts";
import type { Session } from "../host/types.ts";

/** A call of a model under way: emits `model:call` when the model has answered. One that fails is not reported. */
export type ModelAnswered = (model: string, usage: unknown) => void;

/** Begins to time a call of a model. */
export function modelCall(session: Session, agentName: string = PRIMARY): ModelAnswered {
  const startedMs = performance.now();
  return (model, usage) => {
    const duration = performance.now() - startedMs;
    findHost(session)?.emit("model:call", {
      agentName,
      model,
      ...tokensIn(usage),
      duration,
      conversationId: session.id,
    });
  };
}

/** Work for another agent under way: emits `delegate:end` with the output, empty when the other agent failed. */
export type DelegateEnded = (output: string) => void;

/** Emits `delegate:start`. */
export function delegation(
  session: Session,
  { parent: parentAgent, child: childAgent, input }: {
    readonly parent: string;
    readonly child: string;
    readonly input: string;
  },
): DelegateEnded {
  const startedMs = performance.now();
  const at = { parentAgent, childAgent, conversationId: session.id };
  findHost(session)?.emit("delegate:start", { ...at, input });
  return (output) => {
    findHost(session)?.emit("delegate:end", { ...at, output, duration: performance.now() - startedMs });
  };
}

/** Returns the name of a model of any framework, or `unknown`. */
export function modelName(...named: readonly unknown[]): string {
  return named.find((name): name is string => typeof name === "string" && name !== "") ?? "unknown";
}
