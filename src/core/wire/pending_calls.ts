/**
 * Calls by their id: a ring of slots, for ids that are given one after the other. A `Map` that is filled and emptied all
 * the time is made anew every few hundred calls; the old tables point to the new ones and keep the calls of both, which
 * V8's collector of young objects then copies over and over.
 *
 * @module
 */

const FIRST_SLOTS = 16;
/** A ring this large is given back when it is empty. */
const LARGE_SLOTS = 4096;

/** Calls that wait, by id. */
export class PendingCalls<Call extends { readonly id: number }> {
  #slots: (Call | undefined)[] = [];
  #mask = -1;
  /** Calls whose slot is taken by one that has waited for a whole round. */
  readonly #others = new Map<number, Call>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: unknown): Call | undefined {
    if (typeof id !== "number") return undefined;
    const call = this.#slots[id & this.#mask];
    if (call !== undefined && call.id === id) return call;
    return this.#others.size === 0 ? undefined : this.#others.get(id);
  }

  add(call: Call): void {
    if (this.#size > this.#mask >> 1) this.#grow();
    this.#size++;
    const at = call.id & this.#mask;
    if (this.#slots[at] === undefined) this.#slots[at] = call;
    else this.#others.set(call.id, call);
  }

  /** Forgets a call that waits. */
  remove({ id }: Call): void {
    const at = id & this.#mask;
    if (this.#slots[at]?.id === id) this.#slots[at] = undefined;
    else if (!this.#others.delete(id)) return;
    if (--this.#size === 0 && this.#mask >= LARGE_SLOTS) [this.#slots, this.#mask] = [[], -1];
  }

  /** The calls that wait, the oldest first. */
  all(): Call[] {
    const calls = [...this.#slots.filter((call) => call !== undefined), ...this.#others.values()];
    return calls.sort((one, other) => one.id - other.id);
  }

  #grow(): void {
    const calls = this.all();
    const slots = Math.max(FIRST_SLOTS, 2 * (this.#mask + 1));
    this.#slots = new Array<Call | undefined>(slots).fill(undefined);
    this.#mask = slots - 1;
    this.#others.clear();
    this.#size = 0;
    for (const call of calls) this.add(call);
  }
}
