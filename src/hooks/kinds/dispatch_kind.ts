/**
 * Dispatches a hook in the way of its class.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import {
  dispatchCapability,
  dispatchChain,
  dispatchCollect,
  dispatchNotify,
  dispatchSingleton,
} from "../dispatch/dispatch.ts";
import type { Failure, HookContract, Participant } from "../dispatch/types.ts";

/** Choices of a caller; which of them counts depends on the class of the hook. */
export interface DispatchOptions {
  /** `singleton`: name of the participant that answers. Default: the one of the lowest priority. */
  readonly plugin?: string;
  /** `capability`: the ability that is wanted. */
  readonly capability?: string;
  /** `broadcast_collect`: a failure ends nothing. Default: the first one is thrown. */
  readonly bestEffort?: boolean;
  /** `broadcast_notify`: called with each failure. */
  readonly onFailure?: (failure: Failure) => void;
}

/**
 * Dispatches a hook. Resolves with the answer (`singleton`, `capability`), `{ answers, failures }` (`broadcast_collect`),
 * `{ value, stoppedBy }` (`chain`), or undefined (`broadcast_notify`). Rejects as the function of that class does.
 */
export async function dispatchHook(
  contract: HookContract,
  participants: readonly Participant[],
  input: unknown,
  { plugin, capability, bestEffort = false, onFailure }: DispatchOptions = {},
): Promise<unknown> {
  switch (contract.dispatch) {
    case "singleton":
      return await dispatchSingleton(contract, participants, input, plugin === undefined ? {} : { override: plugin });
    case "capability":
      if (capability !== undefined) return await dispatchCapability(contract, participants, input, capability);
      throw new HostError("host.misuse", `Hook "${contract.name}" is dispatched by capability, and none is named`, {
        data: { hook: contract.name },
        hint: "Pass capability",
      });
    case "broadcast_collect":
      return await dispatchCollect(contract, participants, input, { bestEffort });
    case "broadcast_notify":
      return await dispatchNotify(contract, participants, input, onFailure);
    case "chain":
      return await dispatchChain(contract, participants, input);
  }
}
