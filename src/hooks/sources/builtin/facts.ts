/**
 * Numbers that handlers of one firing share, so that telemetry need not look at content.
 *
 * @module
 */

const facts = new WeakMap<object, Record<string, number>>();

/** Shares a number with the handlers that come later in the same firing. */
export function shareFact(firing: object, name: string, value: number): void {
  facts.set(firing, { ...facts.get(firing), [name]: value });
}

/** Returns the numbers that were shared in this firing. */
export function factsOf(firing: object): Readonly<Record<string, number>> {
  return facts.get(firing) ?? {};
}
