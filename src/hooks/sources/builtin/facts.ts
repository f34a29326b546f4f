/**
 * Numbers that handlers of one firing tell each other, so that telemetry need not look at content.
 *
 * @module
 */

const facts = new WeakMap<object, Record<string, number>>();

/** Tells a number to the handlers that come later in the same firing. */
export function tellFact(firing: object, name: string, value: number): void {
  facts.set(firing, { ...facts.get(firing), [name]: value });
}

/** Returns what was told in this firing. */
export function factsOf(firing: object): Readonly<Record<string, number>> {
  return facts.get(firing) ?? {};
}
