/**
 * Runs the reloads of a plugin one after the other. A request that comes while a reload waits for its turn joins it: that
 * reload has not read the files yet.
 *
 * @module
 */

/** One reload. It calls `begin` before it reads the files, and resolves `gone` when the old processes have ended. */
export type Swap = (begin: () => void) => Promise<{ readonly gone: Promise<unknown> }>;

/** Queues reloads by plugin. */
export class ReloadQueue {
  readonly #waiting = new Map<string, Promise<void>>();
  /** Old processes that still finish their calls. The next reload waits for them, or they would pile up. */
  readonly #leaving = new Map<string, Promise<unknown>>();

  /** Runs `swap` when it is the plugin's turn, or joins one that waits; resolves when the new processes serve. */
  reload(plugin: string, swap: Swap): Promise<void> {
    const joined = this.#waiting.get(plugin);
    if (joined) return joined;
    const reload = this.#run(plugin, swap);
    this.#waiting.set(plugin, reload);
    return reload;
  }

  async #run(plugin: string, swap: Swap): Promise<void> {
    await this.#leaving.get(plugin);
    const { gone } = await swap(() => this.#waiting.delete(plugin));
    const left: Promise<void> = gone.then(() => {
      if (this.#leaving.get(plugin) === left) this.#leaving.delete(plugin);
    });
    this.#leaving.set(plugin, left);
  }
}
