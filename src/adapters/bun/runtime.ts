/**
 * Whether Bun runs this program. `Bun` is typed by hand: its own types break those of `node:` modules.
 *
 * @module
 */

/** Version of Bun, or null on another runtime. */
export function bunVersion(): string | null {
  const { Bun } = globalThis as { Bun?: { readonly version?: string } };
  return Bun?.version ?? null;
}
