/**
 * Reloads that failed, for whoever asks how a plugin is: it runs, and not what lies in its folder.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";

/** Remembers them. */
export class FailedReloads {
  readonly #failures = new Map<string, { readonly pid: number | null; readonly error: HostError }>();

  /** Notes why the processes that run go on. */
  note(running: readonly PluginInfo[], error: HostError): void {
    for (const { instance, pid } of running) this.#failures.set(instance, { pid, error });
  }

  /** Why the process of an instance goes on though it was to be replaced; null for one that was started since. */
  of({ instance, pid }: PluginInfo): HostError | null {
    const failure = this.#failures.get(instance);
    return failure && failure.pid === pid ? failure.error : null;
  }
}
