/**
 * `${NAME}` in the values of local.toml: filled from the host's environment when the config is loaded. Project files
 * are not filled: the author of a project must not be able to hand the operator's variables to a plugin.
 *
 * @module
 */

/** Something to fill in: `$${` stands for `${` itself. */
const REFERENCE = /\$\$\{|\$\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A variable that could not be filled in. */
export interface MissingVariable {
  readonly name: string;
  /** Keys and indexes that lead to the value that names it. */
  readonly path: readonly (string | number)[];
}

/** Returns `value` with every variable filled in, and those that are not set. */
export function fillVariables(
  value: unknown,
  env: (name: string) => string | null,
): { readonly value: unknown; readonly missing: MissingVariable[] } {
  const missing: MissingVariable[] = [];
  const fill = (part: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof part === "string") {
      return part.replace(REFERENCE, (whole, name?: string) => {
        if (name === undefined) return "${";
        const found = NAME.test(name) ? env(name) : null;
        if (found === null) missing.push({ name, path });
        return found ?? whole;
      });
    }
    if (Array.isArray(part)) return part.map((item, index) => fill(item, [...path, index]));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, fill(item, [...path, key])]));
  };
  return { value: fill(value, []), missing };
}

/** Returns the paths of texts that name a variable the way local.toml does. */
export function variablePlaces(
  value: unknown,
  path: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (typeof value === "string") return /(?<!\$)\$\{[A-Z_][A-Z0-9_]*\}/.test(value) ? [path] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    return variablePlaces(part, [...path, Array.isArray(value) ? Number(key) : key]);
  });
}
