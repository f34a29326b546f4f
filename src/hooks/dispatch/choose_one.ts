/**
 * Who answers when one is to answer: by policy, by the operator's word, by priority.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { DEFAULT_PRIORITY, inOrder } from "./order.ts";
import type { HookContract, Participant } from "./types.ts";

/** What decides before priorities do. */
export interface Routing<I = unknown> {
  /** Names a participant for this input, or null to leave it open. Stands above everything. */
  readonly policy?: (input: I, names: readonly string[]) => string | null | undefined;
  /** A participant the operator names, as by a variable of the environment. Stands above priorities. */
  readonly override?: string | null;
}

/**
 * Returns the one that answers: what the policy names, else the override, else the lowest priority.
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
  const named = policy?.(input, names) ?? override;
  if (named !== null && named !== undefined && named !== "") {
    const found = participants.find(({ name }) => name === named);
    if (found) return found;
    throw new HostError(
      "hook.unknown_participant",
      `Cannot send "${hook}" to "${named}": nobody of that name takes it`,
      {
        data: { hook, named, known: names },
        hint: didYouMean(named, names, names.length > 0 ? `Those who take it: ${names.join(", ")}` : "Nobody takes it"),
      },
    );
  }
  return firstOf(hook, participants);
}

/** Returns the only one of lowest priority. Throws `hook.nobody` or `hook.ambiguous`. */
export function firstOf<I, O>(hook: string, participants: readonly Participant<I, O>[]): Participant<I, O> {
  const [first, second] = inOrder(participants);
  if (!first) {
    throw new HostError("hook.nobody", `Nobody answers "${hook}"`, {
      data: { hook },
      hint: "Add a plugin that takes it",
    });
  }
  const priority = first.priority ?? DEFAULT_PRIORITY;
  if (!second || (second.priority ?? DEFAULT_PRIORITY) !== priority) return first;
  const tied = participants.filter((one) => (one.priority ?? DEFAULT_PRIORITY) === priority).map(({ name }) => name);
  throw new HostError("hook.ambiguous", `Cannot tell who answers "${hook}": ${tied.join(", ")} have one priority`, {
    data: { hook, priority, participants: tied },
    hint: "Give one of them a lower priority, name it as override, or route by policy",
  });
}
