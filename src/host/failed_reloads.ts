/**
 * Failed reloads and failed registrations: such a plugin does not run the files in its folder, and its state must say so.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";

/** Remembers the error of each instance until another process of it starts. */
export class FailedReloads {
  readonly #failures = new Map<string, { readonly pid: number | null; readonly error: HostError }>();
  readonly #unregistered = new Map<string, HostError>();

  /** Records why these processes were not replaced. */
  note(running: readonly PluginInfo[], error: HostError): void {
    for (const { instance, pid } of running) this.#failures.set(instance, { pid, error });
  }

  /** Records why an instance could not be registered, so that no process of it can start; null when it is. */
  noteRegistration(instance: string, error: HostError | null): void {
    if (error) this.#unregistered.set(instance, error);
    else this.#unregistered.delete(instance);
  }

  /** Returns why an instance of the project could not be registered, or null. */
  ofRegistration(instance: string): HostError | null {
    return this.#unregistered.get(instance) ?? null;
  }

  /** Returns why the process of an instance was not replaced; null once another process has started. */
  of({ instance, pid }: PluginInfo): HostError | null {
    const failure = this.#failures.get(instance);
    return failure && failure.pid === pid ? failure.error : null;
  }
}
