/**
 * The request of a client that work is done for, as long as the client waits for its answer.
 *
 * @module
 */
import type { AsyncStorage } from "../ports/ports.ts";

/** Who asked, and the id under which all that follows is audited. */
export interface Caller {
  readonly requestId: string;
  /** The operator that a trusted proxy named; null when none did. */
  readonly operatorId: string | null;
}

/** Follows callers through the work that is done for them. */
export class Callers {
  readonly #storage: AsyncStorage | undefined;

  /** Without a storage nobody is ever known to have asked. */
  constructor(storage: AsyncStorage | undefined) {
    this.#storage = storage;
  }

  /** Does work for a caller. What the work leaves running, such as a plugin's process, is no longer done for it. */
  async serve<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    if (!this.#storage) return await work();
    const served = { caller: caller as Caller | null };
    try {
      return await this.#storage.run(served, work);
    } finally {
      served.caller = null;
    }
  }

  /** The caller that this work is done for, or null. */
  get current(): Caller | null {
    return (this.#storage?.getStore() as { caller: Caller | null } | undefined)?.caller ?? null;
  }
}
