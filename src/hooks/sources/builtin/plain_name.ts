/**
 * What may leave as a name: what a program is called, and nothing a person has written.
 *
 * @module
 */

/** A sentence, an address of a person or a path does not look like this. */
const NAME = /^[A-Za-z][\w.:-]{0,127}$/;

/** Whether a value looks like a name. */
export function isPlainName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value);
}
