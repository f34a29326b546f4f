/**
 * Fires one hook at those who take part, in the way its contract says.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { checkInput, checkOutput, jsonInput, jsonOutput } from "./boundary.ts";
import { chooseOne, firstOf, type Routing } from "./choose_one.ts";
import { inTurn, isPromise } from "./in_turn.ts";
import { jsonCopy } from "./json_copy.ts";
import { inOrder } from "./order.ts";
import type { Answer, Failure, HookContract, MaybePromise, Participant } from "./types.ts";

/** A participant of a chain answers it to end the chain with what it was given. */
export const STOP: unique symbol = Symbol("stop");

/** What came of a broadcast. */
export interface Collected<O> {
  /** Answers, in order. */
  readonly answers: readonly Answer<O>[];
  /** Those who failed, in order; empty unless best effort was asked for. */
  readonly failures: readonly Failure[];
}

/** What came of a chain. */
export interface Chained<T> {
  /** What the last one left. */
  readonly value: T;
  /** Who ended it before its end, or null. */
  readonly stoppedBy: string | null;
}

/**
 * Class `singleton`: one answers. Synchronous when that one is.
 *
 * @throws {HostError} see {@link chooseOne}; `hook.input_invalid`; `hook.output_invalid`; what the one throws.
 */
export function dispatchSingleton<I, O>(
  hook: HookContract,
  participants: readonly Participant<I, O>[],
  input: I,
  routing: Routing<I> = {},
): MaybePromise<O> {
  checkInput(hook, input);
  return ask(hook, chooseOne(hook, participants, input, routing), input);
}

/**
 * Class `capability`: the one that has the capability answers, by priority; else the one fallback.
 *
 * @throws {HostError} `hook.no_capability`, `hook.ambiguous`; as {@link dispatchSingleton} otherwise.
 */
export function dispatchCapability<I, O>(
  hook: HookContract,
  participants: readonly Participant<I, O>[],
  input: I,
  capability: string,
): MaybePromise<O> {
  checkInput(hook, input);
  const able = participants.filter(({ capabilities }) => capabilities?.includes(capability));
  if (able.length > 0) return ask(hook, firstOf(hook.name, able), input);
  const [fallback, second] = participants.filter(({ isFallback }) => isFallback);
  if (second) {
    const names = participants.filter(({ isFallback }) => isFallback).map(({ name }) => name);
    throw new HostError("hook.ambiguous", `"${hook.name}" has more than one fallback: ${names.join(", ")}`, {
      data: { hook: hook.name, participants: names },
      hint: "Leave one of them as the fallback",
    });
  }
  if (fallback) return ask(hook, fallback, input);
  throw new HostError("hook.no_capability", `Nobody can do "${capability}" for "${hook.name}"`, {
    data: { hook: hook.name, capability, participants: participants.map(({ name }) => name) },
    hint: "Add a plugin with that capability, or a fallback",
  });
}

/**
 * Class `broadcast_collect`: everybody is asked, one after the other, and every answer is kept. The first failure ends
 * it, unless `bestEffort`.
 *
 * @throws {HostError} `hook.input_invalid`, `hook.output_invalid`; what a participant throws.
 */
export function dispatchCollect<I, O>(
  hook: HookContract,
  participants: readonly Participant<I, O>[],
  input: I,
  { bestEffort = false }: { readonly bestEffort?: boolean } = {},
): MaybePromise<Collected<O>> {
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
 * Class `broadcast_notify`: everybody is told at once, nobody's answer counts. Failures go to `onError` and nowhere else.
 *
 * @throws {HostError} `hook.input_invalid`.
 */
export async function dispatchNotify<I>(
  hook: HookContract,
  participants: readonly Participant<I>[],
  input: I,
  onError: (failure: Failure) => void = () => {},
): Promise<void> {
  checkInput(hook, input);
  await Promise.all(
    inOrder(participants).map(async ({ name, call }) => {
      try {
        await call(input);
      } catch (error) {
        try {
          onError({ name, error });
        } catch {
          // Whoever hears of failures and fails has nobody left to tell: the others are told all the same.
        }
      }
    }),
  );
}

/**
 * Class `chain`: what one leaves is what the next is given, as if it had travelled as JSON. {@link STOP} or a throw ends
 * it: the first keeps what there was, the second is the caller's to handle.
 *
 * @throws {HostError} `hook.input_invalid`, `hook.output_invalid`; what a participant throws.
 */
export function dispatchChain<T>(
  hook: HookContract,
  participants: readonly Participant<T, T | typeof STOP>[],
  input: T,
): MaybePromise<Chained<T>> {
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

/** Asks one, and holds its answer against the contract. */
function ask<I, O>(hook: HookContract, { name, call }: Participant<I, O>, input: I): MaybePromise<O> {
  const check = (output: O): O => {
    checkOutput(hook, name, output);
    return output;
  };
  const output = call(input);
  return isPromise(output) ? output.then(check) : check(output);
}
