/**
 * Fires one hook at its participants, in the way its contract says. For kinds of one's own; the moments of an agent's
 * life go through the engine, which asks in turn by the same machine.
 *
 * @module
 */
import { checkClass, checkInput, checkOutput, jsonInput, jsonOutput } from "./boundary.ts";
import { chooseCapable, chooseOne, type Routing } from "./choose_one.ts";
import { inTurn, isPromise } from "./in_turn.ts";
import { jsonCopy } from "../../core/values/json_copy.ts";
import { inOrder } from "./order.ts";
import type { Answer, Failure, HookContract, MaybePromise, Participant } from "./types.ts";

/** A participant of a chain answers this to end the chain with the value it was given. */
export const STOP: unique symbol = Symbol("stop");

/** The outcome of a broadcast. */
export interface Collected<O> {
  /** In the order of the participants. */
  readonly answers: readonly Answer<O>[];
  /** In the order of the participants; empty unless best effort was asked for. */
  readonly failures: readonly Failure[];
}

/** The outcome of a chain of participants. */
export interface Chained<T> {
  /** The value as the last participant left it. */
  readonly value: T;
  /** Name of the participant that answered {@link STOP}, or null. */
  readonly stoppedBy: string | null;
}

/**
 * Class `singleton`: one participant answers, synchronously when it does so.
 *
 * @throws {HostError} `hook.nobody`, `hook.unknown_participant`, `hook.ambiguous`, `hook.wrong_class`,
 *   `hook.input_invalid`, `hook.output_invalid`; the participant's own error.
 */
export function dispatchSingleton<I, O>(
  hook: HookContract,
  participants: readonly Participant<I, O>[],
  input: I,
  routing: Routing<I> = {},
): MaybePromise<O> {
  checkClass(hook, "singleton");
  checkInput(hook, input);
  return ask(hook, chooseOne(hook, participants, input, routing), input);
}

/**
 * Class `capability`: the participant that has the capability answers, by priority; else the one fallback.
 *
 * @throws {HostError} `hook.no_capability`, `hook.ambiguous`; as {@link dispatchSingleton} otherwise.
 */
export function dispatchCapability<I, O>(
  hook: HookContract,
  participants: readonly Participant<I, O>[],
  input: I,
  capability: string,
): MaybePromise<O> {
  checkClass(hook, "capability");
  checkInput(hook, input);
  return ask(hook, chooseCapable(hook, participants, capability), input);
}

/**
 * Class `broadcast_collect`: every participant is asked, one after the other, and every answer is kept. The first
 * failure ends it, unless `bestEffort`.
 *
 * @throws {HostError} `hook.wrong_class`, `hook.input_invalid`, `hook.output_invalid`; a participant's own error.
 */
export function dispatchCollect<I, O>(
  hook: HookContract,
  participants: readonly Participant<I, O>[],
  input: I,
  { bestEffort = false }: { readonly bestEffort?: boolean } = {},
): MaybePromise<Collected<O>> {
  checkClass(hook, "broadcast_collect");
  checkInput(hook, input);
  const answers: Answer<O>[] = [];
  const failures: Failure[] = [];
  return inTurn(inOrder(participants), {
    wants: () => true,
    ask: ({ call }) => call(input),
    take({ name }, value) {
      checkOutput(hook, name, value);
      answers.push({ name, value });
    },
    fail({ name }, error) {
      if (!bestEffort) throw error;
      failures.push({ name, error });
    },
    result: () => ({ answers, failures }),
  });
}

/**
 * Class `broadcast_notify`: every participant is called at once, and no answer counts. Failures go to `onError` alone.
 *
 * @throws {HostError} `hook.wrong_class`, `hook.input_invalid`.
 */
export async function dispatchNotify<I>(
  hook: HookContract,
  participants: readonly Participant<I>[],
  input: I,
  onError: (failure: Failure) => void = () => {},
): Promise<void> {
  checkClass(hook, "broadcast_notify");
  checkInput(hook, input);
  await Promise.all(
    inOrder(participants).map(async ({ name, call }) => {
      try {
        await call(input);
      } catch (error) {
        try {
          onError({ name, error });
        } catch {
          // An error thrown by onError itself is dropped: the other participants are called all the same.
        }
      }
    }),
  );
}

/**
 * Class `chain`: each participant is given the answer of the one before, as if it had travelled as JSON. {@link STOP}
 * ends it with the value so far; an error ends it and is thrown to the caller.
 *
 * @throws {HostError} `hook.wrong_class`, `hook.input_invalid`, `hook.output_invalid`; a participant's own error.
 */
export function dispatchChain<T>(
  hook: HookContract,
  participants: readonly Participant<T, T | typeof STOP>[],
  input: T,
): MaybePromise<Chained<T>> {
  checkClass(hook, "chain");
  checkInput(hook, input);
  let value = jsonInput(hook, input);
  let stoppedBy: string | null = null;
  return inTurn(inOrder(participants), {
    wants: () => stoppedBy === null,
    ask: ({ call }) => call(jsonCopy(value)),
    take({ name }, output) {
      if (output === STOP) {
        stoppedBy = name;
        return;
      }
      checkOutput(hook, name, output);
      value = jsonOutput(hook, name, output);
    },
    fail(_, error) {
      throw error;
    },
    result: () => ({ value, stoppedBy }),
  });
}

/** Asks one participant, and holds its answer against the contract. */
function ask<I, O>(hook: HookContract, { name, call }: Participant<I, O>, input: I): MaybePromise<O> {
  const check = (output: O): O => {
    checkOutput(hook, name, output);
    return output;
  };
  const output = call(input);
  return isPromise(output) ? output.then(check) : check(output);
}
