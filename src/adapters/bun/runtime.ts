/**
 * The few members of `Bun` that are used, typed by hand: Bun's own types break those of `node:` modules.
 *
 * @module
 */

/** Version of Bun, or null on another runtime. */
export function bunVersion(): string | null {
  const { Bun } = globalThis as { Bun?: { readonly version?: string } };
  return Bun?.version ?? null;
}
