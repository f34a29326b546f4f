/**
 * The names that tools and prompts go by at a client.
 *
 * @module
 */

/** `long`: every name begins with its plugin's. `short`: a server's own name where only one plugin has it. */
export type NameStyle = "long" | "short";

/** A tool or a prompt of an agent. */
export interface Named {
  /** Full name: `<plugin>.<name>`. */
  readonly name: string;
  /** `<plugin>__<name>`. */
  readonly alias: string;
  readonly plugin: string;
  /** As its MCP server listed it; absent for any other plugin's. */
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** Names that every client takes. */
const SAFE = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Returns each by the name it is listed under. A short name that two plugins have, or that is the long name of another,
 * is nobody's.
 */
export function offeredNames<T extends Named>(all: readonly T[], style: NameStyle): Map<string, T> {
  if (style === "long") return new Map(all.map((one) => [one.alias, one]));
  const taken = new Map<string, number>();
  for (const name of all.flatMap((one) => [one.alias, ownName(one)])) taken.set(name, (taken.get(name) ?? 0) + 1);
  return new Map(all.map((one) => [taken.get(ownName(one)) === 1 ? ownName(one) : one.alias, one]));
}

/** The server's own name where every client takes it, else the name that the plugin's prefix stands before. */
function ownName({ name, plugin, definition }: Named): string {
  const given = definition?.name;
  return typeof given === "string" && SAFE.test(given) ? given : name.slice(plugin.length + 1);
}
