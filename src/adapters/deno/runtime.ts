/**
 * Whether Deno runs this program, and how. `Deno` is typed by hand: its own types would reach the published declarations.
 *
 * @module
 */

/** Version of Deno, or null on another runtime. */
export function denoVersion(): string | null {
  const { Deno } = globalThis as { Deno?: { readonly version?: { readonly deno?: string } } };
  return Deno?.version?.deno ?? null;
}

/** Whether `deno compile` made this program: `process.execPath` is then no Deno. */
export function isDenoCompiled(): boolean {
  const { Deno } = globalThis as { Deno?: { readonly build?: { readonly standalone?: boolean } } };
  return Deno?.build?.standalone === true;
}
