/**
 * Resources that a client watches.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";

/** Most resources that one client watches at once. */
export const MAX_WATCHED: number = 1_000;

/** Begins to watch a resource; resolves with the function that ends it. */
type Begin = (uri: string, onChange: () => void) => Promise<() => Promise<void>>;

/** The resources that one client watches, each once however often the client asks. */
export class WatchedResources {
  readonly #begin: Begin;
  readonly #onChange: (uri: string) => void;
  readonly #watched = new Map<string, { count: number; readonly end: Promise<() => Promise<void>> }>();

  /** Watches nothing yet; `onChange` is called with the URI of each resource that changed. */
  constructor(begin: Begin, onChange: (uri: string) => void) {
    this.#begin = begin;
    this.#onChange = onChange;
  }

  /** Watches a resource once more. Rejects as the server does. */
  async add(uri: string): Promise<void> {
    const known = this.#watched.get(uri);
    if (known) {
      known.count++;
      await known.end;
      return;
    }
    if (this.#watched.size >= MAX_WATCHED) {
      throw new HostError("mcp.params_invalid", `A client watches at most ${MAX_WATCHED} resources`, {
        hint: "Unsubscribe from some first",
      });
    }
    const end = this.#begin(uri, () => this.#onChange(uri));
    this.#watched.set(uri, { count: 1, end });
    try {
      await end;
    } catch (error) {
      this.#watched.delete(uri);
      throw error;
    }
  }

  /** Watches a resource once less. */
  async remove(uri: string): Promise<void> {
    const known = this.#watched.get(uri);
    if (!known || --known.count > 0) return;
    this.#watched.delete(uri);
    const end = await known.end.catch(() => null);
    await end?.();
  }

  /** Watches nothing more. */
  async clear(): Promise<void> {
    const ends = [...this.#watched.values()].map(({ end }) => end);
    this.#watched.clear();
    await Promise.allSettled(ends.map(async (end) => await (await end)()));
  }
}
