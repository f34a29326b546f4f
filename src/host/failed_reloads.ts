/**
 * Failed reloads: such a plugin runs, but not the files in its folder, and its state must say so.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";

/** Remembers the error of each instance until another process of it starts. */
export class FailedReloads {
  readonly #failures = new Map<string, { readonly pid: number | null; readonly error: HostError }>();

  /** Records why these processes were not replaced. */
  note(running: readonly PluginInfo[], error: HostError): void {
    for (const { instance, pid } of running) this.#failures.set(instance, { pid, error });
  }

  /** Returns why the process of an instance was not replaced; null once another process has started. */
  of({ instance, pid }: PluginInfo): HostError | null {
    const failure = this.#failures.get(instance);
    return failure && failure.pid === pid ? failure.error : null;
  }
}
