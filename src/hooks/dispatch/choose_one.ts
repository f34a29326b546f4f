/**
 * The participant that answers when one is to answer: by policy, by the operator's word, by priority.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { DEFAULT_PRIORITY, inOrder } from "./order.ts";
import type { HookContract, Participant } from "./types.ts";

/** Choices that stand above priorities. */
export interface Routing<I = unknown> {
  /** Names a participant for this input, or null to leave it open. Stands above everything. */
  readonly policy?: (input: I, names: readonly string[]) => string | null | undefined;
  /** A participant the operator names, as by a variable of the environment. Stands above priorities. */
  readonly override?: string | null;
}

/**
 * Returns the participant that answers: the one the policy names, else the override, else the lowest priority.
 *
 * @throws {HostError} `hook.nobody`, `hook.unknown_participant`, or `hook.ambiguous` where two stand first.
 */
export function chooseOne<I, O>(
  { name: hook }: HookContract,
  participants: readonly Participant<I, O>[],
  input: I,
  { policy, override }: Routing<I> = {},
): Participant<I, O> {
  const names = participants.map(({ name }) => name);
  const named = policy?.(input, names) ?? override ?? "";
  if (named === "") return firstOf(hook, participants);
  const found = participants.find(({ name }) => name === named);
  if (found) return found;
  throw new HostError("hook.unknown_participant", `Cannot send "${hook}" to "${named}": it takes no part`, {
    data: { hook, named, known: names },
    hint: didYouMean(named, names, names.length > 0 ? `Participants: ${names.join(", ")}` : "There is no participant"),
  });
}

/**
 * Returns the participant that has a capability, by priority; else the one fallback.
 *
 * @throws {HostError} `hook.no_capability`, `hook.ambiguous`
 */
export function chooseCapable<I, O>(
  { name: hook }: HookContract,
  participants: readonly Participant<I, O>[],
  capability: string,
): Participant<I, O> {
  const able = participants.filter(({ capabilities }) => capabilities?.includes(capability));
  if (able.length > 0) return firstOf(hook, able);
  const fallbacks = participants.filter(({ isFallback }) => isFallback);
  if (fallbacks.length === 1) return fallbacks[0]!;
  if (fallbacks.length > 1) throw ambiguous(hook, fallbacks, "are all fallbacks", "Leave one of them as the fallback");
  throw new HostError("hook.no_capability", `No participant has "${capability}" for "${hook}"`, {
    data: { hook, capability, participants: participants.map(({ name }) => name) },
    hint: "Add a plugin with that capability, or a fallback",
  });
}

/** Returns the only participant of the lowest priority. Throws `hook.nobody` or `hook.ambiguous`. */
function firstOf<I, O>(hook: string, participants: readonly Participant<I, O>[]): Participant<I, O> {
  const [first] = inOrder(participants);
  if (!first) {
    const hint = "Add a plugin that takes it";
    throw new HostError("hook.nobody", `Nobody answers "${hook}"`, { data: { hook }, hint });
  }
  const priorityOf = ({ priority = DEFAULT_PRIORITY }: Participant<I, O>): number => priority;
  const tied = participants.filter((one) => priorityOf(one) === priorityOf(first));
  if (tied.length === 1) return first;
  const hint = "Give one of them a lower priority, name it as override, or route by policy";
  throw ambiguous(hook, tied, "have one priority", hint);
}

function ambiguous(
  hook: string,
  tied: readonly { readonly name: string }[],
  problem: string,
  hint: string,
): HostError {
  const names = tied.map(({ name }) => name);
  return new HostError("hook.ambiguous", `Cannot choose who answers "${hook}": ${names.join(", ")} ${problem}`, {
    data: { hook, participants: names },
    hint,
  });
}
