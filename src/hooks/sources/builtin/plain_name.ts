/**
 * Names that telemetry may send: those of programs, and nothing that a person has written.
 *
 * @module
 */

/** A sentence, an address of a person or a path does not look like this. */
const NAME = /^[A-Za-z][\w.:-]{0,127}$/;

/** Whether a value looks like a name. */
export function isPlainName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value);
}
