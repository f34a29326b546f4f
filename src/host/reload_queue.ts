/**
 * Reloads of one plugin, one after the other. Whoever asks while one waits for its turn joins that one: it will read the
 * files as they are by then.
 *
 * @module
 */

/** The work of one reload. */
export type Swap = (begin: () => void) => Promise<{ readonly gone: Promise<unknown> }>;

/** Lets reloads in. */
export class ReloadQueue {
  readonly #waiting = new Map<string, Promise<void>>();
  /** Processes that still finish their calls: the next reload waits for them, or they would pile up. */
  readonly #leaving = new Map<string, Promise<unknown>>();

  /**
   * Runs `swap` when it is the plugin's turn; resolves when that has swapped. It says when it begins to read the files,
   * and when the processes it took over from are gone.
   */
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
