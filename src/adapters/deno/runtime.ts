/**
 * Whether Deno runs this program. `Deno` is typed by hand: its own types would reach the published declarations.
 *
 * @module
 */

/** Version of Deno, or null on another runtime. */
export function denoVersion(): string | null {
  const { Deno } = globalThis as { Deno?: { readonly version?: { readonly deno?: string } } };
  return Deno?.version?.deno ?? null;
}
